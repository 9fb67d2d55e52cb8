#if Network
import RandomAccess

/// An HTTP/1.1 server that decrypts the contents that clients ask for.
///
/// Plaintext exists only in the buffers of running answers, never on a disk.
package struct RangeServer: Sendable {
    /// The contents to serve.
    package var catalogue: any ContentCatalogue
    /// The limits for clients.
    package var limits = ServerLimits()
    /// The token that clients must present; `nil` to serve everyone.
    package var token: AccessToken?
    /// The sites whose pages may read answers.
    package var allowedOrigins = AllowedOrigins()
    /// The recorder of requests; `nil` for no trace.
    package var recorder: TraceRecorder?
    /// Reports failures; never a key, a token or plaintext.
    package var report: @Sendable (String) -> Void

    package init(
        catalogue: any ContentCatalogue, token: AccessToken?, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.catalogue = catalogue
        self.token = token
        self.report = report
    }

    /// Serves until the task is cancelled. Running answers then have ``ServerLimits/shutdownMilliseconds`` to finish.
    ///
    /// - Parameters:
    ///   - host: The host to listen on.
    ///   - port: The port; 0 for any free one.
    ///   - onStart: Called with the port once clients can connect.
    /// - Throws: ``HTTPService/BindError``.
    package func run(host: ListeningHost, port: Int, onStart: @escaping @Sendable (Int) -> Void) async throws {
        try await HTTPService(limits: limits, tls: nil).run(host: host, port: port, onStart: onStart) { lookups in
            RangeResponder(
                server: self, browserRules: BrowserRules(boundTo: host.name, allowing: allowedOrigins),
                pool: BufferPool(limits: limits), lookups: lookups)
        }
    }
}

/// The limits for the clients of a server.
package struct ServerLimits: Hashable, Sendable {
    /// The max number of connections at once. Further clients wait until a connection is closed.
    package var connectionCount = 256
    /// The max number of connections from one address, or from one network of IPv6. Further ones are closed. `nil`
    /// means a quarter of all connections, and no limit for this machine's own addresses.
    package var addressConnectionCount: Int?
    /// The max number of bytes of a request's header, and of its request line.
    package var headerByteCount = 16 << 10
    /// The max number of fields of a header.
    package var fieldCount = 100
    /// The max number of bytes of a request's body. The server does not read bodies.
    package var requestBodyByteCount = 64 << 10
    /// The time in milliseconds after which an idle connection is closed. It is idle if no request arrives, if a
    /// request stays incomplete, or if the client does not take what was sent.
    package var idleMilliseconds: Int64 = 60_000
    /// The max time in milliseconds for a request to arrive, TLS included. It runs from the request's first byte, or
    /// from the start of the connection, to the last byte. It is a quarter of the idle time, but at least the smaller
    /// of 15 s and the idle time.
    var requestMilliseconds: Int64 { max(idleMilliseconds / 4, min(idleMilliseconds, 15_000)) }
    /// The time in milliseconds that running answers have to finish once the server is told to stop.
    package var shutdownMilliseconds: Int64 = 10_000
    /// The max number of plaintext bytes in one step.
    package var windowByteCount = 256 << 10
    /// The max number of plaintext bytes in the buffers of all answers. Beyond it, new windows have
    /// ``minWindowByteCount``.
    package var bufferByteCount = 8 << 20

    /// The min length of a window. In shorter ones, the cost of a step besides decryption becomes noticeable.
    package static let minWindowByteCount = 32 << 10

    /// The max number of requests that wait for their content at once, for example while a playlist is parsed or a key
    /// is found.
    static let lookupThreadCount = 8
    /// The max number of them for one client of a key server.
    static let clientLookupCount = 2

    package init() {}
}
#endif
