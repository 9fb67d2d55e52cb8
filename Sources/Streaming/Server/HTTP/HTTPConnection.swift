#if Network
import HTTPTypes
package import NIOCore
package import NIOHTTP1
package import NIOPosix
package import NIOSSL

/// A connection of HTTP/1.1: one request after the other, each answered before the next one is looked at.
///
/// Stands right behind the parser. An answer's plaintext is decrypted when the client has taken enough of what was there
/// before, on the connection's event loop unless it may wait for a disk.
///
/// - Source: RFC 9112, sections 9.3 (persistence) and 9.6 (closing in stages).
package final class HTTPConnection: ChannelDuplexHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias OutboundIn = Never
    package typealias OutboundOut = HTTPServerResponsePart

    /// What all connections of a server have.
    package struct Setup: Sendable {
        let limits: ServerLimits
        /// What makes connections secure; `nil` for plain HTTP.
        let tls: NIOSSLContext?
        /// The threads that may wait for a disk.
        let lookups: NIOThreadPool
        let responder: any Responder

        /// Creates what connections have.
        package init(limits: ServerLimits, tls: NIOSSLContext?, lookups: NIOThreadPool, responder: any Responder) {
            self.limits = limits
            self.tls = tls
            self.lookups = lookups
            self.responder = responder
        }

        /// Adds what a connection is made of.
        package func addHandlers(to pipeline: ChannelPipeline.SynchronousOperations, address: String) throws {
            var decoder = NIOHTTPDecoderLimitConfiguration()
            decoder.maxHeaderFieldSize = limits.headerByteCount
            decoder.maxHeaderListSize = limits.headerByteCount
            decoder.maxHeaderFieldCount = limits.fieldCount
            let clock = RequestClock()
            try pipeline.addHandler(clock)
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoder)
            try pipeline.addHandler(HTTPConnection(self, address: address, clock: clock))
        }
    }

    /// How far the answer to the request is that came last.
    private enum Answering {
        /// There is none, or it was sent.
        case none
        /// A request's head has come, and its answer is being made.
        case awaited(isHead: Bool, RequestRules.Persistence)
        /// The head was sent.
        case sending(PlaintextBody)
    }

    private let setup: Setup
    private let address: String
    private let clock: RequestClock
    private var context: ChannelHandlerContext?
    private var check: RepeatedTask?

    private var answering = Answering.none
    /// Whether a request's head came and its end did not.
    private var isReceiving = false
    /// The body that is being kept.
    private var body: (bytes: ByteBuffer, promise: EventLoopPromise<ByteBuffer>)?
    /// What comes of a client that does not wait for its answer, in parts of requests; one read has less.
    private static let maxWaitingCount = 1 << 14
    private var waiting: CircularBuffer<HTTPServerRequestPart> = []
    private var isDelivering = false
    /// Whether the channel would read if it might.
    private var isReadWanted = false

    /// Whether another thread has the answer's plaintext.
    private var isFilling = false
    /// Whether what comes in is of no interest any longer.
    private var ignoresInput = false
    private var isInputClosed = false
    /// Whether the bytes behind the last request are none.
    private var hasBadInput = false
    private var isStopping = false
    private var closesAfterAnswer = false
    /// Done when the last answer has left.
    private var lastAnswer: EventLoopFuture<Void>?

    /// Since when nothing has happened.
    private var quietSince = NIODeadline.now()
    private var sentByteCount = 0
    /// How much had been taken when it was looked at last.
    private var takenByteCount = 0

    private init(_ setup: Setup, address: String, clock: RequestClock) {
        self.setup = setup
        self.address = address
        self.clock = clock
    }

    private var isAnswering: Bool { if case .none = answering { false } else { true } }
    /// Whether what comes next has to wait.
    private var isBusy: Bool { isAnswering && !isReceiving }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let time = min(setup.limits.requestMilliseconds, setup.limits.idleMilliseconds)
        let period = TimeAmount.milliseconds(max(time / 8, 1))
        check = context.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
            bound.value.checkTimes()
        }
    }

    package func handlerRemoved(context: ChannelHandlerContext) { end() }

    package func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        context = nil
        check?.cancel()
        check = nil
        // Its reader and its windows are given back.
        answering = .none
        waiting = []
        body?.promise.fail(ChannelError.ioOnClosedChannel)
        body = nil
    }

    package func read(context: ChannelHandlerContext) {
        // Of a client that does not wait no more is taken than has come with its request.
        if isBusy { isReadWanted = true } else { context.read() }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !ignoresInput else { return }
        let part = unwrapInboundIn(data)
        // Where a client has closed its direction, all that it had sent is read at once.
        guard waiting.count < Self.maxWaitingCount else { return context.close(promise: nil) }
        if isBusy || !waiting.isEmpty { waiting.append(part) } else { receive(part, context) }
    }

    private func receive(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        quietSince = .now()
        switch part {
        case .head(let head):
            guard let request = RequestRules.request(head, isSecure: setup.tls != nil) else { return refuse(context) }
            isReceiving = true
            answering = .awaited(isHead: head.method == .HEAD, RequestRules.persistence(head))
            let asked = Request(head: request, body: keptBody(request.headerFields, context), address: address)
            let exchange = Exchange(
                connection: NIOLoopBound(self, eventLoop: context.eventLoop), eventLoop: context.eventLoop)
            setup.responder.respond(to: asked, exchange)
        case .body(let bytes):
            body?.bytes.writeImmutableBuffer(bytes)
        case .end:
            isReceiving = false
            clock.stop()
            if let (bytes, promise) = body { promise.succeed(bytes) }
            body = nil
            if case .awaited(_, .close) = answering { ignoresInput = true }
            next(context)
        }
    }

    private func keptBody(_ fields: HTTPFields, _ context: ChannelHandlerContext) -> EventLoopFuture<ByteBuffer>? {
        guard setup.responder.keptBodyByteCount > 0, let length = fields[.contentLength].flatMap({ Int($0) }),
            length <= setup.responder.keptBodyByteCount
        else { return nil }
        let promise = context.eventLoop.makePromise(of: ByteBuffer.self)
        body = (ByteBuffer(), promise)
        return promise.futureResult
    }

    /// Looks at what has come meanwhile.
    private func next(_ context: ChannelHandlerContext) {
        // An answer that is sent at once comes here again.
        guard !isDelivering else { return }
        isDelivering = true
        while !isBusy, !ignoresInput, let part = waiting.popFirst() { receive(part, context) }
        isDelivering = false
        guard !isBusy, !isAnswering else { return }
        if hasBadInput, !ignoresInput { return refuse(context) }
        if (isInputClosed || isStopping && !isReceiving) && !ignoresInput { return closeInStages(context) }
        guard isReadWanted else { return }
        isReadWanted = false
        context.read()
    }

    /// Answers what is no request, and closes the connection.
    private func refuse(_ context: ChannelHandlerContext) {
        let fields: HTTPHeaders = ["Connection": "close", "Content-Length": "0"]
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .badRequest, headers: fields))),
            promise: nil)
        closesAfterAnswer = true
        finish(context)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError else { return context.close(promise: nil) }
        guard !ignoresInput else { return }
        hasBadInput = true
        if isReceiving {
            switch answering {
            // Another answer would be taken for the next request's.
            case .none: return context.close(promise: nil)
            case .sending: closesAfterAnswer = true
            // Its end is not clear, so that its answer is the refusal.
            case .awaited: answering = .none
            }
            isReceiving = false
            body?.promise.fail(error)
            body = nil
        }
        next(context)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            isInputClosed = true
            next(context)
        case is ChannelShouldQuiesceEvent:
            isStopping = true
            closesAfterAnswer = closesAfterAnswer || isAnswering || isReceiving
            next(context)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Closes the connection; what is not sent is not sent any longer.
    func close() { context?.close(promise: nil) }

    /// Sends the answer to the request that came last.
    func send(_ reply: Reply) {
        guard let context, case .awaited(let isHead, let persistence) = answering else { return }
        var head = HTTPResponseHead(
            version: .http1_1, status: .init(statusCode: reply.status.code, reasonPhrase: reply.status.reasonPhrase),
            headers: HTTPHeaders(reply.headFields.map { ($0.name.rawName, $0.value) }))
        closesAfterAnswer = closesAfterAnswer || persistence == .close || reply.fields[.connection] == "close"
        if closesAfterAnswer {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        } else if persistence == .keepAliveSaid {
            head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        switch reply.body {
        case .page(let page) where !isHead:
            write(page, context)
            finish(context)
        case .plaintext(let body):
            answering = .sending(body)
            sendPlaintext()
        default:
            finish(context)
        }
    }

    private func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        sentByteCount += bytes.readableBytes
        context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
    }

    /// After so many bytes the others of the event loop have their turn, even if the client takes everything at once.
    private static let turnByteCount = 4 << 20

    /// Sends windows as long as the client takes them. No more than two are in memory: one that is being sent, and one that
    /// is being filled.
    private func sendPlaintext() {
        var turn = Self.turnByteCount
        while let context, case .sending(let body) = answering, !isFilling, context.channel.isWritable {
            guard turn > 0, !body.mayWait else { return fill(body, elsewhere: turn > 0, context) }
            do {
                turn -= try writeWindow(of: body, context)
            } catch {
                return context.close(promise: nil)
            }
        }
        if case .sending(let body) = answering, !isFilling { body.pause() }
    }

    private func writeWindow(of body: PlaintextBody, _ context: ChannelHandlerContext) throws -> Int {
        let window = try body.next()
        write(window, context)
        body.give(window)
        if body.isAtEnd { finish(context) } else { context.flush() }
        return window.readableBytes
    }

    /// Goes on with a window that another thread fills, or after another thread has had a moment.
    private func fill(_ body: PlaintextBody, elsewhere: Bool, _ context: ChannelHandlerContext) {
        isFilling = true
        body.pause()
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        let threads = elsewhere ? setup.lookups : NIOThreadPool.singleton
        threads.submit { _ in
            if elsewhere {
                body.fill()
                // Many may be filled before the event loop looks at the first.
                body.pause()
            }
            eventLoop.execute {
                bound.value.isFilling = false
                bound.value.sendPlaintext()
            }
        }
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        sendPlaintext()
        context.fireChannelWritabilityChanged()
    }

    private func finish(_ context: ChannelHandlerContext) {
        answering = .none
        quietSince = .now()
        let isSent = context.eventLoop.makePromise(of: Void.self)
        lastAnswer = isSent.futureResult
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: isSent)
        if closesAfterAnswer { closeInStages(context) } else { next(context) }
    }

    /// Closes our direction once everything is sent, and the other one a little later: what a client still sends would make
    /// the system throw away the answer before it is read.
    private func closeInStages(_ context: ChannelHandlerContext) {
        ignoresInput = true
        waiting = []
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        (lastAnswer ?? context.eventLoop.makeSucceededVoidFuture()).whenComplete { _ in
            guard let context = bound.value.context else { return }
            // It sends nothing more, or has sent nothing.
            guard !bound.value.isInputClosed, bound.value.closesAfterAnswer else { return context.close(promise: nil) }
            context.close(mode: .output, promise: nil)
            let channel = context.channel
            context.eventLoop.scheduleTask(in: Self.lingerTime) { channel.close(promise: nil) }
        }
        if isReadWanted { context.read() }
    }

    private static let lingerTime = TimeAmount.seconds(1)

    private func checkTimes() {
        guard let context else { return }
        let (now, limits) = (NIODeadline.now(), setup.limits)
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        let taken = sentByteCount - buffered
        if taken != takenByteCount {
            takenByteCount = taken
            quietSince = now
        } else if case .sending(let body) = answering, !isFilling {
            body.release()
        }
        // Bytes behind a request that is being answered wait for their turn.
        if isBusy || isReceiving && isSending { clock.restart() }
        let isLate = clock.since.map { now - $0 >= .milliseconds(limits.requestMilliseconds) } ?? false
        // An answer that is being made takes as long as it takes.
        let mayBeQuiet = isAnswering && buffered == 0
        guard isLate || !mayBeQuiet && now - quietSince >= .milliseconds(limits.idleMilliseconds) else { return }
        context.close(promise: nil)
    }

    private var isSending: Bool { if case .sending = answering { true } else { false } }
}

@available(*, unavailable)
extension HTTPConnection: Sendable {}
#endif
