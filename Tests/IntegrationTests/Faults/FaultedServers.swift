import Foundation
import Support
import TestSupport
import Testing

@testable import Keys

/// The servers: a client asks for a few things while a call of theirs fails.
extension FaultedCommand {
    static let servers: [FaultedCommand] = [
        FaultedCommand(
            name: "serve", statuses: [66, 74], isServer: true,
            prepare: { folder in
                try folder.file("key", ServerProcess.key, isSecret: true)
                try ServerProcess.encrypt(film, to: "film", in: folder)
            },
            runner: serve,
            isWhole: { name, bytes, _ in
                // An empty one is what a kill left before its first line.
                name == "trace.json" && (bytes.isEmpty || JSONValue.parse(bytes) != nil)
            }, printsTheSame: false),
        FaultedCommand(
            name: "key-server", statuses: [66, 74], isServer: true,
            prepare: { folder in
                let prepared = try KeyServerProcess.makeFolder()
                try FileManager.default.copyItem(atPath: prepared.path("keys"), toPath: folder.path("keys"))
            },
            runner: giveKeys, isWhole: isWholeAudit,
            goesOn: { _, left, after, _ in
                let (left, after) = (left["audit"] ?? [], after["audit"] ?? [])
                let whole = left.prefix((left.lastIndex(of: 0x0A) ?? -1) + 1)
                return after.starts(with: whole) && after.last == 0x0A ? nil : "lines of the audit are lost"
            }, printsTheSame: false),
    ]

    private static let film = Samples.bytes(300_000, seed: 12)

    /// Tells if each line of an audit is whole, but for the last one.
    @Sendable private static func isWholeAudit(_ name: String, _ bytes: [UInt8], _ untouched: [UInt8]?) -> Bool {
        name == "audit"
            && bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().allSatisfy {
                JSONValue.parse(Array($0))?["result"]?.string != nil
            }
    }

    /// Ends a server, and says what was wrong with it and its answers.
    private static func end(_ server: ServerProcess, _ mismatches: [String?]) -> Outcome {
        guard let run = server.finish() else {
            return (.endless, "it did not end")
        }
        return (run, mismatches.compactMap(\.self).first)
    }

    /// The outcome of a server that does not listen.
    private static func notListening(_ failure: ServerFailure) -> Outcome {
        guard let run = failure.run else {
            return (.endless, "it neither listens nor ends: \(failure)")
        }
        // One that was killed, or told to stop by nobody, says so by its status.
        return (run, run.status == 0 ? "it ended in good order, without a client" : nil)
    }

    /// Asks a server for ranges of its film.
    private static let serve: Runner = { folder, environment in
        let server: ServerProcess
        do {
            server = try ServerProcess(
                folder, ["--no-token", "--record", "trace.json", "film"], environment: environment)
        } catch let failure as ServerFailure {
            return notListening(failure)
        }
        let mismatches = [0..<16, 4099..<99_000, 290_000..<300_000, 0..<300_000].map { range -> String? in
            // Killed, or cut off behind bytes that were right.
            guard let answer = try? server.get("/film", ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
            else { return server.process.isRunning && environment.isEmpty ? "\(range): no answer" : nil }
            guard answer.status < 500 else { return environment.isEmpty ? "\(range): \(answer.status)" : nil }
            guard answer.status == 206 else { return "\(range): status \(answer.status) \(answer.text)" }
            let isRight =
                film[range].starts(with: answer.body) && (!answer.isComplete || answer.body.count == range.count)
            return isRight && (answer.isComplete || !environment.isEmpty) ? nil : "\(range): other bytes"
        }
        return end(server, mismatches)
    }

    /// Asks a server for keys. Each that it gives out is in the audit.
    private static let giveKeys: Runner = { folder, environment in
        let server: KeyServerProcess
        do {
            server = try KeyServerProcess(folder: folder, environment: environment)
        } catch let failure as ServerFailure {
            return notListening(failure)
        }
        let mismatches = try (0..<4).map { number -> String? in
            let names = number % 2 == 0 ? ["a", "none"] : ["b"]
            let request = PendingRequest(
                identifiers: names, route: "local", wantsPersistable: false,
                at: UInt64(Date().timeIntervalSince1970 * 1000))
            guard let answer = try? server.post(request.bytes) else {
                return server.server.process.isRunning && environment.isEmpty ? "no answer" : nil
            }
            guard answer.status == 200 else {
                let isNamed = answer.status >= 500 || answer.text.contains("from this server's")
                return isNamed && !environment.isEmpty ? nil : "status \(answer.status) \(answer.text)"
            }
            guard answer.isComplete else { return environment.isEmpty ? "half an answer" : nil }
            let given = try request.open(answer.body, elapsed: .zero, serverKey: nil)
            let audit = server.audit.split(separator: "\n").filter {
                $0.contains(Hexadecimal.encode(request.request.number))
            }
            for (name, key) in zip(names, given) {
                guard let bytes = try? key.key.get().withUnsafeBytes({ Array($0) }) else {
                    if name != "none", environment.isEmpty { return "no key \(name)" }
                    continue
                }
                if bytes != KeyServerProcess.keys[name] { return "another key than \(name)" }
                let isNoted = audit.contains { line in
                    let line = JSONValue.parse(Array(line.utf8))
                    return line?["identifier"]?.string == name && line?["result"]?.string == "key"
                }
                if !isNoted { return "no line for \(name)" }
            }
            return nil
        }
        return end(server.server, mismatches)
    }
}
