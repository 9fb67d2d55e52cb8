package import RandomAccess

/// What a program that reads objects on servers brings; one that does not builds no HTTP client.
package protocol NetworkSources: Sendable {
    /// Opens an object.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a URL or a switch that cannot be, `.io` if the server does not
    ///   answer with a range of the object; its reason starts with the failure's name, and its code is
    ///   ``RemoteObject/unansweredCode`` if no answer came at all, `ENOENT` if there is no such object.
    func open(_ remoteObject: RemoteObject) throws(DecryptionError) -> NetworkObject

    /// Refuses an object that cannot be asked for, without asking.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a URL or a switch that cannot be, `.io` for a file of certificates
    ///   that cannot be used.
    func check(_ remoteObject: RemoteObject) throws(DecryptionError)

    /// What every result must say of how an object is asked for, whatever comes of it: a line for each check that is given up.
    func warnings(of remoteObject: RemoteObject) -> [String]

    /// Starts a server of ranges on this machine.
    ///
    /// - Parameter isSecure: Whether it speaks TLS, with a certificate of its own that its clients trust.
    /// - Returns: The server, which serves nothing yet.
    /// - Throws: `DecryptionError.io`.
    func startServer(isSecure: Bool) throws(DecryptionError) -> any LoopbackServer
}

/// An object on a server, open.
package struct NetworkObject: Sendable {
    /// Its bytes.
    package let source: any ByteSource
    /// Where it was found, which may be another URL than was asked.
    package let url: String
    /// What tells its version from others, as far as the server says.
    package let version: String
    /// What every result must say of how they came.
    package let warnings: [String]

    /// Creates an object.
    package init(source: any ByteSource, url: String, version: String, warnings: [String]) {
        self.source = source
        self.url = url
        self.version = version
        self.warnings = warnings
    }
}

/// A server of ranges on this machine, which ends with its last reference.
package protocol LoopbackServer: Sendable {
    /// Puts a source under a path of its own.
    ///
    /// - Returns: Where clients find it.
    func offer(_ source: any ByteSource) -> RemoteObject

    /// Takes a source away.
    func withdraw(_ remoteObject: RemoteObject)
}
