#if Network
package import ByteSources
import Glibc
import Keys
package import RandomAccess
import Support
import Synchronization
package import SystemPackage

/// A line of JSON for each key that was asked for, and for each request that was refused; none of the keys, no token.
package final class KeyAudit: Sendable {
    private let log: LineLog
    /// The clients, or networks of unknown ones, that asked too often within this second, and have a line for it.
    private let limited = Mutex((second: UInt64(0), askers: Set<String>()))
    private let lost = Mutex<DecryptionError?>(nil)

    /// Creates an audit.
    ///
    /// - Parameter log: Where lines go. A line counts once it is there as a whole, and on the disk where there is one.
    package init(_ log: LineLog) {
        self.log = log
    }

    /// Appends to a file that only its owner can read. What a kill left of a line is cut off.
    ///
    /// - Throws: `DecryptionError.io` if it cannot be opened, or another process writes to it.
    package convenience init(path: FilePath) throws(DecryptionError) {
        let log = try LineLog(path: path, permissions: [.ownerReadWrite])
        try log.keepWholeLines()
        self.init(log)
    }

    /// Why the last line was not kept that was not; `nil` if all were.
    package var failure: DecryptionError? { lost.withLock { $0 } }

    /// What a line is about besides a key.
    struct Question: Sendable {
        var client: String?
        let address: String
        /// `nil` if what came is none, or was not looked at.
        var request: KeyRequest?
        /// In milliseconds since 1970-01-01 00:00 UTC.
        var time: UInt64
    }

    /// Notes a request's keys.
    ///
    /// - Parameters:
    ///   - results: What became of each identifier of the request, in its order; of one that is none, what became of it.
    ///   - asked: Which client asked, and when.
    /// - Returns: Whether all lines are kept.
    func note(_ results: [String], _ asked: Question) -> Bool {
        let request = asked.request
        // A batch stays together.
        let identifiers = request?.identifiers.map { Optional(ShownIdentifier.text($0)) } ?? [nil]
        let kind = request.map { $0.wantsPersistable ? "persistable" : "online" }
        let lines = zip(identifiers, results).map { identifier, result in
            JSONValue.object([
                "time": .string(WallClock.text(asked.time)), "client": JSONValue(asked.client),
                "address": .string(asked.address),
                "request": JSONValue(request.map { Hexadecimal.encode($0.number) }),
                "identifier": JSONValue(identifier), "route": JSONValue(request?.route), "kind": JSONValue(kind),
                "result": .string(result),
            ]).line
        }
        do throws(DecryptionError) {
            try log.append(Array(lines.joined()))
            return true
        } catch {
            lost.withLock { $0 = error }
            return false
        }
    }

    /// Notes a request that is refused, with a line for each of its keys, or one where they are not known.
    ///
    /// - Returns: Whether all lines are kept. What cannot be noted is refused all the same.
    func note(refusal: String, _ asked: Question) -> Bool {
        note(asked.request?.identifiers.map { _ in refusal } ?? [refusal], asked)
    }

    /// Notes that a client asked too often: once per second and client, or else its requests would fill the disk.
    ///
    /// - Returns: Whether there is a line.
    func noteLimited(_ asked: Question) -> Bool {
        let isFirst = limited.withLock { limited in
            let second = asked.time / 1000
            if limited.second != second { limited = (second, []) }
            // As the limit counts: one has as many addresses as it likes.
            let asker = asked.client ?? IPAddress(asked.address)?.network ?? asked.address
            return limited.askers.insert(asker).inserted
        }
        return isFirst ? note(refusal: "limited", asked) : true
    }
}

extension WallClock {
    /// A time in milliseconds since 1970, as ISO 8601 in UTC. The corresponding C function is `strftime`.
    fileprivate static func text(_ milliseconds: UInt64) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%S", &parts)
        let fraction = "\(1000 + milliseconds % 1000)".dropFirst()
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) + ".\(fraction)Z"
    }
}
#endif
