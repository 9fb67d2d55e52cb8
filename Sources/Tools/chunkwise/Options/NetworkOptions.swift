import ArgumentParser
import ByteSources

/// How objects on servers are asked for.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: .taking(
            "file", "A file with the token that a server of the source asks for, sent as Authorization: Bearer."),
        completion: .file())
    var tokenFile: String?

    @Option(
        help: .taking(
            "count",
            "Ranges of a source over HTTP that are under way at once when it is read in order; 0 for none ahead."))
    var readAhead: Int?

    @Option(
        help: .taking(
            "time",
            "How long nothing may come of a source over HTTP, no connection, no handshake, no byte: seconds, or a time such as 500ms. (default: 10s)"
        ), transform: Duration.argument(.seconds, 0.1...3600))
    var idleTimeout: Duration?

    @Option(
        help: .taking(
            "time",
            "How long one read of a source over HTTP may take, with all that is tried again: seconds, or a time such as 500ms. (default: 60s)"
        ), transform: Duration.argument(.seconds, 0.1...3600))
    var deadline: Duration?

    @Flag(help: "Make a connection for each range of a source over HTTP, instead of keeping some.")
    var noReuse = false

    func validate() throws {
        guard (0...64).contains(readAhead ?? 0) else {
            throw ValidationError("--read-ahead \(readAhead ?? 0): expected 0 to 64")
        }
    }
}

/// How objects on servers are asked for, and which servers are taken. Not one group of options within another: in a debug
/// build, ArgumentParser checks each level of groups several times over.
struct ServerAccess {
    let options: NetworkOptions
    let tls: TLSOptions

    /// Where a URL leads, asked for by these options.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - isStrict: Whether a token is refused that others can read, which is worth a warning otherwise.
    /// - Returns: The object, with the token.
    /// - Throws: `CommandFailure` for a token that cannot be read, and for TLS' options where it is not spoken.
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

    /// Where a URL leads, without a token.
    func publicObject(_ url: String) -> RemoteObject { adjusted(RemoteObject(url: url, tls: tls.switches)) }

    /// An object whose connections and ranges ahead are those that are asked for.
    func adjusted(_ remoteObject: RemoteObject) -> RemoteObject {
        var remoteObject = remoteObject
        remoteObject.keepsConnections = !options.noReuse
        remoteObject.readAheadDepth = options.readAhead
        remoteObject.idleTimeoutMilliseconds = options.idleTimeout.map { Int($0 / .milliseconds(1)) }
        remoteObject.deadlineMilliseconds = options.deadline.map { Int($0 / .milliseconds(1)) }
        return remoteObject
    }

    /// Refuses the options about who is trusted, for a server that is started here.
    func refuseTrust(_ source: String) throws {
        try tls.refuse("\(source) without a URL")
        try require(options.tokenFile == nil, "--token-file: expected it only with a URL, found \(source)")
    }

    /// Refuses the options where nothing comes from a server.
    func refuse(_ source: String) throws {
        try tls.refuse(source)
        try require(
            options.tokenFile == nil && options.readAhead == nil && options.idleTimeout == nil
                && options.deadline == nil && !options.noReuse,
            "--token-file, --read-ahead, --idle-timeout, --deadline and --no-reuse: expected them only with a source "
                + "over HTTP, found \(source)")
    }
}

/// Which servers are taken, over TLS.
struct TLSOptions: ParsableArguments {
    @Option(help: .taking("file", "Trust the certificates in this PEM file, and no others."))
    var caFile: String?

    @Option(
        help: .taking(
            "pin", "A public key of the chain: sha256// and base64, or 64 hexadecimal digits. May be repeated."))
    var pin: [String] = []

    @Flag(help: "Accept a certificate of any issuer.")
    var allowAnyRoot = false

    @Flag(help: "Take certificates that have expired.")
    var allowExpired = false

    @Flag(help: "Take a certificate for any name.")
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

    /// Refuses the options where nothing comes over TLS: a user who gave one would believe that it holds.
    func refuse(_ source: String) throws {
        guard switches != TLSSwitches() else { return }
        throw CommandFailure(
            .usage,
            "--ca-file, --pin and --allow-…: expected them only with a source over https, found \(source)")
    }
}
