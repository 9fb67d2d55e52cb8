import Foundation
import HLS
import Support
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Keys
@testable import Server

/// A key server's audit beside the answers to its clients: one for one, whatever happens to the server.
@Suite("audit and answers of a key server", .serialized)
struct KeyAuditAgreementTests {
    private static let token = "0123456789abcdef"

    /// A line of the audit.
    private struct Line: Hashable {
        var request: String
        var identifier: String
        var result: String
    }

    /// All lines; each has to be a whole one.
    private static func lines(_ text: String) throws -> [Line] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        try #require(lines.popLast() == "", "the last line has no end")
        return try lines.map { text in
            let line = try #require(JSONValue.parse(Array(text.utf8)), "\(text.prefix(200))")
            func value(_ name: String) -> String { line[name]?.string ?? "" }
            return Line(request: value("request"), identifier: value("identifier"), result: value("result"))
        }
    }

    /// The answers of one server before it ended.
    private struct Answers {
        /// The requests whose answers came whole, by their numbers: how many keys were asked for, and the status.
        var whole: [String: (keyCount: Int, status: Int)] = [:]
        /// One that was answered with keys.
        var bytes: [UInt8]?
    }

    private static let answerCount = 24

    /// Has clients ask until the server ends, which a signal makes it do once so many answers have come.
    private static func ask(_ server: KeyServerProcess, _ identifiers: [[String]], end signal: Int32) -> Answers {
        let answers = Mutex(Answers())
        let (port, process) = (server.server.port, server.server.process.processIdentifier)
        _ = LoadTests.clients(identifiers.count) { client in
            for _ in 0..<100_000 {
                let time = UInt64(Date().timeIntervalSince1970 * 1000)
                let request = PendingRequest(
                    identifiers: identifiers[client], route: "local", wantsPersistable: false, at: time)
                guard let response = try? KeyServerProcess.post(request.bytes, to: port, token: token),
                    response.isComplete
                else { return nil }
                let count = answers.withLock { answers in
                    let number = ServerProcess.hexadecimal(request.request.number)
                    answers.whole[number] = (identifiers[client].count, response.status)
                    if response.status == 200 { answers.bytes = request.bytes }
                    return answers.whole.count
                }
                if count == answerCount { kill(process, signal) }
            }
            return "the server did not end"
        }
        server.server.process.waitUntilExit()
        return answers.withLock { $0 }
    }

    @Test("a server that ends or is killed leaves one whole line for each key that came, and answers nothing twice")
    func restarts() throws {
        let folder = try KeyServerProcess.makeFolder()
        try folder.file("clients", Array("c \(Self.token)\n".utf8), isSecret: true)
        let options = ["--clients", "clients", "--rate", "1e6", "--burst", "1000000"]
        // Short requests beside some whose lines take many pages, which a kill can cut anywhere.
        let long = (0..<16).map { "mykey://" + String(repeating: "folder/", count: 200) + "\($0)/b" }
        let identifiers = [["a"], ["a", "b", "none"], long]
        var (known, answered): (Int, Set<String>) = (0, [])
        for signal in [SIGKILL, SIGTERM, SIGKILL] {
            let server = try KeyServerProcess(options, folder: folder)
            let before = try Self.lines(server.audit)
            #expect(before.count >= known, "lines are gone")
            let answers = Self.ask(server, identifiers, end: signal)
            #expect(answers.whole.values.allSatisfy { $0.status == 200 })
            #expect(answers.whole.count >= Self.answerCount)
            // Another server cuts off what a kill left of a line, and answers nothing that was answered before.
            let next = try KeyServerProcess(options, folder: folder)
            let replayed = try #require(answers.bytes)
            #expect(try next.post(replayed, token: Self.token).status == 503)
            #expect(next.server.end() == 0)
            let lines = try Self.lines(next.audit)
            let refused = lines[before.count...].filter { $0.result == "untimely" }
            #expect(!refused.isEmpty && Set(refused.map(\.request)).count == 1)
            let added = Dictionary(grouping: lines[before.count...].filter { $0.result != "untimely" }, by: \.request)
            for (number, answer) in answers.whole {
                #expect(added[number]?.count == answer.keyCount, "\(number): \(added[number]?.count ?? 0) lines")
                #expect(Set(added[number] ?? []).count == answer.keyCount && !answered.contains(number))
            }
            // What was under way has lines, perhaps, and no answer that came whole.
            let lost = added.keys.filter { answers.whole[$0] == nil }.count
            #expect(lost <= (signal == SIGKILL ? identifiers.count : 0), "\(lost) requests without an answer")
            answered.formUnion(answers.whole.keys)
            known = lines.count
        }
    }

    @Test("where the audit is a standard error that is a file, what a kill left of a line does not spoil the next one")
    func standardError() throws {
        let folder = try KeyServerProcess.makeFolder()
        let torn = "{\"time\":\"2026-11-23T00:00:00.000Z\",\"cli"
        try folder.file("log", Array(torn.utf8))
        for count in 1...2 {
            let server = try KeyServerProcess(folder: folder, audit: [], shell: "exec 2>>log")
            let time = UInt64(Date().timeIntervalSince1970 * 1000)
            let request = PendingRequest(identifiers: ["a"], route: "local", wantsPersistable: false, at: time)
            #expect(try server.post(request.bytes).status == 200)
            #expect(server.server.end() == 0)
            let lines = String(decoding: folder.bytes("log") ?? [], as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.first == torn[...] && lines.last == "" && lines.count == count + 2)
            let results = lines.dropFirst().dropLast().map { JSONValue.parse(Array($0.utf8))?["result"]?.string }
            #expect(results == Array(repeating: "key", count: count))
        }
    }

    /// Clocks of which the one on the wall is set to anything.
    private final class SetClock: KeyClock {
        private let times = Mutex((monotonic: Duration.zero, wall: Duration.seconds(1_000_000_000)))

        func step(_ monotonic: Duration, _ wall: Duration) {
            times.withLock { $0 = ($0.monotonic + monotonic, $0.wall + wall) }
        }

        func now() -> ClockSample { times.withLock { ClockSample(monotonic: $0.monotonic, wall: $0.wall) } }

        func sleep(until monotonic: Duration) async throws {}
    }

    @Test("whatever the clock on the wall is set to, each answer has its line, and no request is answered twice")
    func clockSteps() async throws {
        let folder = try KeyServerProcess.makeFolder()
        let clock = SetClock()
        var server = KeyServer(
            provider: FolderKeys(folder: FilePath(folder.path("keys"))), clients: .everyone,
            audit: try KeyAudit(path: FilePath(folder.path("audit"))))
        (server.clock, server.rate, server.burst) = (clock, 1e6, 1_000_000)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let task = Task { [server] in
            try await server.run(host: try ListeningHost("127.0.0.1"), port: 0) { port.yield($0) }
        }
        defer { task.cancel() }
        let listening = try #require(await ports.first { _ in true })
        var random = SeededGenerator(state: 7)
        var (asked, expected): ([PendingRequest], [Line]) = ([], [])
        var (taken, statuses): (Set<[UInt8]>, [Int: Int]) = ([], [:])
        let jumps = [-3600, 3600, -1, 290, -310, 86_400, -86_400, 310, -290, 1]
        for number in 0..<400 {
            clock.step(.milliseconds(10), .milliseconds(10))
            if number % 20 == 19 { clock.step(.zero, .seconds(jumps[number / 20 % jumps.count])) }
            if number % 130 == 129 { clock.step(.seconds(700), .seconds(700)) }
            // A client's clock is right, or wrong by minutes; or the request came before.
            let wall = Int64(clock.now().wall / .milliseconds(1))
            let shift = [0, 0, 0, -200_000, 200_000, 400_000].randomElement(using: &random) ?? 0
            let earlier = asked.suffix(40).randomElement(using: &random)
            let request =
                number % 3 == 2
                ? try #require(earlier)
                : PendingRequest(
                    identifiers: ["a", "none"], route: "local", wantsPersistable: false, at: UInt64(wall + Int64(shift))
                )
            asked.append(request)
            let response = try KeyServerProcess.post(request.bytes, to: UInt16(listening), token: "")
            statuses[response.status, default: 0] += 1
            let results: [String]
            switch response.status {
            case 200:
                #expect(taken.insert(request.request.number).inserted, "answered twice")
                results = ["key", "missing"]
            case 409: results = ["replayed", "replayed"]
            case 400, 503: results = ["untimely", "untimely"]
            default: results = []
            }
            expected += zip(request.request.identifiers, results).map {
                Line(request: ServerProcess.hexadecimal(request.request.number), identifier: $0, result: $1)
            }
        }
        #expect(try Self.lines(String(decoding: folder.bytes("audit") ?? [], as: UTF8.self)) == expected)
        #expect([200, 409, 400, 503].allSatisfy { statuses[$0, default: 0] > 5 }, "\(statuses)")
    }
}
