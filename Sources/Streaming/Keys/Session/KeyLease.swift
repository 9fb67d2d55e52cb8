import HLS
public import RandomAccess
import Synchronization

/// The permission to deliver plaintext with a key. It can end at any time. Any number of threads may share it.
public final class KeyLease: Sendable {
    /// The key.
    public let key: SecretKey

    let read: Int
    private let identifier: String
    private let clock: any KeyClock
    private let expiry: Duration?
    private let failureAtEnd: KeyFailure
    private let failure = Mutex<KeyFailure?>(nil)

    init(
        key: SecretKey, read: Int, identifier: String, clock: any KeyClock, until expiry: Duration?,
        then failureAtEnd: KeyFailure
    ) {
        self.key = key
        self.read = read
        self.identifier = identifier
        self.clock = clock
        self.expiry = expiry
        self.failureAtEnd = failureAtEnd
    }

    /// Checks that bytes may be delivered now. The clock decides, even if the session is late to end the lease.
    ///
    /// - Throws: `KeyFailure` once the lease has ended.
    public func permit() throws(KeyFailure) {
        let isOver = expiry.map { clock.now().monotonic >= $0 } ?? false
        let reason = failure.withLock { failure in
            if failure == nil, isOver { failure = failureAtEnd }
            return failure
        }
        if let reason { throw reason }
    }

    /// Checks as ``permit()`` does, with an error that names the key.
    ///
    /// - Throws: `PlaylistError.keyUnavailable`.
    public func permitRead() throws(DecryptionError) {
        do throws(KeyFailure) {
            try permit()
        } catch {
            throw .keyUnavailable(uri: ShownIdentifier.text(identifier), reason: error.description)
        }
    }

    /// Ends the lease, if it has not ended yet.
    func end(_ reason: KeyFailure) {
        failure.withLock { if $0 == nil { $0 = reason } }
    }
}

/// Identifiers as messages show them. User names, passwords and queries, which may be secret, are left out, and so are
/// keys in `data:` URIs.
package enum ShownIdentifier {
    /// Returns the part of an identifier that may be shown.
    ///
    /// - Source: RFC 3986, sections 3.2.1 and 7.5.
    package static func text(_ identifier: String) -> String {
        // A data URI is the key itself.
        if identifier.utf8.prefix(5).elementsEqual("data:".utf8, by: { $0 | 0x20 == $1 | 0x20 }) { return "data:…" }
        // Compares bytes, because a character may join a delimiter and the combining mark behind it.
        var text = Array(identifier.utf8)
        if let query = text.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) {
            text.removeSubrange(query...)
            text += "?…".utf8
        }
        let slash = UInt8(ascii: "/")
        if let first = text.indices.dropLast().first(where: { text[$0] == slash && text[$0 + 1] == slash }) {
            let start = first + 2
            let end = text[start...].firstIndex(of: slash) ?? text.endIndex
            if let at = text[start..<end].lastIndex(of: UInt8(ascii: "@")) { text.removeSubrange(start...at) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A reader that delivers plaintext only while its key may be used.
///
/// It belongs to one thread at a time, like the reader that it wraps.
public final class LeasedReader: RandomAccessDecryptor {
    /// The max number of bytes that are decrypted between two checks of the lease.
    public static let pieceByteCount = 1 << 18

    private let reader: any RandomAccessDecryptor
    private let lease: KeyLease

    /// Wraps a reader, and stops delivering when the lease ends.
    public init(_ reader: any RandomAccessDecryptor, lease: KeyLease) {
        self.reader = reader
        self.lease = lease
    }

    /// The plaintext's length in bytes.
    public var plaintextByteCount: UInt64 { reader.plaintextByteCount }

    /// Reads piece by piece. If the lease ends meanwhile, the read fails and erases the bytes that it has written.
    ///
    /// See `RandomAccessDecryptor.read(at:into:)`.
    /// - Throws: `PlaylistError.keyUnavailable` if the lease has ended, and the errors of the wrapped reader.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        try lease.permitRead()
        var delivered = 0
        do throws(DecryptionError) {
            repeat {
                let end = min(buffer.count, delivered + Self.pieceByteCount)
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[delivered..<end])
                let (position, isOver) = offset.addingReportingOverflow(UInt64(delivered))
                // The plaintext ends before the largest offset.
                guard !isOver else { break }
                let count = try reader.read(at: position, into: piece)
                // Counted first, so that decrypted bytes that are not permitted are erased as well.
                delivered += count
                try lease.permitRead()
                if count < piece.count { break }
            } while delivered < buffer.count
        } catch {
            eraseBytes(UnsafeMutableRawBufferPointer(rebasing: buffer[..<delivered]))
            throw error
        }
        return delivered
    }

    /// Asks the wrapped reader; see `RandomAccessDecryptor.checkVersion()`.
    public func checkVersion() throws(DecryptionError) { try reader.checkVersion() }
}
