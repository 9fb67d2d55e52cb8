/// A list of playlists of the same content.
///
/// - Source: RFC 8216, section 4.3.4.
public struct MasterPlaylist: Hashable, Sendable {
    /// A media playlist among which a player chooses. Source: RFC 8216, section 4.3.4.2.
    public struct Variant: Hashable, Sendable {
        /// The line of the URI, or of the tag where the URI is an attribute.
        public let line: Int
        /// The media playlist's URI as written.
        public let uri: String
        /// BANDWIDTH in bits per second; `nil` if it cannot be read.
        public let bandwidth: UInt64?
        /// The other attributes by name, without quotation marks.
        public let attributes: [String: String]
        /// Whether it only has frames to seek by. Source: RFC 8216, section 4.3.4.3.
        public let isIFramesOnly: Bool
    }

    /// A rendition that goes with variants, such as another language. Source: RFC 8216, section 4.3.4.1.
    public struct Rendition: Hashable, Sendable {
        /// The line of the tag.
        public let line: Int
        /// TYPE.
        public let type: String
        /// GROUP-ID.
        public let groupID: String
        /// NAME.
        public let name: String
        /// The media playlist's URI as written; `nil` where the variant has the rendition in it.
        public let uri: String?
        /// All attributes by name, without quotation marks.
        public let attributes: [String: String]
    }

    /// EXT-X-VERSION, 1 where there is none.
    public let version: UInt64
    /// The variants, in order.
    public let variants: [Variant]
    /// The renditions, in order.
    public let renditions: [Rendition]
    /// All that is wrong.
    public let problems: [PlaylistProblem]
}

/// Which variant of a master playlist is meant.
public enum VariantChoice: Hashable, Sendable {
    /// None: a master playlist is an error, as the subject protocol has it.
    case mediaOnly
    /// The one with the highest BANDWIDTH, the first of several; variants of I-frames only do not count.
    case highestBandwidth
    /// One by its index in the playlist, from 0.
    case index(Int)
}

extension MasterPlaylist {
    /// The variant that is meant.
    ///
    /// - Throws: `PlaylistProblem` if there is none.
    public func variant(_ choice: VariantChoice) throws(PlaylistProblem) -> Variant {
        switch choice {
        case .mediaOnly:
            throw PlaylistProblem(
                line: variants.first?.line ?? 1, kind: .masterPlaylist, found: "a master playlist",
                expected: "a media playlist, such as one of its \(variants.count) variants")
        case .highestBandwidth:
            var best: Variant?
            for variant in variants where !variant.isIFramesOnly {
                if (variant.bandwidth ?? 0) > (best?.bandwidth ?? 0) || best == nil { best = variant }
            }
            if let best { return best }
        case .index(let index):
            if variants.indices.contains(index) { return variants[index] }
            throw missingVariant(expected: "variant \(index), counted from 0")
        }
        throw missingVariant(expected: "one that can be played")
    }

    /// What belongs to a variant and lies in playlists of its own, in words: its sound as a rule.
    ///
    /// - Source: RFC 8216, sections 4.3.4.1 and 4.3.4.2 (AUDIO, VIDEO).
    func notes(_ choice: VariantChoice) -> [String] {
        guard let variant = try? variant(choice) else { return [] }
        return ["AUDIO", "VIDEO"].compactMap { type in
            guard let group = variant.attributes[type] else { return nil }
            let uris = renditions.filter { $0.type == type && $0.groupID == group }.compactMap(\.uri)
            guard !uris.isEmpty else { return nil }
            let shown = uris.prefix(3).map { URIReference($0).redacted }.joined(separator: ", ")
            let more = uris.count > 3 ? " and \(uris.count - 3) more" : ""
            return
                "the \(type == "AUDIO" ? "sound" : "picture") is in \(shown)\(more), which is not part of the output: "
                + "decrypt that playlist as well"
        }
    }

    private func missingVariant(expected: String) -> PlaylistProblem {
        PlaylistProblem(
            line: 1, kind: .noSuchVariant, found: "a master playlist with \(variants.count) variants",
            expected: expected)
    }
}
