#if Network
import HLS
import HTTPTypes
import HummingbirdCore
import Keys
import NIOCore
import NIOPosix
import Synchronization

/// Decides how a request for keys is answered, and sends the answer.
struct KeyResponder: Sendable {
    private let server: KeyServer
    private let lookups: NIOThreadPool
    private let limiter: RateLimiter
    private let seen: ReplayCache
    private let sealer: AnswerSealer
    private let start = ContinuousClock.now

    init(server: KeyServer, lookups: NIOThreadPool) {
        self.server = server
        self.lookups = lookups
        limiter = RateLimiter(rate: server.rate, burst: server.burst)
        seen = ReplayCache(toleranceMilliseconds: KeyTiming.milliseconds(server.clockTolerance))
        sealer = AnswerSealer(
            identity: server.identity,
            lifetimeMilliseconds: UInt32(clamping: KeyTiming.milliseconds(server.answerLifetime)))
    }

    /// Answers one request.
    ///
    /// - Throws: What makes an answer impossible to send: the connection is then closed.
    func respond(to request: Request, on channel: any Channel, with writer: consuming ResponseWriter) async throws {
        let reply: Reply
        do {
            reply = try await answer(to: request, from: channel.remoteAddress?.ipAddress ?? "")
        } catch let refusal as Refusal {
            reply = refusal.reply
        }
        try await reply.send(to: request, with: writer)
    }

    private func answer(to request: Request, from address: String) async throws -> Reply {
        guard (request.head.path ?? "").prefix(while: { $0 != "?" }) == KeyServer.path else {
            throw Refusal(status: .notFound, reason: "no such resource: expected \(KeyServer.path)")
        }
        guard request.method == .post else {
            throw Refusal(status: .methodNotAllowed, reason: "expected POST", fields: [.allow: "POST"])
        }
        var circumstances = KeyAudit.Circumstances(address: address, time: WallClock.milliseconds())
        do {
            return try await answer(to: request, &circumstances)
        } catch let refusal as Refusal {
            if let result = refusal.result, !note(result, circumstances) {
                server.report("the audit cannot be written: a refused request has no line")
            }
            throw refusal
        }
    }

    private func note(_ result: String, _ circumstances: KeyAudit.Circumstances) -> Bool {
        result == "limited"
            ? server.audit.noteLimited(circumstances) : server.audit.note(refusal: result, circumstances)
    }

    private func answer(to request: Request, _ circumstances: inout KeyAudit.Circumstances) async throws -> Reply {
        let address = circumstances.address
        guard let client = server.clients.client(request.headers) else {
            try admit(1, by: "no token \(address)")
            throw Refusal(
                status: .unauthorized, reason: "expected a token", result: "unauthorized",
                fields: [.wwwAuthenticate: "Bearer realm=\"chunkwise keys\""])
        }
        circumstances.client = client.name
        // A name has no space in it.
        let name = client.name ?? "at \(address)"
        let bytes = try await body(of: request)
        let question: KeyRequest
        do {
            question = try KeyRequest(bytes)
        } catch {
            try admit(1, by: name)
            throw Refusal(status: .badRequest, reason: "\(error)", result: "malformed")
        }
        let time = WallClock.milliseconds()
        (circumstances.request, circumstances.time) = (question, time)
        try admit(question.identifiers.count, by: name)
        try checkTime(of: question, time)
        if server.delay > .zero { try await Task.sleep(for: server.delay) }
        let outcomes = try await lookups.runIfActive { self.outcomes(for: question, client) }
        guard server.audit.note(outcomes.map(\.name), circumstances) else {
            server.report("the audit cannot be written: no key is given out")
            throw Refusal(status: .serviceUnavailable, reason: "try again later", fields: [.retryAfter: "10"])
        }
        return try sealed(outcomes, question, bytes, time)
    }

    private func sealed(
        _ outcomes: [KeyOutcome], _ question: KeyRequest, _ bytes: [UInt8], _ time: UInt64
    ) throws -> Reply {
        let page: ByteBuffer
        do {
            page = ByteBuffer(bytes: try sealer.seal(outcomes, for: question, bytes: bytes, at: time))
        } catch {
            throw Refusal(status: .badRequest, reason: "\(error)", result: "malformed")
        }
        return .page(page, type: AnswerSealer.mediaType)
    }

    private func body(of request: Request) async throws -> [UInt8] {
        let fields = request.headers
        guard fields[.transferEncoding] == nil, let length = fields[.contentLength].flatMap({ Int($0) }) else {
            throw Refusal(
                status: .lengthRequired, reason: "expected Content-Length", result: "malformed",
                fields: [.connection: "close"])
        }
        guard length <= KeyRequest.maxByteCount else {
            throw Refusal(
                status: .contentTooLarge, reason: "\(length) bytes: expected at most \(KeyRequest.maxByteCount)",
                result: "malformed", fields: [.connection: "close"])
        }
        let type = fields[.contentType] ?? "none"
        guard type.lowercased().prefix(while: { $0 != ";" && $0 != " " }) == KeyRequest.mediaType else {
            throw Refusal(
                status: .unsupportedMediaType, reason: "expected \(KeyRequest.mediaType)", result: "malformed")
        }
        return Array(buffer: try await request.body.collect(upTo: KeyRequest.maxByteCount))
    }

