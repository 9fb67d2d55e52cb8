import Crypto
import Foundation
import KeyExchanges
import Keys
import RandomAccess
import Testing

/// Our client of the key protocol against a server that others could have written, and that does everything wrong.
@Suite("client of a key server", .serialized, .enabled(if: KeyPeer.python != nil))
struct KeyServerExchangeTests {
    /// The public half of the peer's private key 01 02 … 20.
    static let peerKey: [UInt8] = [
        0x07, 0xA3, 0x7C, 0xBC, 0x14, 0x20, 0x93, 0xC8, 0xB7, 0x55, 0xDC, 0x1B, 0x10, 0xE8, 0x6C, 0xB4, 0x26, 0x37,
        0x4A,
        0xD1, 0x6A, 0xA8, 0x53, 0xED, 0x0B, 0xDF, 0xC0, 0xB2, 0xB8, 0x6D, 0x1C, 0x7C,
    ]

    private static func query(_ identifiers: [String] = ["a", "bb"]) -> KeyQuery {
        KeyQuery(exchange: 1, identifiers: identifiers, route: .local, wantsPersistable: false)
    }

    private static func exchange(_ url: String, serverKey: [UInt8]? = nil) throws -> KeyServerExchange {
        var options = KeyServerExchange.Options()
        options.serverKey = serverKey
        options.token = "secret-token"
        options.deadline = .seconds(600)
        return try KeyServerExchange(url, options: options)
    }

    static func key(of identifier: String) -> [UInt8] { Array(SHA256.hash(data: Data(identifier.utf8)).prefix(16)) }

    /// The outcome of a path: the failure's name for all keys or for the first one, or `nil`.
    private static func outcome(
        _ peer: KeyPeer, _ path: String, serverKey: [UInt8]? = nil, deadline: Duration = .seconds(600)
    ) async throws -> KeyFailure? {
        var options = KeyServerExchange.Options()
        options.serverKey = serverKey
        options.deadline = deadline
        let exchange = try KeyServerExchange(peer.url(path), options: options)
        do throws(KeyFailure) {
            let keys = try await exchange.answer(query())
            for key in keys { _ = try key.key.get() }
            return nil
        } catch {
            return error
        }
    }

    @Test("a foreign server's keys come, in batches and with its proof", arguments: [false, true])
    func opens(_ isAuthenticated: Bool) async throws {
        let peer = try KeyPeer(isAuthenticated ? ["identity"] : [])
        let exchange = try Self.exchange(peer.url("v1/keys"), serverKey: isAuthenticated ? Self.peerKey : nil)
        // More than one request holds.
        let identifiers = (0..<130).map { "mykey://film/\($0)" }
        let keys = try await exchange.answer(Self.query(identifiers))
        #expect(keys.map(\.identifier) == identifiers)
        for key in keys {
            #expect(try key.key.get().withUnsafeBytes { Array($0) } == Self.key(of: key.identifier))
        }
    }

    @Test("a wrong proof opens nothing")
    func wrongProof() async throws {
        let peer = try KeyPeer(["identity"])
        #expect(try await Self.outcome(peer, "v1/keys", serverKey: [9] + [UInt8](repeating: 0, count: 31)) == .tampered)
        #expect(try await Self.outcome(peer, "v1/keys")?.name == "malformed")
        #expect(try await Self.outcome(KeyPeer(), "v1/keys", serverKey: Self.peerKey)?.name == "malformed")
    }

    @Test("each wrong answer is a named error")
    func wrongAnswers() async throws {
        let peer = try KeyPeer()
        // The answer that comes again later.
        #expect(try await Self.outcome(peer, "v1/keys") == nil)
        let expected = [
            ("short", "malformed"), ("long", "malformed"), ("empty", "malformed"), ("endless", "malformed"),
            ("version", "malformed"), ("type", "malformed"), ("fewer", "malformed"), ("other", "otherIdentifier"),
            ("order", "otherIdentifier"), ("number", "replayed"), ("replayed", "replayed"), ("unbound", "tampered"),
            ("tampered", "tampered"), ("terms", "tampered"), ("late", "timedOut"), ("key-short", "wrongLength"),
            ("key-long", "wrongLength"), ("key-none", "wrongLength"), ("close", "unreachable"), ("cut", "unreachable"),
        ]
        for (path, name) in expected {
            let failure = try await Self.outcome(peer, path)
            #expect(failure?.name == name, "\(path): \(failure?.description ?? "was taken")")
        }
    }

    @Test("each status passes or does not")
    func statuses() async throws {
        let peer = try KeyPeer()
        let expected: [(String, String, Bool)] = [
            ("400", "refused", false), ("401", "refused", false), ("403", "refused", false),
            ("404", "refused", false), ("409", "refused", false), ("413", "refused", false),
            ("301", "refused", false), ("206", "refused", false), ("408", "unreachable", true),
            ("429", "busy", true), ("500", "unreachable", true), ("502", "unreachable", true),
            ("503", "busy", true), ("504", "unreachable", true),
        ]
        for (status, name, isPassing) in expected {
            let failure = try await Self.outcome(peer, "status/\(status)")
            #expect(failure?.name == name && failure?.isPassing == isPassing, "\(status): \(failure as Any)")
        }
    }

