#if Network
import ByteSources
import HLS
import Keys
import NIOCore
import NIOHTTP1
import NIOPosix

/// Answers requests for keys.
struct KeyResponder: Responder {
    private let server: KeyServer
    private let lookups: NIOThreadPool
    private let turns = LookupTurns(maxRunningCount: ServerLimits.clientLookupCount)
    private let limiter: RateLimiter
    private let seen: ReplayCache
    private let sealer: AnswerSealer

    init(server: KeyServer, lookups: NIOThreadPool) {
        self.server = server
        self.lookups = lookups
        limiter = RateLimiter(rate: server.rate, burst: server.burst)
        let now = server.clock.now()
        seen = ReplayCache(
            toleranceMilliseconds: KeyTiming.milliseconds(server.clockTolerance),
            startedAt: KeyTiming.milliseconds(now.wall), now.monotonic)
        sealer = AnswerSealer(
            identity: server.identity,
            lifetimeMilliseconds: UInt32(clamping: KeyTiming.milliseconds(server.answerLifetime)))
    }

    /// The max length of a request for keys, which is a body.
    var keptBodyByteCount: Int { KeyRequest.maxByteCount }

    /// Answers one request. If there is no answer, the client is gone.
    func respond(to request: Request, _ exchange: Exchange) {
        Task {
            do {
                exchange.send(try await answer(to: request))
            } catch let refusal as ErrorReply {
                var reply = refusal.reply
                // Nothing more is read, so that a slow body does not hold a connection.
                reply.isLast = (400..<500).contains(reply.status.code)
                exchange.send(reply)
            } catch {
                exchange.close()
            }
        }
    }

    private func answer(to request: Request) async throws -> Reply {
        guard request.target.prefix(while: { $0 != "?" }) == KeyServer.path else {
            throw ErrorReply(status: .notFound, reason: "no such resource: expected \(KeyServer.path)")
        }
        guard request.method == .POST else {
            throw ErrorReply(status: .methodNotAllowed, reason: "expected POST", fields: ["Allow": "POST"])
        }
        var asked = KeyAudit.Question(address: request.address, time: KeyTiming.milliseconds(now.wall))
        do {
            return try await answer(to: request, &asked)
        } catch let refusal as ErrorReply {
            if let result = refusal.result, await !note(refusal: result, asked) {
                server.report("the audit cannot be written: a refused request has no line")
            }
            throw refusal
        }
    }

    private func note(refusal result: String, _ asked: KeyAudit.Question) async -> Bool {
        await kept {
            result == "limited"
                ? server.audit.noteLimited(asked) : server.audit.note(refusal: result, asked)
        }
    }

    /// Writes to the audit, on a thread that may wait for a disk or a pipe.
    private func kept(_ note: @escaping @Sendable () -> Bool) async -> Bool {
        (try? await NIOThreadPool.singleton.runIfActive(note)) ?? false
    }

    private func answer(to request: Request, _ asked: inout KeyAudit.Question) async throws -> Reply {
        let network = IPAddress(asked.address)?.network ?? asked.address
        let client = try client(of: request, network)
        asked.client = client.name
        // A client's name has no space in it, so the names cannot collide.
        let name = client.name ?? "at \(network)"
        // Checked before anything is read for a client that asks too often.
        try admit(0, by: name)
        let bytes: [UInt8]
        let question: KeyRequest
        do {
            bytes = try await body(of: request)
            do {
                question = try KeyRequest(bytes)
            } catch {
                throw ErrorReply(status: .badRequest, reason: "\(error)", result: "malformed")
            }
        } catch {
            limiter.charge(1, to: name, at: now.monotonic)
            throw error
        }
        let (time, start) = (KeyTiming.milliseconds(now.wall), now.monotonic)
        (asked.request, asked.time) = (question, time)
        try admit(question.identifiers.count, by: name)
        try checkTime(of: question, time)
        if server.delay > .zero { try await Task.sleep(for: server.delay) }
        let outcomes = try await turns.run(for: name) {
            try await lookups.runIfActive {
                server.outcomes(for: question, client, until: start + server.delay + server.lookupTime)
            }
        }
        // Sealed before the audit says that there was an answer.
        let reply = try sealed(outcomes, question, bytes, time)
        let noted = asked
        guard await kept({ server.audit.note(outcomes.map(\.name), noted) }) else {
            server.report("the audit cannot be written: no key is given out")
            throw ErrorReply(status: .serviceUnavailable, reason: "try again later", fields: ["Retry-After": "10"])
        }
        return reply
    }

