import ArgumentParser
import ByteSources

/// How objects on servers are asked for.
struct NetworkOptions: ParsableArguments {
    @OptionGroup var tls: TLSOptions

    @Option(
        help: ArgumentHelp(
            "A file with the token that a server of the source asks for, sent as Authorization: Bearer.",
            valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Ranges of a source over HTTP that are under way at once when it is read in order; 0 for none ahead.",
            valueName: "count"))
    var readAhead: Int?

    @Option(
        help: ArgumentHelp(
            "Seconds that nothing may come of a source over HTTP: no connection, no handshake, no byte. (default: 10)",
            valueName: "s"))
    var idleTimeout: Double?

    @Option(
        help: ArgumentHelp(
            "Seconds that one read of a source over HTTP may take, with all that is tried again. (default: 60)",
            valueName: "s"))
    var deadline: Double?

    @Flag(help: "Make a connection for each range of a source over HTTP, instead of keeping some.")
    var noReuse = false

    mutating func validate() throws {
        guard (0.1...3600).contains(idleTimeout ?? 1) else {
            throw ValidationError("--idle-timeout \(idleTimeout ?? 0): expected 0.1 to 3600 seconds")
        }
        guard (0.1...3600).contains(deadline ?? 1) else {
            throw ValidationError("--deadline \(deadline ?? 0): expected 0.1 to 3600 seconds")
        }
        guard (0...64).contains(readAhead ?? 0) else {
            throw ValidationError("--read-ahead \(readAhead ?? 0): expected 0 to 64")
        }
    }

    /// Where a URL leads, asked for by these options.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - isStrict: Whether a token is refused that others can read, which is worth a warning otherwise.
    /// - Returns: The object, with the token.
    /// - Throws: `CommandFailure` for a token that cannot be read, and for TLS' options where it is not spoken.
    func remoteObject(_ url: String, isStrict: Bool) throws -> RemoteObject {
        var remoteObject = publicObject(url)
        if !remoteObject.isSecure { try tls.refuse(URLText.shown(remoteObject.url)) }
        if let tokenFile {
            let text = try SmallFile.text(tokenFile, "token file", isStrict: isStrict)
            let token = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
            guard !token.isEmpty, token.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
                throw CommandFailure(.badData, "token file \(tokenFile): expected a line of printable ASCII")
            }
            remoteObject.authorization = "Bearer " + token
        }
        return remoteObject
    }

    /// Where a URL leads, without a token.
    func publicObject(_ url: String) -> RemoteObject { adjusted(RemoteObject(url: url, tls: tls.switches)) }

    /// An object whose connections and ranges ahead are those that are asked for.
    func adjusted(_ remoteObject: RemoteObject) -> RemoteObject {
        var remoteObject = remoteObject
        remoteObject.keepsConnections = !noReuse
        remoteObject.readAheadDepth = readAhead
        remoteObject.idleTimeoutMilliseconds = idleTimeout.map { Int($0 * 1000) }
        remoteObject.deadlineMilliseconds = deadline.map { Int($0 * 1000) }
        return remoteObject
    }

    /// Refuses the options about who is trusted, for a server that is started here.
    func refuseTrust(_ source: String) throws {
        try tls.refuse("\(source) without a URL")
        guard tokenFile == nil else {
            throw CommandFailure(.usage, "--token-file: expected it only with a URL, found \(source)")
        }
    }

    /// Refuses the options where nothing comes from a server.
    func refuse(_ source: String) throws {
        try tls.refuse(source)
        guard tokenFile == nil, readAhead == nil, idleTimeout == nil, deadline == nil, !noReuse else {
            throw CommandFailure(
                .usage,
                "--token-file, --read-ahead, --idle-timeout, --deadline and --no-reuse: expected them only with a source "
                    + "over HTTP, found \(source)"
            )
        }
    }
}

/// Which servers are taken, over TLS.
struct TLSOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Trust the certificates in this PEM file, and no others.", valueName: "file"))
    var caFile: String?

    @Option(
        help: ArgumentHelp(
            "A public key of the chain: sha256// and base64, or 64 hexadecimal digits. May be repeated.",
            valueName: "pin"))
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
        let allowances: [(TLSSwitches.Allowance, Bool)] = [
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
