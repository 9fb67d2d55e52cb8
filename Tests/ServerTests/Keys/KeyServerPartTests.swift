import HLS
import Keys
import NIOHTTP1
import RandomAccess
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Server

/// Clocks that are set by hand.
private final class HandClock: KeyClock {
    private let time = Mutex(Duration.zero)

    func advance(by step: Duration) { time.withLock { $0 += step } }

    func now() -> ClockSample { time.withLock { ClockSample(monotonic: $0, wall: .seconds(1_000_000) + $0) } }

    func sleep(until monotonic: Duration) async throws {}
}

/// The parts of the key server that need no connection.
@Suite("key server's parts")
struct KeyServerPartTests {
    @Test("a bucket gives what it holds, and fills evenly up to that")
    func buckets() {
        let limiter = RateLimiter(rate: 2, burst: 4)
        #expect(limiter.wait(for: 3, by: "a", at: .seconds(10)) == nil)
        #expect(limiter.wait(for: 2, by: "a", at: .seconds(10)) == .seconds(0.5))
        #expect(limiter.wait(for: 4, by: "b", at: .seconds(10)) == nil, "another client's")
        #expect(limiter.wait(for: 2, by: "a", at: .seconds(10.5)) == nil)
        #expect(limiter.wait(for: 1, by: "a", at: .seconds(10.5)) == .seconds(0.5))
        #expect(limiter.wait(for: 4, by: "a", at: .seconds(1000)) == nil)
        #expect(limiter.wait(for: 1, by: "a", at: .seconds(1000)) == .seconds(0.5))
        // A clock that goes back gives nothing.
        #expect(limiter.wait(for: 1, by: "a", at: .seconds(1)) == .seconds(0.5))
    }

    @Test("more than a bucket ever holds is paid in full, before anything else is given")
    func debts() {
        let limiter = RateLimiter(rate: 2, burst: 4)
        #expect(limiter.wait(for: 64, by: "a", at: .zero) == nil)
        #expect(limiter.wait(for: 1, by: "a", at: .zero) == .seconds(30.5))
        #expect(limiter.wait(for: 64, by: "a", at: .seconds(30)) == .seconds(2))
        #expect(limiter.wait(for: 64, by: "a", at: .seconds(32)) == nil)
        // 64 at a time are no more than one at a time: the rate, and once what the bucket holds.
        var given = 0
        for second in 0..<1000 where limiter.wait(for: 64, by: "b", at: .seconds(second)) == nil { given += 64 }
        #expect(given <= 2 * 1000 + 64)
        // What cannot be undone is paid, too.
        limiter.charge(5, to: "c", at: .zero)
        #expect(limiter.wait(for: 0, by: "c", at: .zero) == .seconds(1))
        #expect(limiter.wait(for: 0, by: "c", at: .seconds(1)) == nil)
    }

    @Test("an unknown client's network has one line a second for what is limited, whatever address it takes")
    func limitedLines() throws {
        let folder = try TemporaryFolder()
        let audit = try KeyAudit(path: FilePath(folder.path("audit")))
        func note(_ address: String, client: String? = nil, at time: UInt64) {
            #expect(audit.noteLimited(KeyAudit.Question(client: client, address: address, time: time)))
        }
        for number in 1...60 { note("2001:db8::\(number)", at: 1000) }
        func lineCount() -> Int { folder.bytes("audit")?.count { $0 == 0x0A } ?? 0 }
        #expect(lineCount() == 1)
        note("2001:db8:0:1::1", at: 1500)
        note("192.0.2.1", at: 1999)
        note("192.0.2.1", client: "a", at: 1999)
        #expect(lineCount() == 4)
        note("2001:db8::1", at: 2000)
        #expect(lineCount() == 5)
    }

