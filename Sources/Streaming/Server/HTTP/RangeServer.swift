#if Network
import NIOPosix
import RandomAccess

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

    /// Serves until SIGTERM or SIGINT comes or the task is cancelled; running answers are finished as far as
    /// ``ServerLimits/shutdownMilliseconds`` allow.
    ///
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port, 0 for any that is free.
    ///   - onStart: Called with the port once clients can connect.
    /// - Throws: ``HTTPService/BindError``.
    package func run(host: String, port: Int, onStart: @escaping @Sendable (Int) -> Void) async throws {
        let lookups = NIOThreadPool(numberOfThreads: ServerLimits.lookupThreadCount)
        lookups.start()
        // Not waited for: one may be waiting for a key that never comes.
        defer { lookups.shutdownGracefully { _ in } }
        let responder = RangeResponder(
            catalogue: catalogue, limits: limits, token: token, recorder: recorder, pool: BufferPool(limits: limits),
            lookups: lookups, report: report)
        try await HTTPService(limits: limits, tls: nil).run(host: host, port: port, onStart: onStart) {
            request, writer, _ in try await responder.respond(to: request, with: writer)
        }
    }
}
#endif
