#if Network
package import Keys
import NIOPosix

/// A server that answers with sealed keys.
///
/// - Source: KEY-PROTOCOL.md.
package struct KeyServer: Sendable {
    /// The path of the only resource.
    package static let path = "/v1/keys"

    /// Where keys come from; it is called on threads of its own.
    package var provider: any KeyProvider
    /// Who may ask.
    package var clients: KeyClients
    /// Where each key that was asked for is noted.
    package var audit: KeyAudit
    /// What the server proves itself by in its answers; `nil` where its certificate does.
    package var identity: ServerIdentity?
    /// What the server proves itself by on its connections; `nil` for plain HTTP.
    package var certificate: ServerCertificate?
    /// How long online keys may be used; `nil` for as long as a session lives.
    package var validity: Duration?
    /// The terms of keys that can be stored; `nil` if there are none.
    package var persistableTerms: (storage: Duration, playback: Duration)?
    /// How long after its request an answer may be opened.
    package var answerLifetime = Duration.seconds(60)
    /// How far a request's time may be from the server's.
    package var clockTolerance = Duration.seconds(300)
    /// How many keys a second a client may have.
    package var rate = 100.0
    /// How many keys a client may have at once.
    package var burst = 200
    /// How long each answer is held back: a server that is far away, for measurements.
    package var delay = Duration.zero
    /// Whether keys are refused that there is a warning about.
    package var isStrict = false
    /// What clients may ask of connections.
    package var limits = ServerLimits()
    /// Where to say what failed; never a key or a token.
    package var report: @Sendable (String) -> Void = { _ in }

    /// Creates a server.
    package init(provider: any KeyProvider, clients: KeyClients, audit: KeyAudit) {
        self.provider = provider
        self.clients = clients
        self.audit = audit
    }

    /// Serves until SIGTERM or SIGINT comes or the task is cancelled.
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
        let responder = KeyResponder(server: self, lookups: lookups)
        try await HTTPService(limits: limits, tls: certificate?.context).run(
            host: host, port: port, onStart: onStart
        ) { request, writer, channel in try await responder.respond(to: request, on: channel, with: writer) }
    }
}
#endif
