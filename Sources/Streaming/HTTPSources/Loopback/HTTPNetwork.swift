#if Network
package import ByteSources
package import RandomAccess
import Synchronization

/// Objects on servers, over HTTP and TLS.
package final class HTTPNetwork: NetworkSources {
    /// Connections that objects share, by the server and everything that they are made with.
    private let shared = Mutex<[(key: String, connections: HTTPConnections)]>([])
    /// How many servers' connections are kept for objects to come; who names servers is not always who asks for them.
    private static let maxServers = 8

    package init() {}

    package func open(_ place: RemoteObject) throws(DecryptionError) -> NetworkObject {
        let options = try Self.options(place)
        let connections = place.sharesConnections ? try connections(place, options) : nil
        let source = try HTTPSource(place.url, options: options, connections: connections)
        return NetworkObject(source: source, version: source.versionName, warnings: source.warnings)
    }

    package func check(_ place: RemoteObject) throws(DecryptionError) {
        _ = try HTTPConnections(place.url, options: Self.options(place))
    }

    private static func options(_ place: RemoteObject) throws(DecryptionError) -> HTTPSource.Options {
        var options = HTTPSource.Options()
        options.policy = try TLSPolicy(place.tls)
        options.authorization = place.authorization
        options.keepsConnections = place.keepsConnections
        if let depth = place.readAheadDepth { options.readAheadDepth = depth }
        if let idleTimeout = place.idleTimeoutMilliseconds { options.idleTimeout = .milliseconds(idleTimeout) }
        if let count = place.maxWholeByteCount { options.maxWholeByteCount = count }
        if let count = place.maxRangeByteCount { options.largestBlockByteCount = count }
        if let deadline = place.deadlineMilliseconds { options.deadline = .milliseconds(deadline) }
        if let count = place.firstByteCount { options.firstByteCount = count }
        return options
    }

    package func warnings(of place: RemoteObject) -> [String] {
        place.isSecure ? (try? TLSPolicy(place.tls))?.warnings ?? [] : []
    }

    package func startServer(isSecure: Bool) throws(DecryptionError) -> any LoopbackServer {
        try CiphertextServer(isSecure: isSecure)
    }

    private func connections(
        _ place: RemoteObject, _ options: HTTPSource.Options
    ) throws(DecryptionError) -> HTTPConnections {
        let server = place.url.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//")
        let key = "\(server) \(place.sourceName) \(place.tls.certificateFile ?? "") \(place.tls.pins)"
        if let known = shared.withLock({ Self.take(key, &$0) }) { return known }
        let made = try HTTPConnections(place.url, options: options)
        return shared.withLock { shared in
            if let known = Self.take(key, &shared) { return known }
            if shared.count >= Self.maxServers { shared.removeFirst() }
            shared.append((key, made))
            return made
        }
    }

    /// The connections with a key, which are the latest used from now on.
    private static func take(
        _ key: String, _ shared: inout [(key: String, connections: HTTPConnections)]
    ) -> HTTPConnections? {
        guard let place = shared.firstIndex(where: { $0.key == key }) else { return nil }
        let found = shared.remove(at: place)
        shared.append(found)
        return found.connections
    }
}
#endif
