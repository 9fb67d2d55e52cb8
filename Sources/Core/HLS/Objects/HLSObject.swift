import ByteSources
public import RandomAccess

/// The segments of a media playlist as one plaintext that can be read from the middle: the strategy `hls-aes128`.
///
/// The plaintext is, for each segment in order, its initialization section if that differs from the one before it, then
/// the segment (PROTOCOL.md, "open"). Opening looks at every segment, for where the next one's plaintext starts is
/// known only when this one's padding is. All else is what the pieces of any list have: see `CompositeObject`.
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
    ///   - resources: Where segments come from.
    ///   - keys: Where keys come from.
    ///   - backend: The library that decrypts.
    ///   - leavesOutBroken: Whether what cannot be read has no place in the plaintext; see `CompositeObject.init`.
    /// - Throws: `DecryptionError.unsupported` if the backend has no AES-128 in CBC mode. What is wrong with single
    ///   segments is not thrown: see ``problems`` and ``requireAll()``.
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

    /// The plaintext's length in bytes, what cannot be read included.
    public var plaintextByteCount: UInt64 { pieces.plaintextByteCount }

    /// Where a segment lies in the plaintext, its initialization section not counted.
    public func plaintextRange(ofSegment index: Int) -> Range<UInt64> {
        pieces.plaintextRange(ofPiece: list.segmentPieces[index])
    }

    /// The parts that cannot be read, and why; see `CompositeObject.problems`.
    public var problems: [(range: Range<UInt64>, error: DecryptionError)] { pieces.problems }

    /// Makes sure that all of the plaintext can be read; see `CompositeObject.requireAll()`.
    public func requireAll() throws(DecryptionError) { try pieces.requireAll() }

    /// Makes a reader for one thread; see `CompositeObject.makeCursor(windowByteCount:permit:)`.
    public func makeCursor(
        windowByteCount: Int = .max, permit: CompositeCursor.Permission? = nil
    ) throws(DecryptionError) -> CompositeCursor {
        try pieces.makeCursor(windowByteCount: windowByteCount, permit: permit)
    }

    /// The URI of the key that a piece is encrypted with.
    package func keyURI(ofPiece index: Int) -> String? { list.keyURI(of: index) }

    /// The URIs of the keys that a range of the plaintext is encrypted with, each once, in order.
    ///
    /// - Parameter range: Plaintext offsets; what lies past the end has no key.
    /// - Returns: The URIs as the playlist has them.
    public func keyURIs(in range: Range<UInt64>) -> [String] {
        var uris: [String] = []
        for index in pieces.pieceIndex(at: range.lowerBound)..<list.count {
            guard pieces.plaintextRange(ofPiece: index).lowerBound < range.upperBound else { break }
            if let uri = list.keyURI(of: index), !uris.contains(uri) { uris.append(uri) }
        }
        return uris
    }
}