    @Test(
        "Retry-After is heeded, as seconds and as a date",
        arguments: [
            ("7", Duration.seconds(7)), ("0", .zero), ("999999999999999999999", .seconds(86_400)),
            ("Sun,%2006%20Nov%201994%2008:49:37%20GMT", .zero), ("soon", nil), ("-3", nil),
            ("Fri,%2031%20Dec%209999%2023:59:59%20GMT", .seconds(86_400)),
            ("Sun,%2006%20Nov%201994%2008:49%20GMT", nil),
            ("Sun,%2006%20Now%201994%2008:49:37%20GMT", nil), ("Sun,%2006%20Nov%202147485548%2008:49:37%20GMT", nil),
        ])
    func retryAfter(_ text: String, _ expected: Duration?) async throws {
        #expect(try await Self.outcome(KeyPeer(), "status/429/\(text)") == .busy(retryAfter: expected))
    }

    @Test("a server that says nothing has so much time and no more")
    func silent() async throws {
        let limit = Duration.milliseconds(300)
        #expect(try await Self.outcome(KeyPeer(), "silent", deadline: limit) == .timedOut(after: limit))
    }

    @Test("no listener at the port is a failure that passes")
    func unreachable() async throws {
        var peer: KeyPeer? = try KeyPeer()
        let url = try #require(peer).url("v1/keys")
        peer = nil
        let exchange = try Self.exchange(url)
        await #expect(throws: KeyFailure.self) { try await exchange.answer(Self.query()) }
        do throws(KeyFailure) {
            _ = try await exchange.answer(Self.query())
        } catch {
            #expect(error.name == "unreachable" && error.isPassing, "\(error)")
        }
    }

    @Test("a session asks again after what passes, and not after what does not")
    func session() async throws {
        let peer = try KeyPeer()
        let session = try Self.session(peer.url("once/503/0"))
        #expect(try await session.key(for: "a").withUnsafeBytes { Array($0) } == Self.key(of: "a"))
        let refused = try Self.session(peer.url("status/403"))
        await #expect(throws: KeyFailure.self) { try await refused.key(for: "a") }
        // The key is kept: a reader that waits on a thread has it from the session.
        let waiting = WaitingKeys(session)
        let key = try await Self.onThread { try waiting.key(for: "a").key.withUnsafeBytes { Array($0) } }
        #expect(key == Self.key(of: "a"))
    }

    private static func session(_ url: String) throws -> KeySession {
        KeySession(
            exchange: try exchange(url),
            policy: KeyPolicy(deadline: .seconds(86_400), idleTimeout: .seconds(86_400), firstPause: .milliseconds(1)),
            device: "", seed: 1,
            clock: SystemKeyClock())
    }

    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result(catching: body)) }.start()
        }
    }

    @Test(
        "URLs and options that cannot be are refused, and show no secret",
        arguments: [
            "http://user:hunter2@127.0.0.1/v1/keys", "https://hunter2@host/", "ftp://127.0.0.1/hunter2?hunter2",
            "http://keys.example/?hunter2", "http://10.0.0.1/?hunter2", "",
        ])
    func badURLs(_ url: String) throws {
        do throws(DecryptionError) {
            _ = try KeyServerExchange(url)
            Issue.record("\(url) was taken")
        } catch {
            guard case .invalidParameter = error else { throw error }
            #expect(!"\(error)".contains("hunter2") || url.hasPrefix("ftp"), "\(error)")
        }
    }

    @Test(
        "a token goes to no other machine in the clear",
        arguments: ["http://10.0.0.1/", "http://127.evil.example/", "http://[2001:db8::1]/", "http://127.1/"])
    func clearToken(_ url: String) throws {
        var options = KeyServerExchange.Options()
        options.serverKey = Self.peerKey
        // The answer is sealed by a key that is known.
        _ = try KeyServerExchange(url, options: options)
        options.token = "hunter2"
        let error = #expect(throws: DecryptionError.self) { try KeyServerExchange(url, options: options) }
        #expect("\(try #require(error))".contains("expected https, since a token would travel in the clear"))
        for own in ["http://127.0.0.1/", "http://[::1]/", "http://localhost/", "https://10.0.0.1/"] {
            _ = try KeyServerExchange(own, options: options)
        }
    }

    @Test("no failure shows the token, the query or a key")
    func noSecrets() async throws {
        let peer = try KeyPeer()
        for path in ["status/401", "status/500", "tampered", "short", "close", "other", "status/302"] {
            let exchange = try Self.exchange(peer.url(path + "?password=hunter2"))
            do throws(KeyFailure) {
                _ = try await exchange.answer(Self.query())
            } catch {
                let text = "\(error) \(String(reflecting: error))"
                #expect(!text.contains("secret-token") && !text.contains("hunter2"), "\(path): \(text)")
            }
        }
    }
}
