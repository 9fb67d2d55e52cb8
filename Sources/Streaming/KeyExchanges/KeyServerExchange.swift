#if Network
import Glibc
public import HTTPSources
public import Keys
public import RandomAccess

/// The keys of a key server, over HTTP or HTTPS. Each answer is sealed to a key that the client made for its request.
///
/// Any number of threads may share an exchange. It keeps its connections.
/// - Source: KEY-PROTOCOL.md.
public final class KeyServerExchange: KeyExchange {
    private let post: HTTPPost
    private let options: Options

    /// Prepares an exchange, without any request so far.
    ///
    /// - Parameters:
    ///   - url: The server's URL, without credentials. Plain `http` is allowed for a server on this machine. It is also
    ///     allowed for a server with a known ``Options/serverKey`` that needs no token, because a token could be read
    ///     on the way.
    ///   - options: The trusted servers and the time limit.
    /// - Throws: `DecryptionError.invalidParameter` for an invalid URL or option, `.io` for a TLS policy that cannot be
    ///   applied. No error shows a user name, a password or a query.
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
                name: "key server", value: post.shownURL, expected: "https, or the server's key beside plain http")
        }
        guard post.isSecure || post.isLoopback || options.token == nil else {
            throw .invalidParameter(
                name: "key server", value: post.shownURL,
                expected: "https, since a token would travel in the clear")
        }
        self.options = options
    }

    /// The warnings that every result must show; see `TLSPolicy.warnings`.
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
            at: WallClock.milliseconds())
        let start = ContinuousClock.now
        var fields = [("Content-Type", KeyRequest.mediaType), ("Accept", AnswerSealer.mediaType)]
        if let token = options.token { fields.append(("Authorization", "Bearer \(token)")) }
        let answer: HTTPPost.Answer
        do throws(HTTPFailure) {
            answer = try await post.send(
                request.bytes, fields: fields, maxByteCount: request.maxAnswerByteCount, within: options.deadline)
        } catch {
            throw KeyFailure(error, deadline: options.deadline)
        }
        if let failure = KeyFailure(answer, from: post.shownURL) { throw failure }
        return try request.open(
            answer.body, elapsed: start.duration(to: .now), serverKey: options.serverKey)
    }
}

extension KeyServerExchange {
    /// The trusted servers and the time limit of an exchange.
    public struct Options: Sendable {
        /// The rules by which servers are trusted over `https`.
        public var policy = TLSPolicy()
        /// The token that the client presents as `Authorization: Bearer`. No error shows it.
        public var token: String?
        /// The server's X25519 public key, 32 bytes. The server must prove that it has the private key, in addition to
        /// its certificate or in place of one.
        public var serverKey: [UInt8]?
        /// The max duration of one exchange; a session may wait for less.
        public var deadline = Duration.seconds(10)

        /// The default options; they have no token and no server's key.
        public init() {}
    }
}

/// The failures that the results of HTTP requests mean to a session.
extension KeyFailure {
    /// The failure for a request without an answer.
    init(_ failure: HTTPFailure, deadline: Duration) {
        switch failure {
        case .noAnswer, .late: self = .timedOut(after: deadline)
        case .tls(.silent(_, let milliseconds)): self = .timedOut(after: .milliseconds(milliseconds))
        case .tls(.closed(let count)): self = .unreachable(reason: "\(TLSFailure.closed(afterByteCount: count))")
        // A certificate or a protocol will be the same a moment later.
        case .tls(let failure): self = .refused(reason: "\(failure)")
        case .unreachable(let reason): self = .unreachable(reason: reason)
        case .closedBeforeAnswer, .closedInBody:
            self = .unreachable(reason: "the connection was closed: expected an answer first")
        case .tooLong(let count):
            self = .malformed(reason: "its body has more than \(count) bytes: expected at most what was asked for")
        case let failure: self = .malformed(reason: "\(failure)")
        }
    }

    /// The failure for an answer without keys; `nil` for an answer that may have some.
    ///
    /// - Source: KEY-PROTOCOL.md, "Errors"; RFC 9110, section 15.
    init?(_ answer: HTTPPost.Answer, from url: String) {
        switch answer.status {
        case 200:
            let type = answer["Content-Type"] ?? "none"
            guard type.lowercased().prefix(AnswerSealer.mediaType.count) != AnswerSealer.mediaType else { return nil }
            self = .malformed(reason: "its type is \(Self.excerpt(type)): expected \(AnswerSealer.mediaType)")
        case 429, 503: self = .busy(retryAfter: Self.retryAfter(answer["Retry-After"], date: answer["Date"]))
        case 408, 500, 502, 504:
            self = .unreachable(reason: "\(url) answers with status \(answer.status): expected 200")
        case 401, 403:
            self = .refused(reason: "\(url) answers with status \(answer.status): expected a token that it knows")
        case 404, 405, 410:
            self = .refused(reason: "\(url) answers with status \(answer.status): expected the URL of a key server")
        case 300..<400:
            self = .refused(
                reason: "\(url) answers with status \(answer.status): expected the URL of the server itself")
        default:
            // The servers of this project give the reason in the first line.
            let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
            let line = text.split(separator: "\n").first.map(String.init) ?? ""
            self = .refused(
                reason: "\(url) answers with status \(answer.status): expected 200"
                    + (line.isEmpty ? "" : " (\(Self.excerpt(line)))"))
        }
    }

    /// Returns a text from the server as a part of a line.
    private static func excerpt(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20..<0x7F).contains($0) }.prefix(120), as: UTF8.self)
    }

    /// Returns the pause for a number of seconds or a date, at most a day. Source: RFC 9110, section 10.2.3.
    static func retryAfter(_ text: String?, date: String?) -> Duration? {
        guard let text else { return nil }
        let day = 86_400
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int(text) ?? day, day))
        }
        // The server's own clock counts, if the answer shows it.
        guard let then = Self.time(text) else { return nil }
        let now = date.flatMap(Self.time) ?? Glibc.time(nil)
        return .seconds(min(max(then - now, 0), day))
    }

    /// Reads a date in the form that RFC 9110, section 5.6.7, prefers, as seconds since 1970. The corresponding C
    /// function is `timegm`.
    private static func time(_ text: String) -> Int? {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: words[2]),
            let day = Int32(words[1]), let year = Int32(words[3]), (1970...9999).contains(year)
        else { return nil }
        let clock = words[4].split(separator: ":").compactMap { Int32($0) }
        guard clock.count == 3 else { return nil }
        var date = tm()
        (date.tm_year, date.tm_mon, date.tm_mday) = (year - 1900, Int32(month), day)
        (date.tm_hour, date.tm_min, date.tm_sec) = (clock[0], clock[1], clock[2])
        return timegm(&date)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
#endif
