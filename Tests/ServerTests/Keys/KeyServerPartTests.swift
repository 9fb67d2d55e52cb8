import HTTPTypes
import RandomAccess
import Testing

@testable import Server

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
        // More than it ever holds.
        #expect(limiter.wait(for: 64, by: "a", at: .seconds(2000)) == nil)
        #expect(limiter.wait(for: 64, by: "a", at: .seconds(2000)) == .seconds(2))
        // A clock that goes back gives nothing.
        #expect(limiter.wait(for: 1, by: "a", at: .seconds(1)) == .seconds(0.5))
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
        let seen = ReplayCache(toleranceMilliseconds: 1000)
        let (one, two): ([UInt8], [UInt8]) = ([1], [2])
        #expect(seen.judge(one, askedAt: 10_000, now: 10_000) == .fresh)
        #expect(seen.judge(one, askedAt: 10_000, now: 11_000) == .seen)
        #expect(seen.judge(two, askedAt: 13_000, now: 12_000) == .fresh)
        #expect(seen.judge(two, askedAt: 13_000, now: 14_000) == .seen)
        #expect(seen.judge(two, askedAt: 13_000, now: 14_001) == .untimely(1001))
        #expect(seen.judge([3], askedAt: 0, now: .max) == .untimely(.max))
        // Long after, all are forgotten.
        #expect(seen.judge(one, askedAt: 100_000, now: 100_000) == .fresh)
        // A clock that was set back remembers all the same.
        #expect(seen.judge(one, askedAt: 90_000, now: 90_000) == .seen)
    }

    @Test(
        "lines of clients", arguments: ["a 0123456789abcdef", "\n# b\n a\t0123456789abcdef x y \r\nb 0123456789abcdeF"])
    func clients(_ lines: String) throws {
        let clients = try KeyClients(lines: lines)
        #expect(clients.client([.authorization: "Bearer 0123456789abcdef"])?.name == "a")
        #expect(clients.client([.authorization: "Bearer 0123456789abcdeg"]) == nil)
        #expect(clients.client([.cookie: "chunkwise-token=0123456789abcdef"]) == nil)
        #expect(clients.client([:]) == nil)
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
