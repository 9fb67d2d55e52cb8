#if Network
import ByteSources
import HummingbirdCore
import Logging
package import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
package import NIOSSL
import Synchronization

/// What holds for a connection as a whole: which requests may follow, when it is closed, and that its client takes what it
/// is sent.
///
/// Stands right behind the parser, where requests still have their version.
///
/// - Source: RFC 9112, sections 3.2 (Host), 9.3 (persistence) and 9.6 (closing in stages).
final class ConnectionRules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How the connection goes on after an answer.
    private enum Persistence {
        case close
        case keepAlive
        /// As with `keepAlive`, which has to be said to a client of HTTP/1.0.
        case keepAliveSaid
    }

    private let idleTime: TimeAmount
    private let deadline: RequestDeadline
    /// Whether a request's head came and its end did not.
    private var isReceiving = false
    /// Whether an answer's head was sent and its end was not.
    private var isAnswering = false
    /// For each request that is not answered yet, in order.
    private var pending: [Persistence] = []
    /// Whether what comes in is of no interest any longer.
    private var ignoresInput = false
    private var closesAfterAnswer = false
    private var sentByteCount = 0
    private var stallCheck: Scheduled<Void>?
    /// How much had been taken when it was looked at last.
    private var takenByteCount = 0

    init(idleTime: TimeAmount, deadline: RequestDeadline) {
        self.idleTime = idleTime
        self.deadline = deadline
    }

    /// Whether nothing is under way but a request that comes.
    fileprivate var isOnlyReceiving: Bool { pending.isEmpty || isReceiving && !isAnswering }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !ignoresInput else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard Self.isAcceptable(head) else {
                ignoresInput = true
                // Answered with status 400, behind the answers that are still due.
                context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
                return
            }
            pending.append(Self.persistence(head))
            isReceiving = true
        case .body:
            break
        case .end:
            ignoresInput = pending.last == .close
            isReceiving = false
            deadline.stop()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            let persistence = pending.first ?? .close
            isAnswering = true
            closesAfterAnswer = persistence == .close || head.headers[canonicalForm: "connection"].contains("close")
            if closesAfterAnswer {
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            } else if persistence == .keepAliveSaid {
                head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let body):
            sentByteCount += body.readableBytes
            context.write(data, promise: promise)
            watch(context)
        case .end:
            if !pending.isEmpty { pending.removeFirst() }
            isAnswering = false
            guard closesAfterAnswer else {
                context.write(data, promise: promise)
                return
            }
            let written = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            written.futureResult.whenComplete { _ in
                let (rules, context) = bound.value
                rules.closeInStages(context)
            }
            context.writeAndFlush(data, promise: written)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { stallCheck?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        stallCheck?.cancel()
        stallCheck = nil
        context.fireChannelInactive()
    }

    /// Closes our direction, and the other one a little later: what a client still sends would make the system throw away
    /// the answer before it is read.
    private func closeInStages(_ context: ChannelHandlerContext) {
        ignoresInput = true
        context.close(mode: .output, promise: nil)
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.lingerTime) { channel.close(promise: nil) }
    }

    private static let lingerTime = TimeAmount.seconds(1)

    /// Looks after a while whether the client has taken anything since, as long as something is waiting for it.
    private func watch(_ context: ChannelHandlerContext) {
        guard stallCheck == nil else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        stallCheck = context.eventLoop.scheduleTask(in: idleTime) {
            let (rules, context) = bound.value
            rules.stallCheck = nil
            rules.checkProgress(context)
        }
    }

    private func checkProgress(_ context: ChannelHandlerContext) {
        let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        guard waiting > 0 else { return }
        let taken = sentByteCount - waiting
        guard taken != takenByteCount else {
            context.close(promise: nil)
            return
        }
        takenByteCount = taken
        watch(context)
    }

    private static func isAcceptable(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        // An absent host is all right in HTTP/1.0, where it did not exist.
        return head.version.major == 1 && hosts.count <= 1 && (hosts.count == 1 || head.version.minor == 0)
            && hosts.allSatisfy(isHost) && namesHost(head.uri, hosts.first ?? "")
    }

    /// Whether a target is a path, or names the host that the field names: of two of them, a proxy could go by the one and
    /// the rules behind us by the other.
    ///
    /// - Source: RFC 9112, section 3.2.2 (absolute form).
    private static func namesHost(_ target: String, _ host: String) -> Bool {
        guard target.utf8.first != UInt8(ascii: "/"), target != "*" else { return true }
        let parts = target.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count > 2 && ["http:", "https:"].contains(parts[0].lowercased()) && parts[1].isEmpty
            && !host.isEmpty && parts[2].lowercased() == host.lowercased()
    }

    /// Whether a text has no characters but those of a host and port. Source: RFC 9112, section 3.2; RFC 3986, section
    /// 3.2.2.
    private static func isHost(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~%!$&'()*+,;=:[]".utf8.contains(byte)
            }
        }
    }

    private static func persistence(_ head: HTTPRequestHead) -> Persistence {
        // The parser reads no further behind what might be another protocol.
        let mayChangeProtocol = head.method == .CONNECT || head.headers.contains(name: "upgrade")
        guard head.isKeepAlive, !mayChangeProtocol else { return .close }
        return head.version.minor == 0 ? .keepAliveSaid : .keepAlive
    }
}

