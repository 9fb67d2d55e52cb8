#if Network
import Keys
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A key server on loopback that has the speed of a plan. It speaks HTTP/1.1 and has one key for all clients.
final class LoopbackKeyServer: Sendable {
    /// The key of all requests; it protects nothing.
    static let key = Array("loopback-key-016".utf8)

    /// The header with the time for which an answer was to be held, in nanoseconds of the machine's clock.
    static let heldName = "x-held-nanoseconds"

    /// The port on 127.0.0.1 that it listens on.
    let port: Int

    private let channel: any Channel
    private let state: KeyServerState

    /// Starts a server on a free port.
    ///
    /// - Throws: An error of NIO.
    init(_ queue: ServerQueue, clock: ScaledKeyClock) async throws {
        let state = KeyServerState(queue, clock)
        self.state = state
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 4096)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(KeyRequestHandler(state))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    /// The arrival times of all requests so far.
    var arrivals: [Duration] { state.queue.withLock { $0.arrivals } }

    /// Stops accepting connections.
    func stop() async {
        try? await channel.close().get()
    }
}

/// The state that all connections share.
final class KeyServerState: Sendable {
    let queue: Mutex<ServerQueue>
    let clock: ScaledKeyClock

    init(_ queue: ServerQueue, _ clock: ScaledKeyClock) {
        self.queue = Mutex(queue)
        self.clock = clock
    }

    /// Takes in a request.
    ///
    /// - Returns: The time to wait before the answer, by the machine's clock; `nil` if the request is turned away.
    func arrive() -> Duration? {
        queue.withLock { queue in
            // The lock makes requests arrive in the order of their times.
            let now = clock.now().monotonic
            switch queue.arrive(at: now) {
            case .answered(let time): return max(.zero, time - now) / clock.speed
            case .turnedAway: return nil
            }
        }
    }
}

/// Handles the requests of one connection.
private final class KeyRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let state: KeyServerState

    init(_ state: KeyServerState) {
        self.state = state
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        guard let delay = state.arrive() else { return Self.answer(context, .serviceUnavailable, [], after: 0) }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        let nanoseconds = Int64(clamping: KeyTiming.nanoseconds(delay))
        context.eventLoop.scheduleTask(in: .nanoseconds(nanoseconds)) {
            Self.answer(bound.value, .ok, LoopbackKeyServer.key, after: nanoseconds)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private static func answer(
        _ context: ChannelHandlerContext, _ status: HTTPResponseStatus, _ body: [UInt8], after nanoseconds: Int64
    ) {
        let head = HTTPResponseHead(
            version: .http1_1, status: status,
            headers: [
                "content-length": "\(body.count)", "connection": "close", "cache-control": "no-store",
                LoopbackKeyServer.heldName: "\(nanoseconds)",
            ])
        context.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
        context.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil)), promise: nil)
    }
}

/// A model of a key server of limited speed. It treats single requests as the simulation treats counts of them.
///
/// The server answers requests in the order of arrival, at a limited rate. It turns away at once a request whose answer
/// would come after the clients' time limit.
package struct ServerQueue: Sendable {
    /// The server's answer to a request.
    package enum Outcome: Hashable, Sendable {
        /// The server answers it at this time.
        case answered(Duration)
        /// The server turns it away at once.
        case turnedAway
    }

    /// The arrival times of the requests, in order.
    package private(set) var arrivals: [Duration] = []

    private let interval: Duration
    private let roundTrip: Duration
    private let deadline: Duration
    private var nextFree = Duration.zero

    /// - Parameters:
    ///   - capacityPerSecond: The number of requests that are answered in a second, at least 1.
    ///   - roundTrip: The time that an answer takes if the server is idle.
    ///   - deadline: The time that clients wait.
    package init(capacityPerSecond: Int, roundTrip: Duration, deadline: Duration) {
        self.interval = .seconds(1) / max(capacityPerSecond, 1)
        self.roundTrip = roundTrip
        self.deadline = deadline
    }

    /// Takes in a request.
    ///
    /// - Parameter time: The arrival time; no earlier than the one before.
    /// - Returns: The server's answer to the request.
    package mutating func arrive(at time: Duration) -> Outcome {
        arrivals.append(time)
        let start = max(time, nextFree)
        guard start - time + roundTrip <= deadline else { return .turnedAway }
        nextFree = start + interval
        return .answered(start + roundTrip)
    }
}
#endif
