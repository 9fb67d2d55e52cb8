#if Network
import Glibc
import Keys
import Support
import Synchronization
package import SystemPackage

/// A line of JSON for each key that was asked for, and for each request that was refused; none of the keys, no token.
package final class KeyAudit: Sendable {
    private let write: @Sendable (String) -> Bool
    /// The clients that asked too often within this second, and have a line for it.
    private let limited = Mutex((second: UInt64(0), askers: Set<String>()))

    /// Creates an audit.
    ///
    /// - Parameter write: Takes a whole line with its end, and says whether it is kept.
    package init(write: @escaping @Sendable (String) -> Bool) {
        self.write = write
    }

    /// Appends to a file that only its owner can read.
    ///
    /// - Throws: `Errno` if it cannot be opened.
    package convenience init(path: FilePath) throws {
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.append, .create, .closeOnExec], permissions: [.ownerReadWrite])
        self.init { line in (try? file.writeAll(line.utf8)) != nil }
    }

    /// What a line is about besides a key.
    struct Circumstances: Sendable {
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
    ///   - circumstances: Which client asked, and when.
    /// - Returns: Whether all lines are kept.
    func note(_ results: [String], _ circumstances: Circumstances) -> Bool {
        let request = circumstances.request
        // A batch stays together.
        let identifiers = request?.identifiers.map { Optional(ShownIdentifier.text($0)) } ?? [nil]
        let kind = request.map { $0.wantsPersistable ? "persistable" : "online" }
        let lines = zip(identifiers, results).map { identifier, result in
            JSONValue.object([
                "time": .string(WallClock.text(circumstances.time)), "client": JSONValue(circumstances.client),
                "address": .string(circumstances.address),
                "request": JSONValue(request.map { Hexadecimal.encode($0.number) }),
                "identifier": JSONValue(identifier), "route": JSONValue(request?.route), "kind": JSONValue(kind),
                "result": .string(result),
            ]).line
        }
        return write(lines.map { String(decoding: $0, as: UTF8.self) }.joined())
    }

    /// Notes a request that is refused, with a line for each of its keys, or one where they are not known.
    ///
    /// - Returns: Whether all lines are kept. What cannot be noted is refused all the same.
    func note(refusal: String, _ circumstances: Circumstances) -> Bool {
        note(circumstances.request?.identifiers.map { _ in refusal } ?? [refusal], circumstances)
    }

    /// Notes that a client asked too often: once per second and client, or else its requests would fill the disk.
    ///
    /// - Returns: Whether there is a line.
    func noteLimited(_ circumstances: Circumstances) -> Bool {
        let isFirst = limited.withLock { limited in
            let second = circumstances.time / 1000
            if limited.second != second { limited = (second, []) }
            return limited.askers.insert(circumstances.client ?? circumstances.address).inserted
        }
        return isFirst ? note(refusal: "limited", circumstances) : true
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
