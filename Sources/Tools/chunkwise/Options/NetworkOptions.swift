import ArgumentParser
import ByteSources

/// The options for requests to servers.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: .taking(
            "file", "A file with the token for the server of the source, sent as Authorization: Bearer."),
        completion: .file())
    var tokenFile: String?

    @Option(
        help: .taking(
            "count",
            "The number of ranges to request at once in sequential reads over HTTP; 0 to read none ahead."))
    var readAhead: Int?

    @Option(
        help: .taking(
            "time",
            """
            Abort if an HTTP server makes no progress for this long, in connecting, in the handshake or in sending: \
            seconds, or a time such as 500ms. (default: 10s)
            """), transform: Duration.argument(.seconds, 0.1...3600))
    var idleTimeout: Duration?

    @Option(
        help: .taking(
            "time",
            """
            The maximum time for one read over HTTP, including retries: seconds, or a time such as 500ms. (default: 60s)
            """), transform: Duration.argument(.seconds, 0.1...3600))
    var deadline: Duration?

    @Flag(help: "Open a new connection for each range over HTTP, instead of reusing connections.")
    var noReuse = false

    func validate() throws {
        try requireValid((0...64).contains(readAhead ?? 0), "--read-ahead \(readAhead ?? 0): expected 0 to 64")
    }
}

/// The options for requests to servers and for trust in servers. This is not an option group that contains the others,
/// because a debug build of ArgumentParser checks each level of groups several times.
struct ServerAccess {
    let options: NetworkOptions
    let tls: TLSOptions

    /// The object at a URL, with these options.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - isStrict: True to refuse a token file that others can read, false to warn.
    /// - Returns: The object, with the token.
    /// - Throws: `CommandFailure` for a token that cannot be read, and for options of TLS with a URL without TLS.
    func remoteObject(_ url: String, isStrict: Bool) throws -> RemoteObject {
        var remoteObject = publicObject(url)
        if !remoteObject.isSecure { try tls.refuse(URLText.redacted(remoteObject.url)) }
        if let tokenFile = options.tokenFile {
            let text = try SmallFile.text(tokenFile, "token file", isStrict: isStrict)
            let token = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
            try require(
                !token.isEmpty && token.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }), .badData,
                "token file \(tokenFile): expected a line of printable ASCII")
            remoteObject.authorization = "Bearer " + token
        }
        return remoteObject
    }

    /// The object at a URL, without a token.
    func publicObject(_ url: String) -> RemoteObject { adjusted(RemoteObject(url: url, tls: tls.switches)) }

    /// The object with the connections, read-ahead and timeouts of these options.
    func adjusted(_ remoteObject: RemoteObject) -> RemoteObject {
        var remoteObject = remoteObject
        remoteObject.keepsConnections = !options.noReuse
        remoteObject.readAheadDepth = options.readAhead
        remoteObject.idleTimeoutMilliseconds = options.idleTimeout.map { Int($0 / .milliseconds(1)) }
        remoteObject.deadlineMilliseconds = options.deadline.map { Int($0 / .milliseconds(1)) }
        return remoteObject
    }

    /// Refuses the options about trust, for a server that this program starts.
    func refuseTrust(_ source: String) throws {
        try tls.refuse("\(source) without a URL")
        try require(options.tokenFile == nil, "--token-file: expected it only with a URL, found \(source)")
    }

    /// Refuses the options for a source that is not on a server.
    func refuse(_ source: String) throws {
        try tls.refuse(source)
        try require(
            options.tokenFile == nil && options.readAhead == nil && options.idleTimeout == nil
                && options.deadline == nil && !options.noReuse,
            "--token-file, --read-ahead, --idle-timeout, --deadline and --no-reuse: expected them only with a source "
                + "over HTTP, found \(source)")
    }
}

/// The options for trust in servers over TLS.
struct TLSOptions: ParsableArguments {
    @Option(help: .taking("file", "Trust only the certificates in this PEM file."))
    var caFile: String?

    @Option(
        help: .taking(
            "pin", "Require this public key in the chain: sha256// and base64, or 64 hex digits. May be repeated."
        ))
    var pin: [String] = []

    @Flag(help: "Accept certificates from any issuer.")
    var allowAnyRoot = false

    @Flag(help: "Accept expired certificates.")
    var allowExpired = false

    @Flag(help: "Accept a certificate for any host name.")
    var allowAnyName = false

    init() {}

    /// The options as values.
    var switches: TLSSwitches {
        let allowances: [(TLSAllowance, Bool)] = [
            (.anyRoot, allowAnyRoot), (.expired, allowExpired), (.anyName, allowAnyName),
        ]
        return TLSSwitches(
            certificateFile: caFile, pins: pin, allowances: Set(allowances.filter(\.1).map(\.0)))
    }

    /// Refuses the options for a source without TLS: otherwise, a user would believe that they take effect.
    func refuse(_ source: String) throws {
        guard switches != TLSSwitches() else { return }
        throw CommandFailure(
            .usage,
            "--ca-file, --pin and --allow-…: expected them only with a source over https, found \(source)")
    }
}
