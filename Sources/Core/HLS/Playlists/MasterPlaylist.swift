/// A list of playlists of the same content.
///
/// - Source: RFC 8216, section 4.3.4.
public struct MasterPlaylist: Hashable, Sendable {
    /// One of the media playlists that a player chooses from. Source: RFC 8216, section 4.3.4.2.
    public struct Variant: Hashable, Sendable {
        /// The line of the URI, or of the tag if the URI is an attribute.
        public let line: Int
        /// The media playlist's URI as written.
        public let uri: String
        /// BANDWIDTH in bits per second; `nil` if it cannot be read.
        public let bandwidth: UInt64?
        /// The other attributes by name, without quotation marks.
        public let attributes: [String: String]
        /// True if it has only I-frames, for seeking. Source: RFC 8216, section 4.3.4.3.
        public let isIFramesOnly: Bool
    }

    /// A rendition that accompanies variants, such as another language. Source: RFC 8216, section 4.3.4.1.
    public struct Rendition: Hashable, Sendable {
        /// The line of the tag.
        public let line: Int
        /// TYPE.
        public let type: String
        /// GROUP-ID.
        public let groupID: String
        /// NAME.
        public let name: String
        /// The media playlist's URI as written; `nil` if the variant contains the rendition.
        public let uri: String?
        /// All attributes by name, without quotation marks.
        public let attributes: [String: String]
    }

    /// EXT-X-VERSION; 1 by default.
    public let version: UInt64
    /// The variants, in order.
    public let variants: [Variant]
    /// The renditions, in order.
    public let renditions: [Rendition]
    /// All problems found.
    public let problems: [PlaylistProblem]
}

/// The user's choice of a variant.
public enum VariantChoice: Hashable, Sendable {
    /// No variant: a master playlist is an error, as in the subject protocol.
    case mediaOnly
    /// The variant with the highest BANDWIDTH, the first of several; variants with I-frames only do not count.
    case highestBandwidth
    /// The variant with an index in the playlist, from 0.
    case index(Int)
}

extension MasterPlaylist {
    /// Returns the chosen variant.
    ///
    /// - Throws: `PlaylistProblem` if it does not exist.
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

    /// Returns a text about the parts of a variant in other playlists, usually its sound.
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
