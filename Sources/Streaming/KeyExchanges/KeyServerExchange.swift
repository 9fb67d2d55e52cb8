#if Network
import Glibc
public import HTTPSources
public import Keys
public import RandomAccess

/// The keys of a key server, over HTTP or HTTPS: each answer is sealed to a key that was made for its request.
///
/// Shared by any number of threads. Connections are kept.
/// - Source: KEY-PROTOCOL.md.
public final class KeyServerExchange: KeyExchange {
    private let post: HTTPPost
    private let options: Options

    /// Prepares an exchange; nothing is asked yet.
    ///
    /// - Parameters:
    ///   - url: The server's URL, without credentials. Plain `http` is for a server on this machine, or one whose
    ///     ``Options/serverKey`` is known.
    ///   - options: Whom to believe, and how long to wait.
    /// - Throws: `DecryptionError.invalidParameter` for a URL or an option that cannot be, `.io` for a TLS policy that
    ///   cannot be followed. None of them shows a user name, a password or a query.
    public init(_ url: String, options: Options = Options()) throws(DecryptionError) {
        if let key = options.serverKey, key.count != 32 {
            throw .invalidParameter(name: "server's key", value: "of \(key.count) bytes", expected: "32 bytes")
        }
        guard options.deadline > .zero, options.deadline <= .seconds(3600) else {
            throw .invalidParameter(
                name: "time limit", value: "\(options.deadline)", expected: "more than 0, at most 1 h")
        }
        if let token = options.token {
            guard !token.isEmpty, token.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
                throw .invalidParameter(
                    name: "token", value: "of \(token.utf8.count) bytes", expected: "printable ASCII without spaces")
            }
        }
        post = try HTTPPost(url, policy: options.policy, idleTimeout: options.deadline)
        guard post.isSecure || post.isLoopback || options.serverKey != nil else {
            throw .invalidParameter(
                name: "key server", value: post.place, expected: "https, or the server's key beside plain http")
        }
        self.options = options
    }

    /// What every result must say; see `TLSPolicy.warnings`.
    public var warnings: [String] { post.isSecure ? options.policy.warnings : [] }

    /// Asks the server, in as many requests as the protocol needs; see `KeyExchange.answer(_:)`.
    public func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        var keys: [ExchangedKey] = []
        var askable: [String] = []
        for identifier in query.identifiers {
            if (1...KeyRequest.maxIdentifierByteCount).contains(identifier.utf8.count) {
                askable.append(identifier)
            } else {
                let reason =
                    "the identifier has \(identifier.utf8.count) bytes: expected 1 to "
                    + "\(KeyRequest.maxIdentifierByteCount)"
                keys.append(ExchangedKey(identifier, failure: .refused(reason: reason)))
            }
        }
        for start in stride(from: 0, to: askable.count, by: KeyRequest.maxIdentifiers) {
            let part = Array(askable[start..<min(start + KeyRequest.maxIdentifiers, askable.count)])
            keys += try await ask(part, query)
        }
        return keys
    }

    private func ask(_ identifiers: [String], _ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        let request = PendingRequest(
            identifiers: identifiers, route: query.route.name, wantsPersistable: query.wantsPersistable,
            at: Self.now())
        let start = ContinuousClock.now
        var fields = [("Content-Type", KeyRequest.mediaType), ("Accept", AnswerSealer.mediaType)]
        if let token = options.token { fields.append(("Authorization", "Bearer \(token)")) }
        let answer: HTTPPost.Answer
        do throws(HTTPPost.Failure) {
            answer = try await post.send(
                request.bytes, fields: fields, maxByteCount: request.maxAnswerByteCount, within: options.deadline)
        } catch {
            throw KeyFailure(error, deadline: options.deadline)
        }
        if let failure = KeyFailure(answer, from: post.place) { throw failure }
        return try request.open(
            answer.body, elapsed: start.duration(to: .now), serverKey: options.serverKey)
    }

    /// Milliseconds since 1970-01-01 00:00 UTC. The corresponding C function is `clock_gettime`.
    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(time.tv_sec, 0)) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}

extension KeyServerExchange {
    /// Whom an exchange believes, and how long it waits.
    public struct Options: Sendable {
        /// Which servers are taken, over `https`.
        public var policy = TLSPolicy()
        /// What the client shows, as `Authorization: Bearer`. It is part of no error.
        public var token: String?
        /// The X25519 public key that the server must prove that it has the private one of, 32 bytes: beside its
        /// certificate, or in place of one.
        public var serverKey: [UInt8]?
        /// How long one exchange may take; a session may have less patience.
        public var deadline = Duration.seconds(10)

        /// Creates options.
        public init() {}
    }
}
#endif
