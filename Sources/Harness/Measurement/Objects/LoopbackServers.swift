package import ByteSources
package import RandomAccess

/// The servers of a run on this machine, each started when it is first needed.
package final class LoopbackServers {
    private let network: any NetworkSources
    private var servers: [Bool: any LoopbackServer] = [:]

    /// Starts nothing yet.
    package init(_ network: any NetworkSources) {
        self.network = network
    }

    /// Puts a source on the server that speaks TLS, or on the one that does not.
    ///
    /// - Returns: Where clients find it, as long as the servers are.
    /// - Throws: `DecryptionError.io` if no server can be started.
    package func serve(_ source: any ByteSource, isSecure: Bool) throws(DecryptionError) -> RemoteObject {
        if let server = servers[isSecure] { return server.offer(source) }
        let server = try network.startServer(isSecure: isSecure)
        servers[isSecure] = server
        return server.offer(source)
    }
}