    @Test("so many clients are remembered, and none goes free")
    func manyClients() {
        let limiter = RateLimiter(rate: 1, burst: 1)
        for client in 0..<10_000 { #expect(limiter.wait(for: 1, by: "\(client)", at: .zero) == nil) }
        #expect(limiter.wait(for: 1, by: "new", at: .zero) != nil)
        #expect(limiter.wait(for: 1, by: "7", at: .zero) != nil)
        #expect(limiter.wait(for: 1, by: "new", at: .seconds(1)) == nil)
    }

    @Test("a number is remembered for as long as its request could come again")
    func seen() {
        let seen = ReplayCache(toleranceMilliseconds: 1000, startedAt: 9000, .zero)
        let (one, two): ([UInt8], [UInt8]) = ([1], [2])
        #expect(seen.judge(one, askedAt: 10_000, now: 10_000, .seconds(1)) == .fresh)
        #expect(seen.judge(one, askedAt: 10_000, now: 11_000, .seconds(2)) == .seen)
        #expect(seen.judge(two, askedAt: 13_000, now: 12_000, .seconds(3)) == .fresh)
        #expect(seen.judge(two, askedAt: 13_000, now: 14_000, .seconds(5)) == .seen)
        #expect(seen.judge(two, askedAt: 13_000, now: 14_001, .seconds(5)) == .untimely(1001))
        #expect(seen.judge([3], askedAt: 0, now: .max, .seconds(5)) == .untimely(.max))
        // Long after, all are forgotten.
        #expect(seen.judge(one, askedAt: 100_000, now: 100_000, .seconds(91)) == .fresh)
        // A clock that was set back remembers all the same.
        #expect(seen.judge(one, askedAt: 90_000, now: 90_000, .seconds(91)) == .seen)
    }

    @Test("no number is taken twice, whatever the clock is set to, and what may have been taken before the start never")
    func replays() {
        let seen = ReplayCache(toleranceMilliseconds: 1000, startedAt: 50_000, .zero)
        #expect(seen.judge([0], askedAt: 50_000, now: 50_001, .zero) == .forgotten(0))
        #expect(seen.judge([0], askedAt: 49_400, now: 50_100, .zero) == .forgotten(600))
        #expect(seen.judge([0], askedAt: 50_001, now: 50_001, .zero) == .fresh)
        var random = SystemRandomNumberGenerator()
        var taken: Set<[UInt8]> = []
        var sent: [(number: [UInt8], askedAt: UInt64)] = []
        var wall: UInt64 = 60_000
        for step in 0..<20_000 {
            // The clock goes on, and is set now and then; the monotonic one only goes on.
            wall += 10
            if step % 97 == 0 { wall = UInt64.random(in: 40_000...90_000, using: &random) }
            if step % 3 > 0, let old = sent.randomElement(using: &random) {
                let verdict = seen.judge(old.number, askedAt: old.askedAt, now: wall, .milliseconds(step * 10))
                #expect(verdict != .fresh || !taken.contains(old.number), "step \(step)")
                if verdict == .fresh { taken.insert(old.number) }
                continue
            }
            let number = withUnsafeBytes(of: step) { Array($0) }
            let askedAt = wall + UInt64.random(in: 0...2400, using: &random) - 1200
            sent.append((number, askedAt))
            if seen.judge(number, askedAt: askedAt, now: wall, .milliseconds(step * 10)) == .fresh {
                taken.insert(number)
            }
        }
        #expect(!taken.isEmpty)
    }

    @Test(
        "a prefix ends at a border, and no notation leads out of it",
        arguments: [
            ("mykey://film/", "mykey://film/a", true), ("mykey://film/", "mykey://film/a/b?x=1", true),
            ("mykey://film/", "mykey://other/a", false), ("mykey://film/", "mykey://film/../other/a", false),
            ("mykey://film/", "mykey://film/%2e%2e/other/a", false),
            ("mykey://film/", "mykey://film/%2E./other", false),
            ("mykey://film/", "mykey://film/./a", false), ("mykey://film/", "mykey://film//a", false),
            ("mykey://film/", "mykey://film/a/", false), ("mykey://film/", "mykey://film/x%2Fy", false),
            ("mykey://film/", "mykey://film/..\\other\\a", false), ("mykey://film/", "mykey://film/%5C", false),
            ("mykey://film/", "mykey://film", false), ("mykey://film/", "mykey://film/%61", true),
            ("mykey://film/", "mykey://film/a%00", false), ("mykey://film/", "mykey://film/a%", false),
            ("mykey://film/", "mykey:film/a", false), ("mykey://film/", "mykey:///film/a", false),
            ("mykey://film/", "MYKEY://film/a", false), ("mykey://film/", "film/a", false),
            ("mykey://film", "mykey://film", true), ("mykey://film", "mykey://film/a", true),
            ("mykey://film", "mykey://film?x=1", true), ("mykey://film", "mykey://filmother/a", false),
            ("mykey://film", "mykey://film2secret", false), ("mykey://film", "mykey://film%2Fa", false),
            ("mykey://film", "mykey://film:80/a", false), ("mykey://b", "mykey://bonus", false),
            ("mykey://", "mykey://film/a", true), ("mykey://", "mykey://", false), ("a", "a", true), ("a", "ab", false),
            ("a/", "a/b", true), ("a/", "../a/b", false), ("a/", "/a/b", false), ("a/", "//a/b", false),
        ])
    func prefixes(_ prefix: String, _ identifier: String, _ expected: Bool) throws {
        let clients = try KeyClients(lines: "c 0123456789abcdef \(prefix)")
        let client = try #require(clients.client(showing: "Bearer 0123456789abcdef"))
        #expect(client.mayHave(identifier) == expected)
    }

    @Test(
        "prefixes that stand for no part of a tree are refused",
        arguments: [
            "mykey:", "/", "mykey:/", "mykey://film/../x/", "mykey://film/%2e%2e/", "mykey://f//", "a?b", "a#b",
        ])
    func badPrefixes(_ prefix: String) {
        do throws(DecryptionError) {
            _ = try KeyClients(lines: "c 0123456789abcdef mykey://good/ \(prefix)")
            Issue.record("was taken")
        } catch {
            #expect("\(error)".contains("line 1 of the clients") && !"\(error)".contains("0123456789abcdef"))
        }
    }

    @Test("a client's look-ups wait for its own, and never for another's")
    func turns() async throws {
        let turns = LookupTurns(maxRunningCount: 2)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (started, starts) = AsyncStream.makeStream(of: Int.self)
        let slow = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        try await turns.run(for: "slow") {
                            starts.yield(number)
                            for await _ in gate { break }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        var running = started.makeAsyncIterator()
        for _ in 0..<2 { _ = await running.next() }
        // Two of the ten are under way and stay so; the other client's come and go.
        for number in 0..<20 { #expect(try await turns.run(for: "other") { number } == number) }
        open.finish()
        for _ in 2..<10 { _ = await running.next() }
        try await slow.value
        #expect(try await turns.run(for: "slow") { true })
    }

    @Test("look-ups that take too long together leave the rest for later")
    func lookupDeadline() throws {
        let clock = HandClock()
        var server = KeyServer(
            provider: HandlerKeys { uri in
                clock.advance(by: .seconds(3))
                return try SecretKey(Array((uri + String(repeating: "-", count: 16)).utf8.prefix(16)))
            }, clients: .everyone, audit: try KeyAudit(path: "/dev/null"))
        server.clock = clock
        let identifiers = ["a", "b", "c", "d", "e", "f"]
        let request = PendingRequest(identifiers: identifiers, route: "local", wantsPersistable: false, at: 0).request
        let client = try #require(server.clients.client(showing: nil))
        let names = server.outcomes(for: request, client, until: .seconds(10)).map(\.name)
        #expect(names == ["key", "key", "key", "key", "later", "later"])
    }

    @Test("an address has so many connections, a network of IPv6 counts as one, and this machine has all")
    func connectionCounts() {
        var limits = ServerLimits()
        limits.connectionCount = 8
        let counts = OpenConnections(limits: limits)
        #expect((0..<2).map { _ in counts.enter("10.0.0.1") } == ["10.0.0.1", "10.0.0.1"])
        #expect(counts.enter("10.0.0.1") == nil && counts.enter("::ffff:10.0.0.1") == nil)
        #expect(counts.enter("10.0.0.2") != nil)
        counts.leave("10.0.0.1")
        #expect(counts.enter("10.0.0.1") != nil && counts.enter("10.0.0.1") == nil)
        let network = (1...3).map { counts.enter("2001:db8:1:2::\($0)") }
        #expect(network == ["2001:db8:1:2::/64", "2001:db8:1:2::/64", nil])
        #expect(counts.enter("2001:db8:1:3::1") != nil)
        #expect((0..<100).allSatisfy { _ in counts.enter("127.0.0.1") != nil })
        limits.addressConnectionCount = 1
        let few = OpenConnections(limits: limits)
        #expect(few.enter("127.0.0.1") != nil && few.enter("127.0.0.1") == nil)
    }

    @Test(
        "lines of clients", arguments: ["a 0123456789abcdef", "\n# b\n a\t0123456789abcdef x y \r\nb 0123456789abcdeF"])
    func clients(_ lines: String) throws {
        let clients = try KeyClients(lines: lines)
        #expect(clients.client(showing: "Bearer 0123456789abcdef")?.name == "a")
        #expect(clients.client(showing: "Bearer 0123456789abcdeg") == nil)
        let fields = RequestFields(["Cookie": "chunkwise-token=0123456789abcdef"])
        #expect(clients.client(showing: fields.authorization) == nil)
        #expect(clients.client(showing: nil) == nil)
    }

    @Test("each line is a client's own, whatever ends it", arguments: ["\n", "\r\n", "\r", " \r\n\r\n"])
    func lineEnds(_ end: String) throws {
        let lines = ["a 0123456789abcdef x", "b 0123456789abcdeF", "c 0123456789abcd00 y"]
        let clients = try KeyClients(lines: lines.joined(separator: end))
        #expect(clients.client(showing: "Bearer 0123456789abcdef")?.mayHave("y") == false)
        #expect(clients.client(showing: "Bearer 0123456789abcdeF")?.isUnlimited == true)
        #expect(clients.client(showing: "Bearer 0123456789abcd00")?.mayHave("y") == true)
    }

    @Test(
        "lines that name no client are refused without their token",
        arguments: ["", "# only", "a", "a short", "a 0123456789abcdef\na abcdefabcdefabcdef", "a 0123456789abcdéf"])
    func badClients(_ lines: String) {
        do throws(DecryptionError) {
            _ = try KeyClients(lines: lines)
            Issue.record("was taken")
        } catch {
            #expect("\(error)".contains("expected") && !"\(error)".contains("abcd") && !"\(error)".contains("short"))
        }
    }
}
