#if Network
import AsyncHTTPClient
import Glibc
import NIOCore
import NIOPosix
public import RandomAccess
import Synchronization

/// Kept connections to one server, and to the servers that it redirects to. Any number of sources may share them.
///
/// The client does not let a caller check certificates. It therefore speaks plain HTTP, and a hook puts TLS under each
/// new connection before a request uses it. `ConnectionHook` first checks that the client waits for the hook.
public final class HTTPConnections: Sendable {
    /// The scheme, and the server as the field `Host` names it.
    private let origin: String
    /// Connections to other servers, the most recently used last.
    private let others = Mutex<[HTTPConnections]>([])
    private static let maxOthers = 8
    /// One client for each event loop. Bytes stay on the loop of their connection, and nothing changes threads.
    private let clients: [HTTPClient]
    private let turn = Atomic(0)
    /// True while the server may support ranges that count from an object's end. Some stores do not.
    let mayKnowLastBytes = Atomic(true)

    /// The max number of connections. It is the number of a playlist's segments that are opened at once; one object has
    /// as many connections as running ranges.
    private static let maxConnections = 32

    /// The max number of clients. More would not be faster, because one thread decrypts the bytes.
    private static let maxClients = 4

    /// The client for a single request. It finds the connection of the request before.
    var client: HTTPClient { clients[0] }

    /// Returns a client for one of several concurrent requests.
    func nextClient() -> HTTPClient {
        clients[turn.wrappingAdd(1, ordering: .relaxed).oldValue % clients.count]
    }

    /// Prepares connections without making one.
    ///
    /// - Parameters:
    ///   - url: The URL of any object on the server.
    ///   - options: The trusted servers and the time limits.
    /// - Throws: `DecryptionError.invalidParameter` for an invalid URL, `.io` for a TLS policy that cannot be applied.
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
        // The limit for connecting includes the handshake. That has a shorter limit of its own, with a better error.
        configuration.timeout = HTTPClient.Configuration.Timeout(
            connect: idleTimeout + .seconds(2), read: idleTimeout, write: idleTimeout)
        configuration.httpVersion = .http1Only
        // This module decides about retries, because it knows the bytes and the version that arrived.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = maxConnections
        let loops = MultiThreadedEventLoopGroup.singleton.makeIterator().prefix(Self.maxClients)
        clients = loops.map { HTTPClient(eventLoopGroupProvider: .shared($0), configuration: configuration) }
        origin = location.origin
    }

    /// Reads a few long pieces instead of many short ones, into memory that is used again.
    private static func prepare(_ channel: any Channel) {
        let allocator = FixedSizeRecvByteBufferAllocator(capacity: receiveByteCount)
        // Without these options, reading is only slower.
        try? channel.syncOptions?.setOption(.recvAllocator, value: allocator)
        try? channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try? channel.pipeline.syncOperations.addHandler(PromptAcknowledgement(), position: .first)
    }

    private static let receiveByteCount = 256 << 10

    deinit {
        // An event loop may release the last reference, and must not wait for itself.
        clients.forEach { $0.shutdown(queue: .global()) { _ in } }
    }

    /// Returns the connections to the server of a location: these, or connections to another server that are kept
    /// beside them.
    ///
    /// - Parameters:
    ///   - location: A location on any server.
    ///   - options: The options for new connections, if there are none yet.
    /// - Returns: The connections.
    /// - Throws: `DecryptionError.io` for a TLS policy that cannot be applied.
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

/// Makes the system acknowledge arriving bytes at once.
///
/// By default it waits up to 40 ms for further bytes to acknowledge together. On loopback, whose segments have 64 KiB,
/// a server meanwhile waits for space for the next one: reading a gigabyte in ranges of 1 MiB took ten times as long.
/// The option does not last, so the handler sets it after each read.
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
        // Connections work without the option.
        try? channel.syncOptions?.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_QUICKACK)), value: 1)
        #endif
    }
}

/// Checks that TLS can rely on the HTTP client's hook for new connections.
///
/// A client that skipped the hook, or sent a request before the hook is done, would send tokens in the clear. Each
/// process that uses TLS therefore sends one request to a socket of its own, with a hook that refuses every connection.
/// The request must end with the hook's error, and not a byte may arrive.
enum ConnectionHook {
    /// The error of a hook that refuses a connection.
    struct Refusal: Error {}

    /// The reason why TLS cannot rely on the hook; `nil` if it can.
    static let fault: String? = check(within: .seconds(10)) { channel in
        channel.close().flatMapThrowing { throw Refusal() }
    }

    /// Makes the check with a hook.
    ///
    /// - Parameters:
    ///   - limit: The max time of the request.
    ///   - hook: A hook that refuses every connection; with any other hook the check fails.
    /// - Returns: The fault; `nil` if there is none.
    static func check(
        within limit: TimeAmount, _ hook: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> String? {
        let group = MultiThreadedEventLoopGroup.singleton
        let received = group.any().makePromise(of: Int.self)
        // Needed if no connection was made; otherwise the promise has its value by now.
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