@available(*, unavailable)
extension ConnectionRules: Sendable {}

/// Closes a connection whose request takes too long to come, however its bytes are spread over that time.
///
/// Stands below TLS and the parser: neither a handshake nor a header that comes byte by byte reaches those above.
final class RequestDeadline: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let time: TimeAmount
    private var rules: ConnectionRules?
    private var task: Scheduled<Void>?

    init(time: TimeAmount) {
        self.time = time
    }

    /// Says what knows how far requests and answers are.
    func use(_ rules: ConnectionRules) { self.rules = rules }

    /// The first request's time begins with the connection.
    func channelActive(context: ChannelHandlerContext) {
        if task == nil { start(context) }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if task == nil { start(context) }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
        // Each knows the other.
        rules = nil
    }

    /// A request has come to its end.
    func stop() {
        task?.cancel()
        task = nil
    }

    private func start(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        task = context.eventLoop.scheduleTask(in: time) {
            let (deadline, context) = bound.value
            deadline.task = nil
            // Bytes behind a request that is being answered wait for their turn.
            guard deadline.rules?.isOnlyReceiving ?? true else { return deadline.start(context) }
            context.close(promise: nil)
        }
    }
}

@available(*, unavailable)
extension RequestDeadline: Sendable {}

/// How many connections each address has.
final class ConnectionCounts: Sendable {
    private let limits: ServerLimits
    private let counts = Mutex<[String: Int]>([:])

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// Counts a connection, which leaves in the end if it may come.
    ///
    /// - Parameter address: The client's address.
    /// - Returns: What it is counted as, or `nil` if there are too many.
    func enter(_ address: String) -> String? {
        let known = IPAddress(address)
        let network = known?.network ?? address
        let usual = known?.isLoopback == true ? Int.max : max(limits.connectionCount / 4, 1)
        let maximum = limits.addressConnectionCount ?? usual
        return counts.withLock { counts in
            let count = counts[network] ?? 0
            guard count < maximum else { return nil }
            counts[network] = count + 1
            return network
        }
    }

    /// A connection has ended.
    func leave(_ network: String) {
        counts.withLock { counts in
            let count = (counts[network] ?? 1) - 1
            counts[network] = count > 0 ? count : nil
        }
    }
}

extension ServerLimits {
    /// Adds what makes requests of a connection's bytes, and refuses what is none.
    package func addRequestHandlers(
        to pipeline: ChannelPipeline.SynchronousOperations, tls: NIOSSLContext? = nil
    ) throws {
        var decoder = NIOHTTPDecoderLimitConfiguration()
        decoder.maxHeaderFieldSize = headerByteCount
        decoder.maxHeaderListSize = headerByteCount
        decoder.maxHeaderFieldCount = fieldCount
        let deadline = RequestDeadline(time: .milliseconds(requestMilliseconds))
        try pipeline.addHandler(deadline)
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoder)
        let rules = ConnectionRules(idleTime: .milliseconds(idleMilliseconds), deadline: deadline)
        deadline.use(rules)
        try pipeline.addHandler(rules)
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
    }
}

/// A connection of HTTP/1.1: Hummingbird's, with limits and our rules.
struct RangeChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let limits: ServerLimits
    /// What makes connections secure; `nil` for plain HTTP.
    let tls: NIOSSLContext?
    let counts: ConnectionCounts

    /// What the system holds for a client besides our windows; it takes twice as much for its own needs.
    private static let sendBufferByteCount: SocketOptionValue = 256 << 10

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            // Left to itself, the system takes megabytes for each client, and a slow one looks like one that has stopped.
            try channel.syncOptions?.setOption(.socketOption(.so_sndbuf), value: Self.sendBufferByteCount)
            try limits.addRequestHandlers(to: channel.pipeline.syncOperations, tls: tls)
            try channel.pipeline.syncOperations.addHandler(
                HTTPConnectionStateHandler(idleTimeout: .milliseconds(limits.idleMilliseconds), logger: logger))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopExecutor(eventLoop: value.channel.eventLoop)) {
            guard let network = counts.enter(value.channel.remoteAddress?.ipAddress ?? "") else {
                try? await value.executeThenClose { _, _ in }
                return
            }
            defer { counts.leave(network) }
            await handleHTTP(asyncChannel: value, logger: logger)
        }
    }
}
#endif
