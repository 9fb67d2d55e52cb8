import ByteSources
public import RandomAccess

/// The segments of a media playlist as one plaintext with random access: the strategy `hls-aes128`.
///
/// The plaintext has, for each segment in order, its initialization section if that differs from the one before it,
/// then the segment (PROTOCOL.md, "open"). Opening looks at every segment, because the start of the next one's
/// plaintext depends on this one's padding. For everything else see `CompositeObject`.
public struct HLSObject: Sendable {
    /// The playlist.
    public let playlist: MediaPlaylist

    /// The initialization sections and segments, one behind the other.
    package let pieces: CompositeObject
    private let list: PlaylistPieces

    /// Opens the segments of a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - resources: The source of the segments.
    ///   - keys: The source of the keys.
    ///   - backend: The library that decrypts.
    ///   - leavesOutBroken: True to leave unreadable pieces out of the plaintext; see `CompositeObject.init`.
    /// - Throws: `DecryptionError.unsupported` if the backend has no AES-128 in CBC mode. Faults of single segments are
    ///   not thrown: see ``problems`` and ``requireAll()``.
    public init(
        playlist: MediaPlaylist, resources: any SegmentResources, keys: KeyRing, backend: any CipherBackend,
        leavesOutBroken: Bool = false
    ) throws(DecryptionError) {
        guard backend.supports(.aesCBC, keyByteCount: 16) else {
            throw .unsupported("hls-aes128 with the backend \(backend.name): expected one that has AES-128 in CBC mode")
        }
        keys.expect(playlist.keyURIs)
        self.playlist = playlist
        list = PlaylistPieces(playlist, resources, keys)
        pieces = CompositeObject(list, backend: backend, leavesOutBroken: leavesOutBroken)
    }

    /// The plaintext's length in bytes, unreadable pieces included.
    public var plaintextByteCount: UInt64 { pieces.plaintextByteCount }

    /// Returns a segment's range in the plaintext, without its initialization section.
    public func plaintextRange(ofSegment index: Int) -> Range<UInt64> {
        pieces.plaintextRange(ofPiece: list.segmentPieces[index])
    }

    /// The parts that cannot be read, with their errors; see `CompositeObject.problems`.
    public var problems: [(range: Range<UInt64>, error: DecryptionError)] { pieces.problems }

    /// Makes sure that all of the plaintext can be read; see `CompositeObject.requireAll()`.
    public func requireAll() throws(DecryptionError) { try pieces.requireAll() }

    /// Returns a reader for one thread; see `CompositeObject.makeCursor(windowByteCount:permit:)`.
    public func makeCursor(
        windowByteCount: Int = .max, permit: CompositeCursor.Permission? = nil
    ) throws(DecryptionError) -> CompositeCursor {
        try pieces.makeCursor(windowByteCount: windowByteCount, permit: permit)
    }

    /// Returns the URI of the key of a piece.
    package func keyURI(ofPiece index: Int) -> String? { list.keyURI(of: index) }

    /// Returns the URIs of the keys of a range of the plaintext, each once, in order.
    ///
    /// - Parameter range: Plaintext offsets; bytes past the end have no key.
    /// - Returns: The URIs as in the playlist.
    public func keyURIs(in range: Range<UInt64>) -> [String] {
        var uris: [String] = []
        for index in pieces.pieceIndex(at: range.lowerBound)..<list.count {
            guard pieces.plaintextRange(ofPiece: index).lowerBound < range.upperBound else { break }
            if let uri = list.keyURI(of: index), !uris.contains(uri) { uris.append(uri) }
        }
        return uris
    }
}
