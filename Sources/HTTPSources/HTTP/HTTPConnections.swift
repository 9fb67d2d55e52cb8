import AsyncHTTPClient
import NIOCore
public import RandomAccess

/// Connections to one server that are kept, for any number of sources.
///
/// The client believes that it speaks plain HTTP: TLS is put under its connections as they are made, since it lets
/// nobody check certificates, and hands a connection to no request before that is done.
public final class HTTPConnections: Sendable {
    let client: HTTPClient
    /// The server, as the field `Host` names it, and whether TLS is spoken.
    private let origin: String

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
            location, policy: options.policy, patience: TimeAmount(options.patience),
            mostConnections: max(8, options.readAheadDepth + 4))
    }

    init(
        _ location: HTTPLocation, policy: TLSPolicy, patience: TimeAmount, mostConnections: Int
    ) throws(DecryptionError) {
        var configuration = HTTPClient.Configuration()
        if location.isSecure {
            do throws(TLSPolicyError) {
                let layer = try TLSLayer(policy, host: location.host, patience: patience)
                configuration.http1_1ConnectionDebugInitializer = { channel in layer.start(on: channel).map { _ in } }
            } catch {
                throw .io(operation: "set up TLS", code: 0, reason: "\(error)")
            }
        }
        configuration.redirectConfiguration = .disallow
        // The limit for connecting is one for the handshake as well, which has its own and says more when it is over.
        configuration.timeout = HTTPClient.Configuration.Timeout(
            connect: patience + .seconds(2), read: patience, write: patience)
        configuration.httpVersion = .http1Only
        // Which failures are tried again is decided here, with what has come and of which version.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = mostConnections
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        origin = location.origin
    }

    deinit {
        // It may be an event loop that lets go of the last reference, and that must not wait for itself.
        client.shutdown(queue: .global()) { _ in }
    }

    /// Refuses a location on another server.
    func require(_ location: HTTPLocation) throws(DecryptionError) {
        guard location.origin == origin else {
            throw .invalidParameter(name: "URL", value: "\(location)", expected: "one on \(origin)")
        }
    }
}
