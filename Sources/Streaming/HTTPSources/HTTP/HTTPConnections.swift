#if Network
import AsyncHTTPClient
import Glibc
import NIOCore
import NIOPosix
public import RandomAccess
import Synchronization

/// Connections to one server that are kept, for any number of sources, and to those that it sends them to.
///
/// The client lets no caller check certificates, so it speaks plain HTTP, and a hook puts TLS under each new connection
/// before a request gets it. That the client waits for the hook is checked first: see `ConnectionHook`.
public final class HTTPConnections: Sendable {
    /// The server, as the field `Host` names it, and whether TLS is spoken.
    private let origin: String
    /// Connections to other servers, the last used at the end.
    private let others = Mutex<[HTTPConnections]>([])
    private static let maxOthers = 8
    /// One for each event loop: bytes are taken on the loop of their connection, and nothing changes threads.
    private let clients: [HTTPClient]
    private let turn = Atomic(0)
    /// Whether the server may know ranges that are counted from an object's end: some stores do not.
    let mayKnowLastBytes = Atomic(true)

    /// As many as a playlist's segments are opened at once; one object has as many as it has ranges under way.
    private static let maxConnections = 32

    /// More do not come faster: one thread decrypts what they bring.
    private static let maxClients = 4

    /// For a request that is the only one: it finds the connection of the one before it.
    var client: HTTPClient { clients[0] }

    /// For one of several requests at once.
    func nextClient() -> HTTPClient {
        clients[turn.wrappingAdd(1, ordering: .relaxed).oldValue % clients.count]
    }

    /// Prepares for connections; none is made yet.
    ///
    /// - Parameters:
    ///   - url: The URL of any object on the server.
    ///   - options: Which servers are taken, and how long nothing may come.
    /// - Throws: `DecryptionError.invalidParameter` for a URL that cannot be, `.io` for a TLS policy that cannot be
    ///   followed.
    public convenience init(_ url: String, options: HTTPSource.Options = HTTPSource.Options()) throws(DecryptionError) {
        try HTTPSource.check(options)
        try self.init(HTTPLocation(url), options: options)
    }

    convenience init(_ location: HTTPLocation, options: HTTPSource.Options) throws(DecryptionError) {
        try self.init(
            location, policy: options.policy, idleTimeout: TimeAmount(options.idleTimeout),
            maxConnections: max(Self.maxConnections, options.readAheadDepth + 4))
    }

    init(
        _ location: HTTPLocation, policy: TLSPolicy, idleTimeout: TimeAmount, maxConnections: Int
    ) throws(DecryptionError) {
        if location.isSecure, let fault = ConnectionHook.fault {
            throw .io(operation: "set up TLS", code: 0, reason: fault)
        }
        var configuration = HTTPClient.Configuration()
        let layer: TLSLayer?
        do throws(TLSPolicyError) {
            layer = location.isSecure ? try TLSLayer(policy, host: location.host, idleTimeout: idleTimeout) : nil
        } catch {
            throw .io(operation: "set up TLS", code: 0, reason: "\(error)")
        }
        configuration.http1_1ConnectionDebugInitializer = { channel in
            Self.prepare(channel)
            return layer?.start(on: channel).map { _ in } ?? channel.eventLoop.makeSucceededVoidFuture()
        }
        configuration.redirectConfiguration = .disallow
        // The limit for connecting is one for the handshake as well, which has its own and says more when it is over.
        configuration.timeout = HTTPClient.Configuration.Timeout(
            connect: idleTimeout + .seconds(2), read: idleTimeout, write: idleTimeout)
        configuration.httpVersion = .http1Only
        // Which failures are tried again is decided here, with what has come and of which version.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = maxConnections
        let loops = MultiThreadedEventLoopGroup.singleton.makeIterator().prefix(Self.maxClients)
        clients = loops.map { HTTPClient(eventLoopGroupProvider: .shared($0), configuration: configuration) }
        origin = location.origin
    }

    /// Has few long reads instead of many short ones, into memory that is used again.
    private static func prepare(_ channel: any Channel) {
        let allocator = FixedSizeRecvByteBufferAllocator(capacity: receiveByteCount)
        // Without them it is slower, and nothing else.
        try? channel.syncOptions?.setOption(.recvAllocator, value: allocator)
        try? channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try? channel.pipeline.syncOperations.addHandler(PromptAcknowledgement(), position: .first)
    }

