import ByteSources
import RandomAccess
import Support

/// The pieces of a media playlist: each segment, and before it its initialization section if that differs from the one
/// before.
struct PlaylistPieces: PieceList {
    private let playlist: MediaPlaylist
    private let resources: any SegmentResources
    private let keys: KeyRing
    private let pieces: [(segment: Int, isInitialization: Bool)]
    /// The piece number of each segment.
    let segmentPieces: [Int]
    /// The URIs of resources as written, each once: a byte-range playlist has one for all its segments.
    private let uris: [String]
    private let numbers: [String: Int]

    init(_ playlist: MediaPlaylist, _ resources: any SegmentResources, _ keys: KeyRing) {
        (self.playlist, self.resources, self.keys) = (playlist, resources, keys)
        var (pieces, segmentPieces): ([(segment: Int, isInitialization: Bool)], [Int]) = ([], [])
        var sectionBefore: InitializationSection?
        for (index, segment) in playlist.segments.enumerated() {
            if let number = segment.initializationSection {
                let section = playlist.initializationSections[number]
                if sectionBefore.map({ !section.isSameResource(as: $0) }) ?? true { pieces.append((index, true)) }
                sectionBefore = section
            }
            segmentPieces.append(pieces.count)
            pieces.append((index, false))
        }
        (self.pieces, self.segmentPieces) = (pieces, segmentPieces)
        var (uris, numbers): ([String], [String: Int]) = ([], [:])
        for uri in playlist.initializationSections.map(\.uri) + playlist.segments.map(\.uri) where numbers[uri] == nil {
            numbers[uri] = uris.count
            uris.append(uri)
        }
        (self.uris, self.numbers) = (uris, numbers)
    }

    var count: Int { pieces.count }

    var sourceCount: Int { uris.count }

    func openSource(_ source: Int) throws(DecryptionError) -> any ByteSource {
        PinnedSource(try resources.source(for: uris[source]))
    }

    func source(of piece: Int) throws(DecryptionError) -> Int {
        let segment = playlist.segments[pieces[piece].segment]
        if let problem = section(of: piece).map(\.problem) ?? segment.problem { throw problem.decryptionError }
        return numbers[part(piece).uri] ?? 0
    }

    func place(of piece: Int, in source: any ByteSource) throws(DecryptionError) -> PiecePlace {
        try part(piece).place(in: source)
    }

    func keys(of piece: Int) throws(DecryptionError) -> KeySet? {
        try keyURI(of: piece).map { (uri) throws(DecryptionError) in .one(try keys.key(for: uri)) }
    }

    func name(of piece: Int) -> String {
        if let section = section(of: piece) {
            return "initialization section (line \(section.line), \(URIReference(section.uri).redacted))"
        }
        let number = pieces[piece].segment
        let segment = playlist.segments[number]
        return "segment \(number + 1) (line \(segment.line), \(URIReference(segment.uri).redacted))"
    }

    func explain(_ error: DecryptionError, of piece: Int) -> DecryptionError { part(piece).explain(error) }

    /// Opens several pieces at once, while one thread requests the keys in the playlist's order.
    func map<Result: Sendable>(_ transform: @escaping @Sendable (Int) -> Result) -> [Result] {
        let results = Parallel.map(
            [nil] + pieces.indices.map(Optional.some), threadCount: resources.openingsAtOnce
        ) { piece -> Result? in
            if let piece { return transform(piece) }
            for uri in playlist.keyURIs { _ = try? keys.key(for: uri) }
            return nil
        }
        return results.compactMap(\.self)
    }

    var starter: (@Sendable (@escaping @Sendable () -> Void) -> Void)? {
        guard resources.openingsAtOnce != nil else { return nil }
        return { work in WaitingThread.start(work) }
    }

    /// Returns the URI of the key of a piece.
    func keyURI(of piece: Int) -> String? { part(piece).encryption.keyURI }

    private func section(of piece: Int) -> InitializationSection? {
        let (segment, isInitialization) = pieces[piece]
        guard isInitialization else { return nil }
        return playlist.segments[segment].initializationSection.map { playlist.initializationSections[$0] }
    }

    private func part(_ piece: Int) -> SegmentPart {
        section(of: piece).map { SegmentPart($0) } ?? SegmentPart(playlist.segments[pieces[piece].segment])
    }
}
