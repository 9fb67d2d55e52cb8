#if Network
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
    package typealias OutboundOut = ByteBuffer

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
            var heads = NIOHTTPDecoderLimitConfiguration()
            heads.maxHeaderFieldSize = limits.headerByteCount
            heads.maxHeaderListSize = limits.headerByteCount
            heads.maxHeaderFieldCount = limits.fieldCount
            let (clock, now) = (RequestClock(), pipeline.eventLoop.now)
            try pipeline.addHandler(clock)
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
            try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: heads)))
            try pipeline.addHandler(HTTPConnection(self, address: address, clock: clock, now: now))
        }
    }

    /// How far the answer to the request is that came last.
    private enum Answering {
        /// There is none, or it was sent.
        case none
        /// A request's head has come, and its answer is being made.
        case awaited(isHead: Bool, saysKeepAlive: Bool)
        /// The head was sent.
        case sending(PlaintextBody)
    }

    /// What comes of a client.
    private enum Arrival {
        case part(HTTPServerRequestPart)
        /// Something that is no request, behind which nothing is read.
        case malformed
        /// The end of its direction.
        case end
    }

    private enum Closing {
        case open
        /// The answer that is under way is the last one.
        case afterAnswer
        /// Nothing that comes in is of interest any longer.
        case begun
    }

    private let setup: Setup
    private let address: String
    private let clock: RequestClock
    private var context: ChannelHandlerContext?
    private var check: RepeatedTask?

    private var closing = Closing.open
    private var answering = Answering.none
    /// Counts requests, so that no answer is taken for another one's.
    private var requestNumber = 0
    /// Whether a request's head came and its end did not.
    private var isReceiving = false
    /// The body that is being kept.
    private var body: (bytes: ByteBuffer, promise: EventLoopPromise<ByteBuffer>)?
    /// What comes of a client that does not wait for its answer.
    private var waiting: CircularBuffer<Arrival> = []
    /// More than one read of ``HTTPService/readByteCount``, or one record of TLS, has.
    private static let maxWaitingCount = 2048
    private var isDelivering = false
    /// Whether the channel would read if it might.
    private var isReadWanted = false
    /// Whether another thread has the answer's plaintext, or the event loop's others have their turn.
    private var isPaused = false
    /// How many bytes are left of this connection's turn.
    private var turn = HTTPConnection.turnByteCount
    /// Done when the last answer has left.
    private var lastAnswer: EventLoopFuture<Void>?

    /// Since when nothing has happened.
    private var quietSince: NIODeadline
    private var sentByteCount = 0
    /// How much had been taken when it was looked at last.
    private var takenByteCount = 0

    private init(_ setup: Setup, address: String, clock: RequestClock, now: NIODeadline) {
        self.setup = setup
        self.address = address
        self.clock = clock
        quietSince = now
    }

    private var isAnswering: Bool { if case .none = answering { false } else { true } }
    private var isSending: Bool { if case .sending = answering { true } else { false } }

    /// Whether what comes next has to wait: for an answer, or until the client has taken most of those before.
    private func isBusy(_ context: ChannelHandlerContext) -> Bool {
        !isReceiving && (isAnswering || !context.channel.isWritable)
    }

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
        closing = .begun
        context = nil
        check?.cancel()
        check = nil
        // Its reader and its windows are given back.
        answering = .none
        waiting = []
        body?.promise.fail(ChannelError.ioOnClosedChannel)
        body = nil
    }

    /// Closes the connection; what is not sent is not sent any longer.
    func close() {
        closing = .begun
        context?.close(promise: nil)
    }

    package func read(context: ChannelHandlerContext) {
        // Of a client that does not wait no more is taken than has come with its request.
        if isBusy(context), closing != .begun { isReadWanted = true } else { context.read() }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        arrive(.part(unwrapInboundIn(data)), context)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPParserError: arrive(.malformed, context)
        // What came before has come whole.
        case NIOSSLError.uncleanShutdown: arrive(.end, context)
        default: close()
        }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            arrive(.end, context)
        case is ChannelShouldQuiesceEvent where closing == .open:
            if isAnswering { closing = .afterAnswer } else { closeInStages(context, lingers: isReceiving) }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    private func arrive(_ arrival: Arrival, _ context: ChannelHandlerContext) {
        guard closing != .begun else { return }
        guard isBusy(context) || !waiting.isEmpty else { return receive(arrival, context) }
        // Of what is behind the last request, nothing is of interest.
        guard closing == .open else { return }
        waiting.append(arrival)
        // Where a client has closed its direction, all that it had sent is read at once.
        guard waiting.count > Self.maxWaitingCount else { return }
        waiting = []
        if isAnswering { closing = .afterAnswer } else { closeInStages(context, lingers: true) }
    }

    private func receive(_ arrival: Arrival, _ context: ChannelHandlerContext) {
        quietSince = context.eventLoop.now
        switch arrival {
        case .part(.head(let head)):
            receive(head, context)
        case .part(.body(let bytes)):
            body?.bytes.writeImmutableBuffer(bytes)
        case .part(.end):
            isReceiving = false
            clock.stop()
            if let (bytes, promise) = body { promise.succeed(bytes) }
            body = nil
            next(context)
        case .malformed:
            receiveMalformed(context)
        case .end:
            if isAnswering { closing = .afterAnswer } else { closeInStages(context, lingers: false) }
        }
    }

    private func receive(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard let request = Request(head, address: address, keepBody: { keptBody($0, context) }) else {
            return refuse(context)
        }
        clock.start(context.eventLoop.now)
        isReceiving = true
        requestNumber += 1
        if request.persistence == .close { closing = .afterAnswer }
        answering = .awaited(isHead: head.method == .HEAD, saysKeepAlive: request.persistence == .keepAliveSaid)
        setup.responder.respond(
            to: request,
            Exchange(
                connection: NIOLoopBound(self, eventLoop: context.eventLoop), eventLoop: context.eventLoop,
                requestNumber: requestNumber))
    }

    private func keptBody(_ fields: RequestFields, _ context: ChannelHandlerContext) -> EventLoopFuture<ByteBuffer>? {
        guard setup.responder.keptBodyByteCount > 0, let length = fields.contentLength.flatMap({ Int($0) }),
            length <= setup.responder.keptBodyByteCount
        else { return nil }
        let promise = context.eventLoop.makePromise(of: ByteBuffer.self)
        body = (ByteBuffer(), promise)
        return promise.futureResult
    }

    private func receiveMalformed(_ context: ChannelHandlerContext) {
        guard isReceiving else { return refuse(context) }
        isReceiving = false
        body?.promise.fail(HTTPParserError.invalidEOFState)
        body = nil
        switch answering {
        // Another answer would be taken for the next request's.
        case .none: closeInStages(context, lingers: true)
        case .sending: closing = .afterAnswer
        // The request's end is not clear, so that its answer is the refusal.
        case .awaited: refuse(context)
        }
    }

    /// Answers what is no request, and closes the connection.
    private func refuse(_ context: ChannelHandlerContext) {
        closing = .afterAnswer
        finish(Reply(status: .badRequest).head(connection: "close"), context)
    }

    /// Looks at what has come meanwhile.
    private func next(_ context: ChannelHandlerContext) {
        // An answer that is sent at once comes here again.
        guard !isDelivering else { return }
        isDelivering = true
        while closing != .begun, !isBusy(context), let arrival = waiting.popFirst() { receive(arrival, context) }
        isDelivering = false
        guard isReadWanted, closing == .begun || !isBusy(context) else { return }
        isReadWanted = false
        context.read()
    }

    /// Sends the answer to a request, if it is the one that came last.
    func send(_ reply: Reply, to number: Int) {
        guard let context, number == requestNumber, case .awaited(let isHead, let saysKeepAlive) = answering else {
            return
        }
        if reply.isLast { closing = .afterAnswer }
        var head = reply.head(connection: closing == .afterAnswer ? "close" : saysKeepAlive ? "keep-alive" : nil)
        switch reply.body {
        case .page(let page) where !isHead:
            write(head, context)
            finish(page, context)
        case .plaintext(let body):
            answering = .sending(body)
            // Another write costs more than copying a few bytes.
            if body.isWhole(upTo: Self.joinedByteCount), turn > 0, var window = try? body.next() {
                turn -= head.writeBuffer(&window)
                return finish(head, context)
            }
            write(head, context)
            sendPlaintext()
        default:
            finish(head, context)
        }
    }

    private func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        sentByteCount += bytes.readableBytes
        context.write(wrapOutboundOut(bytes), promise: nil)
    }

    /// What is sent in one piece with its head.
    private static let joinedByteCount = 16 << 10

    /// After so many bytes the others of the event loop have their turn, even if the client takes everything at once.
    private static let turnByteCount = 4 << 20

    /// Sends windows as long as the client takes them. No more than two are in memory: one that is being sent, and one that
    /// is being filled.
    private func sendPlaintext() {
        while let context, case .sending(let body) = answering, !isPaused, context.channel.isWritable {
            if turn <= 0 {
                turn = Self.turnByteCount
                body.pause()
                return goOn(context, after: .singleton) {}
            }
            if body.mayWait() {
                body.pause()
                return goOn(context, after: setup.lookups) {
                    body.fillNext()
                    // Many may be filled before the event loop looks at the first.
                    body.pause()
                }
            }
            do {
                let window = try body.next()
                turn -= window.readableBytes
                body.give(window)
                if body.isAtEnd { return finish(window, context) }
                write(window, context)
                context.flush()
            } catch {
                return close()
            }
        }
        if case .sending(let body) = answering, !isPaused { body.pause() }
    }

    /// Goes on when a thread has done some work.
    private func goOn(
        _ context: ChannelHandlerContext, after threads: NIOThreadPool, _ work: @escaping @Sendable () -> Void
    ) {
        isPaused = true
        let (bound, eventLoop) = (NIOLoopBound(self, eventLoop: context.eventLoop), context.eventLoop)
        threads.submit { _ in
            work()
            eventLoop.execute {
                bound.value.isPaused = false
                bound.value.sendPlaintext()
            }
        }
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        sendPlaintext()
        next(context)
        context.fireChannelWritabilityChanged()
    }

    /// Sends the last bytes of an answer.
    private func finish(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        let isSent = context.eventLoop.makePromise(of: Void.self)
        lastAnswer = isSent.futureResult
        if case .sending(let body) = answering {
            body.release()
            // Its last window counts until it has left.
            isSent.futureResult.whenComplete { _ in withExtendedLifetime(body) {} }
        }
        answering = .none
        quietSince = context.eventLoop.now
        sentByteCount += bytes.readableBytes
        context.writeAndFlush(wrapOutboundOut(bytes), promise: isSent)
        if closing == .afterAnswer { closeInStages(context, lingers: true) } else { next(context) }
    }

    /// Closes the connection once everything is sent. One that lingers has its other direction closed a little later: what
    /// a client still sends would make the system throw away the answer before it is read.
    private func closeInStages(_ context: ChannelHandlerContext, lingers: Bool) {
        closing = .begun
        waiting = []
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        (lastAnswer ?? context.eventLoop.makeSucceededVoidFuture()).whenComplete { _ in
            guard let context = bound.value.context else { return }
            guard lingers else { return context.close(promise: nil) }
            context.close(mode: .output, promise: nil)
            let channel = context.channel
            context.eventLoop.scheduleTask(in: Self.lingerTime) { channel.close(promise: nil) }
        }
        next(context)
    }

    static let lingerTime = TimeAmount.seconds(1)

    private func checkTimes() {
        guard let context else { return }
        let (now, limits) = (context.eventLoop.now, setup.limits)
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        let taken = sentByteCount - buffered
        if taken != takenByteCount {
            takenByteCount = taken
            quietSince = now
        } else if case .sending(let body) = answering, !isPaused {
            body.release()
        }
        // Bytes behind a request that is being answered wait for their turn.
        let isServing = isAnswering && (!isReceiving || isSending)
        if isServing || buffered > 0 || closing == .begun { clock.restart(now) }
        let isLate = clock.since.map { now - $0 >= .milliseconds(limits.requestMilliseconds) } ?? false
        // An answer that is being made takes as long as it takes.
        let mayBeQuiet = isServing && buffered == 0
        if isLate || !mayBeQuiet && now - quietSince >= .milliseconds(limits.idleMilliseconds) { close() }
    }
}

@available(*, unavailable)
extension HTTPConnection: Sendable {}
#endif
