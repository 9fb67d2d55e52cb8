#if Network
package import ByteSources
package import RandomAccess
import Synchronization

/// Objects on servers, over HTTP and TLS.
package final class HTTPNetwork: NetworkSources {
    /// The connections that objects share, by the server and all settings of the connections.
    private let shared = Mutex<[(key: String, connections: HTTPConnections)]>([])
    /// The max number of servers whose connections are kept for later objects. Not every server that is named is also
    /// asked.
    private static let maxServers = 8

    package init() {}

    package func open(_ object: RemoteObject) throws(DecryptionError) -> NetworkObject {
        let options = try Self.options(object)
        let connections = object.sharesConnections ? try connections(object, options) : nil
        let source = try HTTPSource(object.url, options: options, connections: connections)
        return NetworkObject(
            source: source, url: source.url, version: source.openedVersion, warnings: source.warnings)
    }

    package func check(_ object: RemoteObject) throws(DecryptionError) {
        _ = try HTTPConnections(object.url, options: Self.options(object))
    }

    private static func options(_ object: RemoteObject) throws(DecryptionError) -> HTTPSource.Options {
        var options = HTTPSource.Options()
        options.policy = try TLSPolicy(object.tls)
        options.authorization = object.authorization
        options.keepsConnections = object.keepsConnections
        if let depth = object.readAheadDepth { options.readAheadDepth = depth }
        if let idleTimeout = object.idleTimeoutMilliseconds { options.idleTimeout = .milliseconds(idleTimeout) }
        if let count = object.maxWholeByteCount { options.maxWholeByteCount = count }
        options.takesGzip = object.takesGzip
        if let count = object.maxRangeByteCount { options.largestBlockByteCount = count }
        if let deadline = object.deadlineMilliseconds { options.deadline = .milliseconds(deadline) }
        if let count = object.firstByteCount { options.firstByteCount = count }
        options.lastByteCount = object.lastByteCount
        return options
    }

    package func warnings(of object: RemoteObject) -> [String] {
        object.isSecure ? (try? TLSPolicy(object.tls))?.warnings ?? [] : []
    }

    package func startServer(isSecure: Bool) throws(DecryptionError) -> any LoopbackServer {
        try CiphertextServer(isSecure: isSecure)
    }

    private func connections(
        _ object: RemoteObject, _ options: HTTPSource.Options
    ) throws(DecryptionError) -> HTTPConnections {
        let server = object.url.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//")
        let key =
            "\(server) \(object.keepsConnections) \(object.readAheadDepth ?? -1) \(object.tls.options) "
            + "\(object.tls.certificateFile ?? "") \(object.tls.pins)"
        if let known = shared.withLock({ Self.take(key, &$0) }) { return known }
        let made = try HTTPConnections(object.url, options: options)
        return shared.withLock { shared in
            if let known = Self.take(key, &shared) { return known }
            if shared.count >= Self.maxServers { shared.removeFirst() }
            shared.append((key, made))
            return made
        }
    }

    /// Returns the connections with a key, and makes them the most recently used ones.
    private static func take(
        _ key: String, _ shared: inout [(key: String, connections: HTTPConnections)]
    ) -> HTTPConnections? {
        guard let index = shared.firstIndex(where: { $0.key == key }) else { return nil }
        let found = shared.remove(at: index)
        shared.append(found)
        return found.connections
    }
}
#endif
