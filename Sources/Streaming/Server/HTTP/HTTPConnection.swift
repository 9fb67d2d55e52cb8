#if Network
package import NIOCore
package import NIOHTTP1
package import NIOPosix
package import NIOSSL

/// An HTTP/1.1 connection. It answers one request after the other, and answers each before it looks at the next.
///
/// The handler stands right behind the parser. It decrypts an answer's plaintext when the client has taken enough of
/// the bytes before. It does so on the connection's event loop, unless the read may wait for a disk.
///
/// - Source: RFC 9112, sections 9.3 (persistence) and 9.6 (closing in stages).
package final class HTTPConnection: ChannelDuplexHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias OutboundIn = Never
    package typealias OutboundOut = ByteBuffer

    /// The settings that all connections of a server share.
    package struct Setup: Sendable {
        let limits: ServerLimits
        /// The TLS context; `nil` for plain HTTP.
        let tls: NIOSSLContext?
        /// The threads that may wait for a disk.
        let lookups: NIOThreadPool
        let responder: any Responder

        package init(limits: ServerLimits, tls: NIOSSLContext?, lookups: NIOThreadPool, responder: any Responder) {
            self.limits = limits
            self.tls = tls
            self.lookups = lookups
            self.responder = responder
        }

        /// Adds the handlers of a connection.
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

    /// The progress of the answer to the latest request.
    private enum Answering {
        /// No answer is due.
        case none
        /// The request's head has arrived, and the responder makes the answer.
        case awaited(isHead: Bool, saysKeepAlive: Bool)
        /// The answer's head was sent.
        case sending(PlaintextBody)
    }

    /// Input from a client.
    private enum Arrival {
        case part(HTTPServerRequestPart)
        /// Input that is not a request; nothing behind it is read.
        case malformed
        /// The client closed its direction.
        case end
    }

    private enum Closing {
        case open
        /// The current answer is the last one.
        case afterAnswer
        /// The connection ignores all further input.
        case begun
    }

    private let setup: Setup
    private let address: String
    private let clock: RequestClock
    private var context: ChannelHandlerContext?
    private var check: RepeatedTask?

    private var closing = Closing.open
    private var answering = Answering.none
    /// Counts requests, so that no answer goes to the wrong one.
    private var requestNumber = 0
    /// True between a request's head and its end.
    private var isReceiving = false
    /// The body that is being collected for the responder.
    private var body: (bytes: ByteBuffer, promise: EventLoopPromise<ByteBuffer>)?
    /// Input from a client that does not wait for its answer.
    private var waiting: CircularBuffer<Arrival> = []
    /// The max number of waiting inputs. One read of ``HTTPService/readByteCount``, or one TLS record, yields fewer.
    private static let maxWaitingCount = 2048
    private var isDelivering = false
    /// True if the channel asked for a read that was held back.
    private var isReadWanted = false
    /// True while another thread fills the answer's plaintext, or while other connections of the event loop have their
    /// turn.
    private var isPaused = false
    /// The bytes that are left of this connection's turn.
    private var turn = HTTPConnection.turnByteCount
    /// Completes when the last answer was written.
    private var lastAnswer: EventLoopFuture<Void>?

    /// The time of the last activity.
    private var quietSince: NIODeadline
    private var sentByteCount = 0
    /// The number of bytes that the client had taken at the last check.
    private var takenByteCount = 0

    private init(_ setup: Setup, address: String, clock: RequestClock, now: NIODeadline) {
        self.setup = setup
        self.address = address
        self.clock = clock
        quietSince = now
    }

    private var isAnswering: Bool { if case .none = answering { false } else { true } }
    private var isSending: Bool { if case .sending = answering { true } else { false } }

    /// Returns whether new input must wait for an answer, or until the client has taken most of the answers before.
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
        // This gives the body's reader and windows back.
        answering = .none
        waiting = []
        body?.promise.fail(ChannelError.ioOnClosedChannel)
        body = nil
    }

    /// Closes the connection and drops unsent bytes.
    func close() {
        closing = .begun
        context?.close(promise: nil)
    }

    package func read(context: ChannelHandlerContext) {
        // While the connection is busy, nothing is read beyond the bytes that arrived with the request.
        if isBusy(context), closing != .begun { isReadWanted = true } else { context.read() }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        arrive(.part(unwrapInboundIn(data)), context)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPParserError: arrive(.malformed, context)
        // Everything before the end arrived completely.
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
        // Input behind the last request is ignored.
        guard closing == .open else { return }
        waiting.append(arrival)
        // Once a client has closed its direction, NIO reads all that it sent at once.
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
        // The client would take a second answer for the one to its next request.
        case .none: closeInStages(context, lingers: true)
        case .sending: closing = .afterAnswer
        // The end of the request is unknown, so the refusal is its answer.
        case .awaited: refuse(context)
        }
    }

    /// Answers input that is not a request, and closes the connection.
    private func refuse(_ context: ChannelHandlerContext) {
        closing = .afterAnswer
        finish(Reply(status: .badRequest).head(connection: "close"), context)
    }

    /// Handles the input that arrived in the meantime.
    private func next(_ context: ChannelHandlerContext) {
        // An answer that is sent at once calls this method again.
        guard !isDelivering else { return }
        isDelivering = true
        while closing != .begun, !isBusy(context), let arrival = waiting.popFirst() { receive(arrival, context) }
        isDelivering = false
        guard isReadWanted, closing == .begun || !isBusy(context) else { return }
        isReadWanted = false
        context.read()
    }

    /// Sends the answer to a request, if that is the latest one.
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
            // A second write would cost more than copying a few bytes.
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

    /// The max number of plaintext bytes that are sent in one write with their head.
    private static let joinedByteCount = 16 << 10

    /// The number of bytes after which other connections of the event loop have their turn, even if the client takes
    /// everything at once.
    private static let turnByteCount = 4 << 20

    /// Sends windows while the client takes them. At most two are in memory: one that is being sent, and one that is
    /// being filled.
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
                    // Threads may fill many windows before the event loop looks at the first.
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

    /// Continues to send after a thread has done some work.
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
            // The last window counts as used until it is written.
            isSent.futureResult.whenComplete { _ in withExtendedLifetime(body) {} }
        }
        answering = .none
        quietSince = context.eventLoop.now
        sentByteCount += bytes.readableBytes
        context.writeAndFlush(wrapOutboundOut(bytes), promise: isSent)
        if closing == .afterAnswer { closeInStages(context, lingers: true) } else { next(context) }
    }

    /// Closes the connection once everything is sent. If it lingers, the other direction is closed a little later:
    /// input that still arrives after a full close would make the system discard the answer before the client reads it.
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
        // Bytes behind a request wait while its answer is made and sent; that time does not count.
        let isServing = isAnswering && (!isReceiving || isSending)
        if isServing || buffered > 0 || closing == .begun { clock.restart(now) }
        let isLate = clock.since.map { now - $0 >= .milliseconds(limits.requestMilliseconds) } ?? false
        // There is no time limit for making an answer.
        let mayBeQuiet = isServing && buffered == 0
        if isLate || !mayBeQuiet && now - quietSince >= .milliseconds(limits.idleMilliseconds) { close() }
    }
}

@available(*, unavailable)
extension HTTPConnection: Sendable {}
#endif
