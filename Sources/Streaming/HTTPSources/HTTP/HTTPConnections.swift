#if Network
import AsyncHTTPClient
import NIOCore
import NIOPosix
public import RandomAccess
import Synchronization

/// Connections to one server that are kept, for any number of sources.
///
/// The client believes that it speaks plain HTTP: TLS is put under its connections as they are made, since it lets
/// nobody check certificates, and hands a connection to no request before that is done.
public final class HTTPConnections: Sendable {
    /// The server, as the field `Host` names it, and whether TLS is spoken.
    private let origin: String
    /// One for each event loop: whoever takes bytes is on the loop of their connection, and nothing changes threads.
    private let clients: [HTTPClient]
    private let turn = Atomic(0)

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
            maxConnections: max(8, options.readAheadDepth + 4))
    }

    init(
        _ location: HTTPLocation, policy: TLSPolicy, idleTimeout: TimeAmount, maxConnections: Int
    ) throws(DecryptionError) {
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

    /// Refuses a location on another server.
    func require(_ location: HTTPLocation) throws(DecryptionError) {
        guard location.origin == origin else {
            throw .invalidParameter(name: "URL", value: "\(location)", expected: "one on \(origin)")
        }
    }
}
#endif
