#if Network
package import ByteSources
import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import RandomAccess
import Synchronization

/// Listens on a port and has every request answered, until its task is cancelled.
package struct HTTPService {
    let limits: ServerLimits
    /// What makes connections secure; `nil` for plain HTTP.
    let tls: NIOSSLContext?
    /// Told of each listener: a second one comes where the system has ended the first.
    var onListening: @Sendable (any Channel) -> Void = { _ in }

    /// Why a server did not start.
    package struct BindError: Error, CustomStringConvertible {
        /// What failed, with the address.
        package let description: String
    }

    /// Serves as ``RangeServer/run(host:port:onStart:)`` does, by what is made to answer requests, given threads that may
    /// wait.
    func run(
        host: ListeningHost, port: Int, onStart: @escaping @Sendable (Int) -> Void,
        _ makeResponder: (_ lookups: NIOThreadPool) -> any Responder
    ) async throws {
        let lookups = NIOThreadPool(numberOfThreads: ServerLimits.lookupThreadCount)
        lookups.start()
        // Not waited for: one may be waiting for a key that never comes.
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
            // Linux tells a listener of what befell a connection before it was accepted, and NIO then closes it.
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

    /// What the system holds for a client besides our windows; it takes twice as much for its own needs.
    private static let sendBufferByteCount: SocketOptionValue = 256 << 10
    /// What is read of a client at once: some heads, of which each costs many times its length while it waits.
    static let readByteCount = 4 << 10

    private func listen(
        _ host: ListeningHost, _ port: Int, _ setup: HTTPConnection.Setup, _ connections: OpenConnections
    ) async throws -> any Channel {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // So that none comes beyond the limit.
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectionLimit(connections))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            // A request comes with one read; a second one would only find that there is nothing.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readByteCount))
            // Left to itself, the system takes megabytes for each client, and a slow one looks like one that has stopped.
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

/// What a server listens on: an address, and the name that was given for it.
///
/// A name is looked up once, so that what was said of the address holds for what is listened on.
package struct ListeningHost: Sendable {
    /// What was given.
    package let name: String
    /// What it stands for.
    package let address: IPAddress

    /// Looks a name up.
    ///
    /// - Throws: ``HTTPService/BindError`` if there is no such name.
    package init(_ name: String) throws(HTTPService.BindError) {
        guard let address = IPAddress.resolve(name).first else {
            throw HTTPService.BindError(
                description: "listen on \(name): no such address: expected an address of this machine")
        }
        self.name = name
        self.address = address
    }
}

/// Connections as they are open, and how many of them each address has.
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

    /// Whether another one may be accepted; if not, `onSpace` is called when that may be so.
    func hasSpace(_ onSpace: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.acceptedCount >= limits.connectionCount else { return true }
            state.onSpace = onSpace
            return false
        }
    }

    /// Lets none come from now on.
    ///
    /// - Returns: Those that are open.
    func stop() -> [any Channel] {
        state.withLock { state in
            state.isStopping = true
            return Array(state.channels.values)
        }
    }

    /// Counts a connection until it is closed.
    ///
    /// - Returns: The client's address; `nil` if it has too many, or the server is being stopped.
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

    /// Counts a connection, which leaves in the end if it may come.
    ///
    /// - Parameter address: The client's address.
    /// - Returns: What it is counted as, or `nil` if there are too many.
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

    /// A connection has ended.
    func leave(_ network: String) {
        state.withLock { state in
            let count = (state.counts[network] ?? 1) - 1
            state.counts[network] = count > 0 ? count : nil
        }
    }
}

/// Accepts no connection beyond the limit until one is closed.
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
