#if Network
import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle

/// Listens on a port and has every request answered, until it is told to stop.
package struct HTTPService {
    let limits: ServerLimits
    /// What makes connections secure; `nil` for plain HTTP.
    let tls: NIOSSLContext?

    /// Why a server did not start.
    package struct BindError: Error, CustomStringConvertible {
        /// What failed, with the address.
        package let description: String
    }

    /// Serves until SIGTERM or SIGINT comes or the task is cancelled; running answers are finished as far as
    /// ``ServerLimits/shutdownMilliseconds`` allow.
    ///
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port, 0 for any that is free.
    ///   - onStart: Called with the port once clients can connect.
    ///   - responder: Answers a request.
    /// - Throws: ``BindError``.
    func run(
        host: String, port: Int, onStart: @escaping @Sendable (Int) -> Void,
        responder: @escaping HTTPChannelHandler.Responder
    ) async throws {
        let (limits, tls) = (limits, tls)
        let logger = Logger(label: "chunkwise-serve") { _ in SwiftLogNoOpLogHandler() }
        let service = try HTTPServerBuilder { RangeChannel(responder: $0, limits: limits, tls: tls) }.buildServer(
            configuration: ServerConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: .maximum(limits.connectionCount, logger: logger)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger, responder: responder,
            onServerRunning: { onStart($0.localAddress?.port ?? port) })
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: service)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = .milliseconds(limits.shutdownMilliseconds)
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch let error as IOError {
            let reason = String(cString: strerror(error.errnoCode))
            throw BindError(
                description: "listen on \(host):\(port): \(reason): expected a free port, such as --port 0 finds")
        } catch let error as SocketAddressError {
            throw BindError(description: "listen on \(host):\(port): \(error): expected an address of this machine")
        }
    }
}
#endif