    private static let receiveByteCount = 256 << 10

    deinit {
        // It may be an event loop that lets go of the last reference, and that must not wait for itself.
        clients.forEach { $0.shutdown(queue: .global()) { _ in } }
    }

    /// The connections to the server of a location: these, or others that are kept beside them.
    ///
    /// - Parameters:
    ///   - location: A location on any server.
    ///   - options: What they are made with if there are none yet.
    /// - Returns: The connections.
    /// - Throws: `DecryptionError.io` for a TLS policy that cannot be followed.
    func connections(
        to location: HTTPLocation, options: HTTPSource.Options
    ) throws(DecryptionError) -> HTTPConnections {
        if location.origin == origin { return self }
        let known = others.withLock { others in
            others.firstIndex { $0.origin == location.origin }.map { index in
                others.append(others.remove(at: index))
                return others[others.count - 1]
            }
        }
        if let known { return known }
        let made = try HTTPConnections(location, options: options)
        others.withLock { others in
            if others.count >= Self.maxOthers { others.removeFirst() }
            others.append(made)
        }
        return made
    }
}

/// Has the system acknowledge at once what comes.
///
/// Otherwise it waits up to 40 ms, for more to come that could be acknowledged with it. On loopback, whose segments have
/// 64 KiB, a server meanwhile waits for space for the next one: reading a gigabyte in ranges of 1 MiB took ten times as
/// long. The option does not last, and so is set after each read.
///
/// - Source: tcp(7), `TCP_QUICKACK`.
final class PromptAcknowledgement: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        ask(context.channel)
        context.fireChannelActive()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        ask(context.channel)
        context.fireChannelReadComplete()
    }

    private func ask(_ channel: any Channel) {
        #if os(Linux)
        // What cannot be had is not needed.
        try? channel.syncOptions?.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_QUICKACK)), value: 1)
        #endif
    }
}

/// Whether the HTTP client's hook for new connections is one that TLS can rely on.
///
/// A client that skipped the hook, or sent a request before the hook is done, would send tokens in the clear. So, once
/// for each process that uses TLS, a request goes to a socket of the process itself, with a hook that refuses every
/// connection: the request must end with the hook's error, and not a byte may arrive.
enum ConnectionHook {
    /// The error of a hook that refuses a connection.
    struct Refusal: Error {}

    /// Why TLS cannot rely on the hook; `nil` if it can.
    static let fault: String? = check(within: .seconds(10)) { channel in
        channel.close().flatMapThrowing { throw Refusal() }
    }

    /// Makes the check with a hook.
    ///
    /// - Parameters:
    ///   - limit: How long the request may take.
    ///   - hook: A hook that refuses every connection, or else the check fails.
    /// - Returns: What is wrong, or `nil`.
    static func check(
        within limit: TimeAmount, _ hook: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> String? {
        let group = MultiThreadedEventLoopGroup.singleton
        let received = group.any().makePromise(of: Int.self)
        // In case that no connection is made; otherwise it has its value by then.
        defer { received.fail(ChannelError.eof) }
        do {
            let server = try ServerBootstrap(group: group)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(ByteCounter(received))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).wait()
            defer { server.close(promise: nil) }
            var configuration = HTTPClient.Configuration()
            configuration.http1_1ConnectionDebugInitializer = hook
            configuration.httpVersion = .http1Only
            configuration.connectionPool.retryConnectionEstablishment = false
            let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
            defer { client.shutdown(queue: .global()) { _ in } }
            let request = try HTTPClient.Request(url: "http://127.0.0.1:\(server.localAddress?.port ?? 0)/")
            do {
                _ = try client.execute(request: request, deadline: .now() + limit).wait()
                return "the HTTP client uses connections that were refused: expected TLS first"
            } catch is Refusal {
                return try received.futureResult.wait() == 0
                    ? nil : "the HTTP client sends requests before connections are ready: expected TLS first"
            }
        } catch {
            return "whether the HTTP client waits for TLS could not be checked on 127.0.0.1: \(error)"
        }
    }

    /// Counts the bytes that arrive until the connection is closed.
    private final class ByteCounter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let promise: EventLoopPromise<Int>
        private var count = 0

        init(_ promise: EventLoopPromise<Int>) {
            self.promise = promise
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            count += unwrapInboundIn(data).readableBytes
        }

        func channelInactive(context: ChannelHandlerContext) {
            promise.succeed(count)
        }
    }
}
#endif