    private func admit(_ count: Int, by client: String) throws {
        guard let wait = limiter.wait(for: count, by: client, at: start.duration(to: .now)) else { return }
        let seconds = wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0)
        throw Refusal(
            status: .tooManyRequests, reason: "too many keys in too short a time", result: "limited",
            fields: [.retryAfter: "\(max(seconds, 1))"])
    }

    private func checkTime(of question: KeyRequest, _ time: UInt64) throws {
        switch seen.judge(question.number, askedAt: question.askedAt, now: time) {
        case .fresh: break
        case .seen:
            throw Refusal(
                status: .conflict, reason: "the request came before: expected a fresh one", result: "replayed")
        case .untimely(let milliseconds):
            let maximum = KeyTiming.milliseconds(server.clockTolerance)
            throw Refusal(
                status: .badRequest,
                reason: "the request's time is \(milliseconds) ms from this server's: expected at most \(maximum)",
                result: "untimely")
        case .full:
            throw Refusal(
                status: .serviceUnavailable, reason: "try again later", result: "overloaded",
                fields: [.retryAfter: "10"])
        }
    }

    private func outcomes(for question: KeyRequest, _ client: KeyClients.Client) -> [KeyOutcome] {
        question.identifiers.map { identifier in
            guard client.mayHave(identifier), let terms = terms(question) else { return .refused }
            do throws(KeyError) {
                let provided = try server.provider.key(for: identifier)
                for warning in provided.warnings { server.report("\(warning)") }
                guard provided.warnings.isEmpty || !server.isStrict else { return .refused }
                return .key(provided.key, terms)
            } catch {
                if case .missing = error { return .missing }
                server.report("\(ShownIdentifier.text(identifier)): \(error)")
                return .refused
            }
        }
    }

    private func terms(_ question: KeyRequest) -> KeyTerms? {
        guard question.wantsPersistable else { return .online(validity: server.validity) }
        return server.persistableTerms.map { .persistable(storage: $0.storage, playback: $0.playback) }
    }
}

/// Lets each client have so many keys a second, and a number of them at once.
///
/// A bucket of tokens for each client: it holds at most `burst` and fills evenly.
final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var at: Duration
    }

    /// How many clients are remembered before those are forgotten whose buckets are full.
    private static let maxClients = 10_000

    private let rate: Double
    private let burst: Double
    private let buckets = Mutex<[String: Bucket]>([:])

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - rate: Keys a second, more than 0.
    ///   - burst: The maximum number of keys at once, at least 1.
    init(rate: Double, burst: Int) {
        self.rate = rate
        self.burst = Double(burst)
    }

    /// Takes tokens out of a client's bucket; more than it ever holds cost what it holds.
    ///
    /// - Parameters:
    ///   - count: How many keys are asked for.
    ///   - client: The client that asks.
    ///   - now: The time, by a monotonic clock.
    /// - Returns: `nil` if there were enough, or how long it takes until there are.
    func wait(for count: Int, by client: String, at now: Duration) -> Duration? {
        let cost = min(Double(count), burst)
        return buckets.withLock { buckets in
            if buckets.count >= Self.maxClients, buckets[client] == nil {
                buckets = buckets.filter { filled($0.value, now).tokens < burst }
            }
            // While all of them are in use, no new client is served.
            guard buckets.count < Self.maxClients || buckets[client] != nil else { return .seconds(burst / rate) }
            var bucket = filled(buckets[client] ?? Bucket(tokens: burst, at: now), now)
            defer { buckets[client] = bucket }
            guard bucket.tokens < cost else {
                bucket.tokens -= cost
                return nil
            }
            return .seconds((cost - bucket.tokens) / rate)
        }
    }

    private func filled(_ bucket: Bucket, _ now: Duration) -> Bucket {
        let gained = max(now - bucket.at, .zero) / .seconds(1) * rate
        return Bucket(tokens: min(burst, bucket.tokens + gained), at: max(now, bucket.at))
    }
}

/// Remembers the numbers of requests for as long as they could be sent again.
final class ReplayCache: Sendable {
    /// What is said about a request.
    enum Verdict: Hashable {
        case fresh
        case seen
        /// Its time is not this server's, and by how much in milliseconds.
        case untimely(UInt64)
        /// There have been too many in too short a time.
        case full
    }

    private struct State {
        /// Numbers of the current period and of the one before.
        var newer: Set<[UInt8]> = []
        var older: Set<[UInt8]> = []
        var start: UInt64 = 0
    }

    /// How many numbers a period may have, some 50 MB of them. Where one could not be remembered, its request could
    /// be answered twice, and so is not answered at all.
    static let maxNumbers = 500_000

    private let tolerance: UInt64
    private let state = Mutex(State())

    /// Creates an empty memory.
    ///
    /// - Parameter tolerance: How far a request's time may be from this server's, in milliseconds.
    init(toleranceMilliseconds tolerance: UInt64) {
        self.tolerance = tolerance
    }

    /// Looks at a request and remembers it.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - askedAt: Its time, in milliseconds since 1970-01-01 00:00 UTC.
    ///   - now: The server's.
    /// - Returns: Whether it is to be answered.
    func judge(_ number: [UInt8], askedAt: UInt64, now: UInt64) -> Verdict {
        let difference = askedAt > now ? askedAt - now : now - askedAt
        guard difference <= tolerance else { return .untimely(difference) }
        return state.withLock { state in
            // What comes early by the tolerance could come again until it is late by the tolerance.
            let period = 2 * tolerance + 1
            let elapsed = now - min(state.start, now)
            if elapsed >= period {
                state.older = elapsed < 2 * period ? state.newer : []
                state.newer = []
                state.start = now
            }
            guard !state.newer.contains(number), !state.older.contains(number) else { return .seen }
            guard state.newer.count < Self.maxNumbers else { return .full }
            state.newer.insert(number)
            return .fresh
        }
    }
}
#endif