    /// Finds the client of a request. The limit counts requests without a known token, so that many of them do not lock
    /// out other clients of the same network. A token has at least 16 characters and cannot be guessed.
    private func client(of request: Request, _ network: String) throws -> KeyClients.Client {
        let mayBePage = server.certificate == nil && server.clients.admitsAll
        let refusal: ErrorReply
        if mayBePage, !BrowserRules(boundTo: server.host).admits(request) {
            refusal = ErrorReply(status: .forbidden, reason: BrowserRules.refusal, result: "unauthorized")
        } else if let client = server.clients.client(showing: request.fields.authorization) {
            return client
        } else {
            refusal = ErrorReply(
                status: .unauthorized, reason: "expected a token", result: "unauthorized",
                fields: ["WWW-Authenticate": "Bearer realm=\"chunkwise keys\""])
        }
        let stranger = "no token \(network)"
        try admit(0, by: stranger)
        limiter.charge(1, to: stranger, at: now.monotonic)
        throw refusal
    }

    private var now: ClockSample { server.clock.now() }

    private func sealed(
        _ outcomes: [KeyOutcome], _ question: KeyRequest, _ bytes: [UInt8], _ time: UInt64
    ) throws -> Reply {
        let page: ByteBuffer
        do {
            page = ByteBuffer(bytes: try sealer.seal(outcomes, for: question, bytes: bytes, at: time))
        } catch {
            throw ErrorReply(status: .badRequest, reason: "\(error)", result: "malformed")
        }
        return .page(page, type: AnswerSealer.mediaType)
    }

    private func body(of request: Request) async throws -> [UInt8] {
        let fields = request.fields
        guard fields.transferEncoding == nil, let length = fields.contentLength.flatMap({ Int($0) }) else {
            throw ErrorReply(status: .lengthRequired, reason: "expected Content-Length", result: "malformed")
        }
        guard length <= keptBodyByteCount, let body = request.body else {
            throw ErrorReply(
                status: .payloadTooLarge, reason: "\(length) bytes: expected at most \(KeyRequest.maxByteCount)",
                result: "malformed")
        }
        let type = fields.contentType ?? "none"
        guard type.lowercased().prefix(while: { $0 != ";" && $0 != " " }) == KeyRequest.mediaType else {
            throw ErrorReply(
                status: .unsupportedMediaType, reason: "expected \(KeyRequest.mediaType)", result: "malformed")
        }
        return Array(buffer: try await body.get())
    }

    private func admit(_ count: Int, by client: String) throws {
        guard let wait = limiter.wait(for: count, by: client, at: now.monotonic) else { return }
        let seconds = wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0)
        throw ErrorReply(
            status: .tooManyRequests, reason: "too many keys in too short a time", result: "limited",
            fields: ["Retry-After": "\(max(seconds, 1))"])
    }

    private func checkTime(of question: KeyRequest, _ time: UInt64) throws {
        switch seen.judge(question.number, askedAt: question.askedAt, now: time, now.monotonic) {
        case .fresh: break
        case .seen:
            throw ErrorReply(
                status: .conflict, reason: "the request came before: expected a fresh one", result: "replayed")
        case .untimely(let milliseconds):
            let maximum = KeyTiming.milliseconds(server.clockTolerance)
            throw ErrorReply(
                status: .badRequest,
                reason: "the request's time is \(milliseconds) ms from this server's: expected at most \(maximum)",
                result: "untimely")
        case .forgotten(let milliseconds):
            throw ErrorReply(
                status: .serviceUnavailable,
                reason: "the request's time is \(milliseconds) ms before what this server remembers: "
                    + "expected a later one", result: "untimely",
                fields: ["Retry-After": "\(milliseconds / 1000 + 1)"])
        case .full:
            throw ErrorReply(
                status: .serviceUnavailable, reason: "try again later", result: "overloaded",
                fields: ["Retry-After": "10"])
        }
    }
}
#endif
