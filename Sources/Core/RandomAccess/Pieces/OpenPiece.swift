/// An open piece of a source: plain bytes, a ciphertext, a part of its plaintext, or a film.
public struct OpenPiece: Sendable {
    private enum Content {
        case plain(any ByteSource)
        case encrypted(EncryptedObject)
        case film(any ByteSource, ProtectedExtents, any CipherBackend, [SecretKey])
    }

    private let content: Content
    /// The piece's range in the plaintext of the whole ciphertext.
    private let plaintext: Range<UInt64>

    /// The length of the plaintext of the whole ciphertext in bytes.
    let objectByteCount: UInt64

    /// The length of the piece's plaintext in bytes.
    public var byteCount: UInt64 { plaintext.upperBound - plaintext.lowerBound }

    /// The max number of bytes that a cursor keeps between reads.
    var cursorByteCount: UInt64 {
        if case .encrypted(let object) = content { object.cursorByteCount } else { 0 }
    }

    /// Opens a piece.
    ///
    /// - Parameters:
    ///   - place: Its place in the source.
    ///   - source: The source.
    ///   - backend: The library that decrypts.
    ///   - keys: The key of an encrypted piece, or those of a film.
    /// - Throws: See `EncryptedObject.init`; `.truncatedCiphertext` if the source ends earlier.
    public init(
        _ place: PiecePlace, of source: any ByteSource, backend: any CipherBackend, keys: KeySet?
    ) throws(DecryptionError) {
        try self.init(place, of: source, backend: backend, keys: keys, objectByteCount: nil)
    }

    /// Opens a piece, possibly again: if the length of the whole plaintext is known, the end is not read.
    init(
        _ place: PiecePlace, of source: any ByteSource, backend: any CipherBackend, keys: KeySet?,
        objectByteCount: UInt64?
    ) throws(DecryptionError) {
        let slice = try SlicedSource(source, place.range)
        func required(for name: String) throws(DecryptionError) -> KeySet {
            guard let keys else { throw .invalidKeyMaterial(byteCount: 0, expected: "a key, for \(name)") }
            return keys
        }
        if let strategy = place.strategy {
            let key = try required(for: strategy.name).single(for: strategy.name)
            let object = try EncryptedObject(
                source: slice, strategy: strategy, backend: backend, key: key, knownByteCount: objectByteCount)
            (content, self.objectByteCount) = (.encrypted(object), object.plaintextByteCount)
        } else if let extents = place.extents {
            let keys = try extents.keys(required(for: "a film"))
            guard extents.end <= slice.byteCount else {
                throw .truncatedCiphertext(
                    byteCount: slice.byteCount, expected: "at least \(extents.end), the end of the last sample")
            }
            (content, self.objectByteCount) = (.film(slice, extents, backend, keys), slice.byteCount)
        } else {
            (content, self.objectByteCount) = (.plain(slice), slice.byteCount)
        }
        let all = self.objectByteCount
        let window = place.window ?? 0..<all
        plaintext = min(window.lowerBound, all)..<min(window.upperBound, all)
        if let expected = place.byteCount, expected != byteCount {
            guard place.strategy?.padding != .pkcs7 else { throw .invalidPadding }
            throw .truncatedCiphertext(
                byteCount: slice.byteCount, expected: "as many as \(expected) bytes of plaintext have")
        }
    }

    /// Returns a reader for one thread; see `EncryptedObject.makeCursor(windowByteCount:)`.
    public func makeCursor(windowByteCount: Int = .max) throws(DecryptionError) -> any RandomAccessDecryptor {
        switch content {
        case .plain(let source): PieceCursor(.plain(source), plaintext)
        case .encrypted(let object):
            PieceCursor(.encrypted(try object.makeCursor(windowByteCount: windowByteCount)), plaintext)
        case .film(let source, let extents, let backend, let keys):
            PieceCursor(
                .encrypted(
                    try ExtentCursor(
                        extents, of: source, backend: backend, keys: keys, windowByteCount: windowByteCount)), plaintext
            )
        }
    }
}

/// Reads a piece; belongs to one thread.
private final class PieceCursor: RandomAccessDecryptor {
    enum Base {
        case plain(any ByteSource)
        case encrypted(any RandomAccessDecryptor)
    }

    private let base: Base
    private let plaintext: Range<UInt64>

    init(_ base: Base, _ plaintext: Range<UInt64>) {
        (self.base, self.plaintext) = (base, plaintext)
    }

    var plaintextByteCount: UInt64 { plaintext.upperBound - plaintext.lowerBound }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        let count = Int(min(UInt64(buffer.count), plaintextByteCount - offset))
        let output = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        switch base {
        case .plain(let source): try source.fetch(at: plaintext.lowerBound + offset, into: output)
        case .encrypted(let cursor):
            let delivered = try cursor.read(at: plaintext.lowerBound + offset, into: output)
            guard delivered == count else {
                throw .truncatedCiphertext(
                    byteCount: offset + UInt64(delivered), expected: "\(offset + UInt64(count)) for this read")
            }
        }
        return count
    }

    func checkVersion() throws(DecryptionError) {
        switch base {
        case .plain(let source): try source.checkVersion()
        case .encrypted(let cursor): try cursor.checkVersion()
        }
    }
}
