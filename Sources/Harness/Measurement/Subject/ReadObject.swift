import HLS
import RandomAccess

/// An object that a subject has open: one ciphertext, or a playlist's.
enum ReadObject: Sendable {
    /// One ciphertext.
    case encrypted(EncryptedObject)
    /// The segments of a playlist, one behind the other.
    case playlist(HLSObject)

    /// The plaintext's length in bytes.
    var plaintextByteCount: UInt64 {
        switch self {
        case .encrypted(let object): object.plaintextByteCount
        case .playlist(let object): object.plaintextByteCount
        }
    }

    /// The plaintext bytes of a chunk that readers of whole chunks hold, or `nil` where there is none.
    var chunkByteCount: UInt64? {
        switch self {
        case .encrypted(let object): object.strategy.chunkByteCount
        case .playlist: nil
        }
    }

    /// Whether chunks are opened whole.
    var isAuthenticated: Bool {
        switch self {
        case .encrypted(let object): object.strategy.chunkFormat != nil
        case .playlist: false
        }
    }

    /// What is kept of each segment while the object is open, in bytes; 0 for one ciphertext.
    var tableByteCount: UInt64 {
        switch self {
        case .encrypted: 0
        case .playlist(let object): UInt64(object.playlist.segments.count) * Self.segmentByteCount
        }
    }

    /// A segment in the playlist, its place, and its share of the message that brought it.
    private static let segmentByteCount: UInt64 = 1 << 10
}

extension ReaderConfiguration {
    /// Makes a reader for one thread.
    ///
    /// - Throws: `DecryptionError.backend`, `.invalidParameter`; `.unsupported` for a playlist that is to be read
    ///   otherwise than by blocks, or slower than it is.
    func makeReader(of object: ReadObject) throws(DecryptionError) -> any RandomAccessDecryptor {
        switch object {
        case .encrypted(let object): return try makeReader(of: object)
        case .playlist(let object):
            guard access == .block else {
                throw .unsupported("access \(access.rawValue) of a playlist: expected \(AccessPolicy.block.rawValue)")
            }
            guard extraWork == nil else { throw .unsupported("extra work on a playlist") }
            return try object.makeCursor(windowByteCount: windowByteCount)
        }
    }
}
