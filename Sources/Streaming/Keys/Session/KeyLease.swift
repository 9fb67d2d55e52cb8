internal import HLS
public import RandomAccess
import Synchronization

/// The permission to deliver plaintext with a key, which can end at any time. Shared by any number of threads.
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

    /// Asks whether bytes may be delivered now. It is the clock that decides, even if the session is late to.
    ///
    /// - Throws: `KeyFailure`, from the moment on when the lease ended.
    public func permit() throws(KeyFailure) {
        let isOver = expiry.map { clock.now().monotonic >= $0 } ?? false
        let reason = failure.withLock { failure in
            if failure == nil, isOver { failure = failureAtEnd }
            return failure
        }
        if let reason { throw reason }
    }

    /// Asks as ``permit()`` does, with an error that names the key.
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

/// Identifiers in messages: without user names, passwords and queries, which may be secret.
package enum ShownIdentifier {
    /// What may be shown of an identifier.
    ///
    /// - Source: RFC 3986, sections 3.2.1 and 7.5.
    package static func text(_ identifier: String) -> String {
        // By bytes: a character may join a delimiter and what combines with it.
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
