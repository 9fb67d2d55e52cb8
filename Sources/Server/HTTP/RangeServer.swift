import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import RandomAccess
import ServiceLifecycle

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A server of HTTP/1.1 that decrypts what it is asked for.
///
/// Plaintext is in the buffers of running answers only, never on a disk.
package struct RangeServer: Sendable {
    /// What is served.
    package var catalogue: any ContentCatalogue
    /// What clients may ask.
    package var limits = ServerLimits()
    /// What clients have to show, or `nil` if everyone is served.
    package var token: AccessToken?
    /// Where requests are noted.
    package var recorder: TraceRecorder?
    /// Where to say what failed; never a key, a token or plaintext.
    package var report: @Sendable (String) -> Void

    /// Creates a server.
    package init(
        catalogue: any ContentCatalogue, token: AccessToken?, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.catalogue = catalogue
        self.token = token
        self.report = report
    }

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
    /// - Throws: ``BindError``.
    package func run(host: String, port: Int, onStart: @escaping @Sendable (Int) -> Void) async throws {
        let lookups = NIOThreadPool(numberOfThreads: ServerLimits.lookupThreadCount)
        lookups.start()
        // Not waited for: one may be waiting for a key that never comes.
        defer { lookups.shutdownGracefully { _ in } }
        let responder = RangeResponder(
            catalogue: catalogue, limits: limits, token: token, recorder: recorder, pool: BufferPool(limits: limits),
            lookups: lookups, report: report)
        let limits = limits
        let logger = Logger(label: "chunkwise-serve") { _ in SwiftLogNoOpLogHandler() }
        let service = try HTTPServerBuilder { RangeChannel(responder: $0, limits: limits) }.buildServer(
            configuration: ServerConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: .maximum(limits.connectionCount, logger: logger)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger,
            responder: { request, writer, _ in try await responder.respond(to: request, with: writer) },
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
