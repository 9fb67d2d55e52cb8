#if Network
package import ByteSources
import Glibc
import Keys
package import RandomAccess
import Support
import Synchronization
package import SystemPackage

/// A log with a line of JSON for each key that was asked for, and for each refused request. It contains no key and no
/// token.
package final class KeyAudit: Sendable {
    private let log: LineLog
    /// The clients, or networks of unknown clients, that asked too often within this second and have a line for it.
    private let limited = Mutex((second: UInt64(0), askers: Set<String>()))
    private let lost = Mutex<DecryptionError?>(nil)

    /// - Parameter log: The destination of the lines. A line counts once it is written completely, and synced if it
    ///   goes to a disk.
    package init(_ log: LineLog) {
        self.log = log
    }

    /// Appends to a file that only its owner can read. An incomplete line, left by a killed process, is cut off.
    ///
    /// - Throws: `DecryptionError.io` if the file cannot be opened, or if another process writes to it.
    package convenience init(path: FilePath) throws(DecryptionError) {
        let log = try LineLog(path: path, permissions: [.ownerReadWrite])
        try log.keepWholeLines()
        self.init(log)
    }

    /// The failure of the last line that could not be kept; `nil` if all lines were kept.
    package var failure: DecryptionError? { lost.withLock { $0 } }

    /// The facts of a line besides a key.
    struct Question: Sendable {
        var client: String?
        let address: String
        /// `nil` if the request is malformed, or if it was not read.
        var request: KeyRequest?
        /// The time in milliseconds since 1970-01-01 00:00 UTC.
        var time: UInt64
    }

    /// Writes a line for each key of a request.
    ///
    /// - Parameters:
    ///   - results: The result for each identifier of the request, in its order; a single result if there is no valid
    ///     request.
    ///   - asked: The client and the time of the request.
    /// - Returns: True if all lines are kept.
    func note(_ results: [String], _ asked: Question) -> Bool {
        let request = asked.request
        // The lines of a batch are written together.
        let identifiers = request?.identifiers.map { Optional(ShownIdentifier.text($0)) } ?? [nil]
        let kind = request.map { $0.wantsPersistable ? "persistable" : "online" }
        let lines = zip(identifiers, results).map { identifier, result in
            JSONValue(members: [
                "time": WallClock.text(asked.time), "client": asked.client, "address": asked.address,
                "request": request.map { Hexadecimal.encode($0.number) }, "identifier": identifier,
                "route": request?.route, "kind": kind, "result": result,
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

    /// Writes the lines of a refused request: one for each of its keys, or a single one if they are unknown.
    ///
    /// - Returns: True if all lines are kept. The request is refused in any case.
    func note(refusal: String, _ asked: Question) -> Bool {
        note(asked.request?.identifiers.map { _ in refusal } ?? [refusal], asked)
    }

    /// Notes that a client asked too often. Each client gets one such line per second, because its requests would
    /// otherwise fill the disk.
    ///
    /// - Returns: True if there is a line.
    func noteLimited(_ asked: Question) -> Bool {
        let isFirst = limited.withLock { limited in
            let second = asked.time / 1000
            if limited.second != second { limited = (second, []) }
            // Counts networks as the rate limit does, because one client may have any number of addresses.
            let asker = asked.client ?? IPAddress(asked.address)?.network ?? asked.address
            return limited.askers.insert(asker).inserted
        }
        return isFirst ? note(refusal: "limited", asked) : true
    }
}

extension WallClock {
    /// Returns a time in milliseconds since 1970 as ISO 8601 in UTC. The corresponding C function is `strftime`.
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
