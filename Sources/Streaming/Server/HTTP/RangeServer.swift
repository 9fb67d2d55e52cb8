#if Network
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
    /// The sites whose pages may read answers.
    package var allowedOrigins = AllowedOrigins()
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

    /// Serves until the task is cancelled; running answers are finished as far as
    /// ``ServerLimits/shutdownMilliseconds`` allow.
    ///
    /// - Parameters:
    ///   - host: Where to listen.
    ///   - port: The port, 0 for any that is free.
    ///   - onStart: Called with the port once clients can connect.
    /// - Throws: ``HTTPService/BindError``.
    package func run(host: ListeningHost, port: Int, onStart: @escaping @Sendable (Int) -> Void) async throws {
        try await HTTPService(limits: limits, tls: nil).run(host: host, port: port, onStart: onStart) { lookups in
            RangeResponder(
                catalogue: catalogue, limits: limits, token: token,
                browserRules: BrowserRules(boundTo: host.name, allowing: allowedOrigins),
                allowedOrigins: allowedOrigins, recorder: recorder,
                pool: BufferPool(limits: limits), lookups: lookups, report: report)
        }
    }
}

/// What a client may ask of a server.
package struct ServerLimits: Hashable, Sendable {
    /// The max number of connections at once; more of them wait until one is closed.
    package var connectionCount = 256
    /// The max number of connections of one address, or of one network of IPv6; more of them are closed. `nil` for a
    /// quarter of all, and no limit for this machine's own.
    package var addressConnectionCount: Int?
    /// The max number of bytes of a request's header, and of its request line.
    package var headerByteCount = 16 << 10
    /// The max number of fields of a header.
    package var fieldCount = 100
    /// The max number of bytes of a request's body, which is not read.
    package var requestBodyByteCount = 64 << 10
    /// After how many milliseconds a connection is closed on which nothing happens: no request comes, or is not finished,
    /// or what was sent is not taken.
    package var idleMilliseconds: Int64 = 60_000
    /// How many milliseconds a request may take to come, from its first byte or the start of its connection to its last
    /// byte, TLS included: a quarter of what a connection may be idle, where that is long.
    var requestMilliseconds: Int64 { max(idleMilliseconds / 4, min(idleMilliseconds, 15_000)) }
    /// How many milliseconds running answers have to be finished once the server was told to stop.
    package var shutdownMilliseconds: Int64 = 10_000
    /// The max number of plaintext bytes of one step.
    package var windowByteCount = 256 << 10
    /// The max number of plaintext bytes in buffers of all answers together; beyond it, new windows
    /// have ``minWindowByteCount``.
    package var bufferByteCount = 8 << 20

    /// The shortest window: below it, what a step costs besides decryption shows.
    package static let minWindowByteCount = 32 << 10

    /// How many requests at once may wait for what they ask for: for a playlist to be parsed, or a key to be found.
    static let lookupThreadCount = 8
    /// How many of them one client of a key server may have.
    static let clientLookupCount = 2

    /// Creates the usual limits.
    package init() {}
}
#endif
