package import RandomAccess

/// The HTTP support that a program adds. A program without it builds no HTTP client.
package protocol NetworkSources: Sendable {
    /// Opens an object.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for an invalid URL or switch; `.io` if the server does not answer
    ///   with a range of the object. The reason of `.io` starts with the failure's name. Its code is
    ///   ``RemoteObject/unansweredCode`` if no answer came at all, and `ENOENT` if the object does not exist.
    func open(_ remoteObject: RemoteObject) throws(DecryptionError) -> NetworkObject

    /// Refuses an object that cannot be requested, without a request.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for an invalid URL or switch, `.io` for an unusable file of
    ///   certificates.
    func check(_ remoteObject: RemoteObject) throws(DecryptionError)

    /// Returns the warnings that every result must carry: a line for each disabled check.
    func warnings(of remoteObject: RemoteObject) -> [String]

    /// Starts a range server on this machine.
    ///
    /// - Parameter isSecure: True to speak TLS, with a certificate of its own that the server's clients trust.
    /// - Returns: The server, which serves nothing yet.
    /// - Throws: `DecryptionError.io`.
    func startServer(isSecure: Bool) throws(DecryptionError) -> any LoopbackServer
}

/// An open object on a server.
package struct NetworkObject: Sendable {
    /// The object's bytes.
    package let source: any ByteSource
    /// The URL at which the object was found, which may differ from the requested one.
    package let url: String
    /// The server's identification of the version, if any.
    package let version: String
    /// The warnings that every result must carry about the connection.
    package let warnings: [String]

    package init(source: any ByteSource, url: String, version: String, warnings: [String]) {
        self.source = source
        self.url = url
        self.version = version
        self.warnings = warnings
    }
}

/// A range server on this machine, which stops with its last reference.
package protocol LoopbackServer: Sendable {
    /// Serves a source under a path of its own.
    ///
    /// - Returns: The address for clients.
    func offer(_ source: any ByteSource) -> RemoteObject

    /// Stops serving a source.
    func withdraw(_ remoteObject: RemoteObject)
}
