internal import ByteSources
internal import RandomAccess
import Support

/// Opens the parts of an object, several at once, and lays them out.
struct PartOpening: Sendable {
    let table: ResourceTable
    let pool: ResourcePool
    let keys: KeyRing
    let backend: any CipherBackend
    let leavesOutBroken: Bool

    /// A part as the playlist has it.
    private struct Description: Sendable {
        var segment: Int
        var part: SegmentPart
        var problem: PlaylistProblem?
    }

    /// How a part is read, and the length of its plaintext in bytes.
    private typealias Opened = (content: HLSPart.Content, byteCount: UInt64)

    /// All parts of the plaintext, in order.
    func parts(of playlist: MediaPlaylist) -> [HLSPart] {
        let descriptions = Self.descriptions(playlist)
        // One thread asks for the keys, in the playlist's order, while the others open the first resources.
        let opened = Parallel.map([nil] + descriptions, threadCount: pool.openingsAtOnce) { description -> Opened? in
            if let description { return open(description) }
            for uri in playlist.keyURIs { _ = try? keys.key(for: uri) }
            return nil
        }
        var position: UInt64 = 0
        return zip(descriptions, opened.compactMap { $0 }).map { description, opened in
            let (content, byteCount) = opened
            // Files of 2⁶⁴ bytes together do not exist; what claims to be is cut there, and not readable.
            let (end, overflow) = position.addingReportingOverflow(byteCount)
            defer { position = overflow ? .max : end }
            return HLSPart(
                plaintext: position..<(overflow ? .max : end), segment: description.segment,
                isInitialization: description.part.isInitialization, content: overflow ? .broken(Self.tooLong) : content
            )
        }
    }

    /// Each segment, and before it its initialization section if that is another one than before.
    private static func descriptions(_ playlist: MediaPlaylist) -> [Description] {
        var descriptions: [Description] = []
        descriptions.reserveCapacity(playlist.segments.count)
        var sectionBefore: InitializationSection?
        for (index, segment) in playlist.segments.enumerated() {
            if let number = segment.initializationSection {
                let section = playlist.initializationSections[number]
                if sectionBefore.map({ !section.isSameResource(as: $0) }) ?? true {
                    descriptions.append(
                        Description(segment: index, part: SegmentPart(section), problem: section.problem))
                }
                sectionBefore = section
            }
            descriptions.append(Description(segment: index, part: SegmentPart(segment), problem: segment.problem))
        }
        return descriptions
    }

    private static let tooLong = DecryptionError.truncatedCiphertext(
        byteCount: .max, expected: "less than 2^64 bytes in all segments together")

    /// Opens a part as far as it goes.
    private func open(_ description: Description) -> Opened {
        var known: UInt64 = 0
        do throws(DecryptionError) {
            if let problem = description.problem { throw problem.decryptionError }
            let part = description.part
            let resource = table.index(of: part.uri)
            let source = Result { () throws(DecryptionError) in
                let source = try pool.source(resource)
                return try SlicedSource(source, part.byteRange ?? 0..<source.byteCount)
            }
            // A missing key says more than a missing resource; without it, the length is known all the same.
            if case .success(let slice) = source { known = slice.byteCount }
            let key = try part.encryption.keyURI.map { (uri) throws(DecryptionError) in try keys.key(for: uri) }
            let slice = try source.get()
            guard case .aes128(_, let iv, _) = part.encryption, let key else {
                return (.plain(resource: resource, range: slice.range), slice.byteCount)
            }
            let ciphertext = try SegmentCiphertext(in: slice.base, part, iv: iv, backend: backend, key: key)
            return (.aes128(resource: resource, ciphertext, key: key), ciphertext.plaintextByteCount)
        } catch {
            return (.broken(error), leavesOutBroken ? 0 : max(1, known == 0 ? 1 : known - 1))
        }
    }
}
