#if Network
package import ByteSources
import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import RandomAccess
import Synchronization

/// Listens on a port and answers every request, until its task is cancelled.
package struct HTTPService {
    let limits: ServerLimits
    /// The TLS context; `nil` for plain HTTP.
    let tls: NIOSSLContext?
    /// Called with each listener. There is a second one if the system ends the first.
    var onListening: @Sendable (any Channel) -> Void = { _ in }

    /// The reason why a server did not start.
    package struct BindError: Error, CustomStringConvertible {
        /// The failure, with the address.
        package let description: String
    }

    /// Serves as ``RangeServer/run(host:port:onStart:)`` does. The function makes the responder; its argument is a pool
    /// of threads that may wait.
    func run(
        host: ListeningHost, port: Int, onStart: @escaping @Sendable (Int) -> Void,
        _ makeResponder: (_ lookups: NIOThreadPool) -> any Responder
    ) async throws {
        let lookups = NIOThreadPool(numberOfThreads: ServerLimits.lookupThreadCount)
        lookups.start()
        // Does not wait for the threads: one may be waiting for a key that never comes.
        defer { lookups.shutdownGracefully { _ in } }
        let setup = HTTPConnection.Setup(limits: limits, tls: tls, lookups: lookups, responder: makeResponder(lookups))
        let connections = OpenConnections(limits: limits)
        var listener = try await listen(host, port, setup, connections)
        let port = listener.localAddress?.port ?? port
        onStart(port)
        while true {
            onListening(listener)
            await withTaskCancellationHandler { [listener] in
                try? await listener.closeFuture.get()
            } onCancel: { [listener] in
                listener.close(promise: nil)
            }
            guard !Task.isCancelled else { break }
            // If a connection fails before it is accepted, Linux reports that to the listener, and NIO then closes it.
            listener = try await listen(host, port, setup, connections)
        }
        let open = connections.stop()
        let force = listener.eventLoop.scheduleTask(in: .milliseconds(limits.shutdownMilliseconds)) {
            for channel in open { channel.close(promise: nil) }
        }
        for channel in open { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
        for channel in open { try? await channel.closeFuture.get() }
        force.cancel()
    }

    /// The number of bytes that the system buffers for a client besides our windows. It takes twice as much for its own
    /// needs.
    private static let sendBufferByteCount: SocketOptionValue = 256 << 10
    /// The max number of bytes in one read from a client. They hold a few heads; a waiting head costs many times its
    /// length.
    static let readByteCount = 4 << 10

    private func listen(
        _ host: ListeningHost, _ port: Int, _ setup: HTTPConnection.Setup, _ connections: OpenConnections
    ) async throws -> any Channel {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Accepts one at a time, so that no connection exceeds the limit.
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectionLimit(connections))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            // One read brings the request; a second read would find nothing.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readByteCount))
            // By default the system buffers megabytes for each client, and a slow client then looks like one that has
            // stopped.
            .childChannelOption(.socketOption(.so_sndbuf), value: Self.sendBufferByteCount)
            .childChannelInitializer { channel in
                guard let address = connections.enter(channel) else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture {
                    try setup.addHandlers(to: channel.pipeline.syncOperations, address: address)
                }
            }
        do {
            return try await bootstrap.bind(to: SocketAddress(ipAddress: "\(host.address)", port: port)).get()
        } catch let error as IOError {
            let reason = String(cString: strerror(error.errnoCode))
            throw BindError(
                description: "listen on \(host.name):\(port): \(reason): expected a free port, such as --port 0 finds")
        } catch let error as SocketAddressError {
            throw BindError(
                description: "listen on \(host.name):\(port): \(error): expected an address of this machine")
        }
    }
}

/// A host to listen on: an address, and the name that the user gave for it.
///
/// The name is looked up once, so that the server listens on the same address that was checked.
package struct ListeningHost: Sendable {
    /// The name that the user gave.
    package let name: String
    /// The address of the name.
    package let address: IPAddress

    /// Looks up a name.
    ///
    /// - Throws: ``HTTPService/BindError`` if the name has no address.
    package init(_ name: String) throws(HTTPService.BindError) {
        guard let address = IPAddress.resolve(name).first else {
            throw HTTPService.BindError(
                description: "listen on \(name): no such address: expected an address of this machine")
        }
        self.name = name
        self.address = address
    }
}

/// The open connections, and their number for each address.
final class OpenConnections: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var channels: [ObjectIdentifier: any Channel] = [:]
        var acceptedCount = 0
        var onSpace: (@Sendable () -> Void)?
        var isStopping = false
    }

    private let limits: ServerLimits
    private let state = Mutex(State())

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// Counts a connection that was accepted.
    func note(_ channel: any Channel) {
        state.withLock { $0.acceptedCount += 1 }
        channel.closeFuture.whenComplete { _ in
            let onSpace = self.state.withLock { state in
                state.acceptedCount -= 1
                return state.onSpace.take()
            }
            onSpace?()
        }
    }

    /// Returns whether another connection may be accepted. If not, `onSpace` is called when this changes.
    func hasSpace(_ onSpace: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.acceptedCount >= limits.connectionCount else { return true }
            state.onSpace = onSpace
            return false
        }
    }

    /// Refuses new connections from now on.
    ///
    /// - Returns: The open connections.
    func stop() -> [any Channel] {
        state.withLock { state in
            state.isStopping = true
            return Array(state.channels.values)
        }
    }

    /// Counts a connection until it is closed.
    ///
    /// - Returns: The client's address; `nil` if it has too many connections, or if the server is stopping.
    func enter(_ channel: any Channel) -> String? {
        let address = channel.remoteAddress?.ipAddress ?? ""
        guard let network = enter(address) else { return nil }
        let key = ObjectIdentifier(channel)
        let isLate = state.withLock { state in
            state.channels[key] = channel
            return state.isStopping
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { $0.channels[key] = nil }
            self.leave(network)
        }
        return isLate ? nil : address
    }

    /// Counts a connection if there are not too many. The caller must then end it by ``leave(_:)``.
    ///
    /// - Parameter address: The client's address.
    /// - Returns: The network that the connection counts for; `nil` if there are too many.
    func enter(_ address: String) -> String? {
        let known = IPAddress(address)
        let network = known?.network ?? address
        let usual = known?.isLoopback == true ? Int.max : max(limits.connectionCount / 4, 1)
        let maximum = limits.addressConnectionCount ?? usual
        return state.withLock { state in
            let count = state.counts[network] ?? 0
            guard count < maximum else { return nil }
            state.counts[network] = count + 1
            return network
        }
    }

    /// Ends the count of a connection.
    func leave(_ network: String) {
        state.withLock { state in
            let count = (state.counts[network] ?? 1) - 1
            state.counts[network] = count > 0 ? count : nil
        }
    }
}

/// Accepts no connection beyond the limit until another one is closed.
private final class ConnectionLimit: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private let connections: OpenConnections

    init(_ connections: OpenConnections) {
        self.connections = connections
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connections.note(unwrapInboundIn(data))
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        let (bound, eventLoop) = (NIOLoopBound((self, context), eventLoop: context.eventLoop), context.eventLoop)
        let hasSpace = connections.hasSpace {
            eventLoop.execute {
                let (limit, context) = bound.value
                limit.read(context: context)
            }
        }
        if hasSpace { context.read() }
    }
}

@available(*, unavailable)
extension ConnectionLimit: Sendable {}
#endif
