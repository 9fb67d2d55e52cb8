#if Network
package import HLS
package import Keys
import NIOSSL
package import RandomAccess

/// A server that answers with sealed keys.
///
/// - Source: KEY-PROTOCOL.md.
package struct KeyServer: Sendable {
    /// The path of the only resource.
    package static let path = "/v1/keys"

    /// Where keys come from; it is called on threads of its own.
    package var provider: any KeyProvider
    /// Where the keys of clients come from that may have some only: it takes the whole identifier into account, since they
    /// are admitted by how it begins.
    package var exactProvider: any KeyProvider
    /// The clients that may ask.
    package var clients: KeyClients
    /// Where each key that was asked for is noted.
    package var audit: KeyAudit
    /// What the server proves itself by in its answers; `nil` where its certificate does.
    package var identity: ServerIdentity?
    /// What the server proves itself by on its connections; `nil` for plain HTTP.
    package var certificate: ServerCertificate?
    /// How long online keys may be used; `nil` for as long as a session lives.
    package var validity: Duration?
    /// The terms of keys that can be stored; `nil` if there are none.
    package var persistableTerms: (storage: Duration, playback: Duration)?
    /// How long after its request an answer may be opened.
    package var answerLifetime = Duration.seconds(60)
    /// How far a request's time may be from the server's.
    package var clockTolerance = Duration.seconds(300)
    /// How many keys a second a client may have.
    package var rate = 100.0
    /// How many keys a client may have at once.
    package var burst = 200
    /// How long the look-ups of a request may take together; keys for which there is no time left may be asked for again.
    package var lookupTime = Duration.seconds(10)
    /// How long each answer is held back: a server that is far away, for measurements.
    package var delay = Duration.zero
    /// Whether keys are refused that there is a warning about.
    package var isStrict = false
    /// What clients may ask of connections.
    package var limits = ServerLimits()
    /// What the server takes the time from.
    package var clock: any KeyClock = SystemKeyClock()
    /// The name that it listens on, as ``run(host:port:onStart:)`` was told.
    private(set) var host = ""
    /// Where to say what failed; never a key or a token.
    package var report: @Sendable (String) -> Void = { _ in }

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - provider: Where keys come from.
    ///   - exactProvider: Where they come from for clients that may have some only; `nil` for the same.
    ///   - clients: Who may ask.
    ///   - audit: Where each key is noted.
    package init(
        provider: any KeyProvider, exactProvider: (any KeyProvider)? = nil, clients: KeyClients, audit: KeyAudit
    ) {
        self.provider = provider
        self.exactProvider = exactProvider ?? provider
        self.clients = clients
        self.audit = audit
    }

    /// Serves until the task is cancelled; see ``RangeServer/run(host:port:onStart:)``.
    package func run(host: ListeningHost, port: Int, onStart: @escaping @Sendable (Int) -> Void) async throws {
        var server = self
        server.host = host.name
        try await HTTPService(limits: limits, tls: certificate?.context).run(
            host: host, port: port, onStart: onStart
        ) { [server] lookups in KeyResponder(server: server, lookups: lookups) }
    }
}

extension KeyServer {
    /// What is said about each identifier of a request; what would take until after `deadline` may be asked for again.
    func outcomes(
        for question: KeyRequest, _ client: KeyClients.Client, until deadline: Duration
    ) -> [KeyOutcome] {
        let provider = client.isUnlimited ? provider : exactProvider
        return question.identifiers.map { identifier in
            guard client.mayHave(identifier), let terms = terms(question) else { return .refused }
            guard clock.now().monotonic < deadline else { return .later(.seconds(1)) }
            do throws(KeyError) {
                let provided = try provider.key(for: identifier)
                for warning in provided.warnings { report("\(warning)") }
                guard provided.warnings.isEmpty || !isStrict else { return .refused }
                return .key(provided.key, terms)
            } catch {
                if case .missing = error { return .missing }
                report("\(ShownIdentifier.text(identifier)): \(error)")
                return .refused
            }
        }
    }

    private func terms(_ question: KeyRequest) -> KeyTerms? {
        guard question.wantsPersistable else { return .online(validity: validity) }
        return persistableTerms.map { .persistable(storage: $0.storage, playback: $0.playback) }
    }
}

/// What a server shows who it is by: a chain of certificates and a private key, both as PEM files.
package struct ServerCertificate: Sendable {
    let context: NIOSSLContext

    /// Reads the files. TLS 1.2 and 1.3 are spoken, as RFC 9325 has it.
    ///
    /// - Parameters:
    ///   - certificates: The file with the server's certificate first and those between it and a root after it.
    ///   - key: The file with the private key, without a password.
    /// - Throws: `DecryptionError.io`, which says which of the files cannot be used; nothing of the key.
    package init(certificates: String, key: String) throws(DecryptionError) {
        let chain: [NIOSSLCertificateSource]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificates).map { .certificate($0) }
        } catch {
            throw .io(operation: "read certificates \(certificates)", code: 0, reason: "expected PEM (\(error))")
        }
        guard !chain.isEmpty else {
            throw .io(operation: "read certificates \(certificates)", code: 0, reason: "none in it: expected PEM")
        }
        guard let privateKey = try? NIOSSLPrivateKey(file: key, format: .pem) else {
            throw .io(
                operation: "read the private key \(key)", code: 0, reason: "expected one in PEM, without a password")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // For a client that does not say that it has heard of the end.
        configuration.shutdownTimeout = HTTPConnection.lingerTime
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .io(
                operation: "set up TLS with \(certificates)", code: 0,
                reason: "expected a key that belongs to it (\(error))")
        }
    }
}

/// The clients of a key server, and what each of them may ask for.
package struct KeyClients: Sendable {
    /// A client that has a token.
    struct Client: Sendable {
        /// The name that audit lines and limits know the client by; `nil` if all have the same token.
        let name: String?
        fileprivate let token: AccessToken
        fileprivate let prefixes: [IdentifierPrefix]

        /// Whether the client may have all identifiers.
        var isUnlimited: Bool { prefixes.isEmpty }

        /// Whether an identifier is among those that the client may have.
        ///
        /// - Source: KEY-PROTOCOL.md, "Who may have what".
        func mayHave(_ identifier: String) -> Bool {
            isUnlimited
                || URIReference(identifier).wholeNames != nil && prefixes.contains { $0.admits(identifier) }
        }
    }

    private let clients: [Client]
    /// Whether no token is asked for.
    let admitsAll: Bool

    /// Everyone who can connect.
    package static let everyone = KeyClients(clients: [], admitsAll: true)

    private init(clients: [Client], admitsAll: Bool) {
        self.clients = clients
        self.admitsAll = admitsAll
    }

    /// One token for all.
    package init(_ token: AccessToken) {
        self.init(clients: [Client(name: nil, token: token, prefixes: [])], admitsAll: false)
    }

    /// Reads who may ask: on each line a name, a token of at least 16 characters, and prefixes of the identifiers that the
    /// client may have, if not all: see ``IdentifierPrefix``. Empty lines and those that begin with `#` mean nothing.
    ///
    /// - Parameter text: The lines.
    /// - Throws: `DecryptionError.invalidParameter`; it shows no token.
    package init(lines text: String) throws(DecryptionError) {
        var clients: [Client] = []
        // "\r\n" is one character.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let name = words.first, !name.hasPrefix("#") else { continue }
            guard words.count >= 2, words[1].utf8.count >= 16,
                words[1].utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
            else {
                throw .invalidParameter(
                    name: "line \(index + 1) of the clients", value: "of \(words.count) words",
                    expected: "a name and a token of at least 16 printable characters")
            }
            guard !clients.contains(where: { $0.name == String(name) }) else {
                throw .invalidParameter(
                    name: "line \(index + 1) of the clients", value: "\(name) again", expected: "each name once")
            }
            var prefixes: [IdentifierPrefix] = []
            for word in words.dropFirst(2) {
                guard let prefix = IdentifierPrefix(String(word)) else {
                    throw .invalidParameter(
                        name: "line \(index + 1) of the clients", value: ShownIdentifier.text(String(word)),
                        expected: "an identifier, or its beginning up to a /, without query, empty parts and dots")
                }
                prefixes.append(prefix)
            }
            clients.append(
                Client(name: String(name), token: AccessToken(text: String(words[1])), prefixes: prefixes))
        }
        guard !clients.isEmpty else {
            throw .invalidParameter(
                name: "clients", value: "none", expected: "at least one line with a name and a token")
        }
        self.init(clients: clients, admitsAll: false)
    }

    /// Finds out who asks: by `Authorization: Bearer`, never by what stands in a URL.
    ///
    /// - Returns: `nil` if the request shows no token that is known.
    func client(showing authorization: String?) -> Client? {
        if admitsAll { return Client(name: nil, token: AccessToken(text: ""), prefixes: []) }
        return clients.first { $0.token.isShown(in: authorization) }
    }
}

/// A part of the tree of identifiers: one of them with all below it, or with a `/` at its end all below it.
struct IdentifierPrefix: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Reads a prefix.
    ///
    /// - Returns: `nil` if it is no identifier up to a border, such as one with dots between slashes or with a query.
    init?(_ text: String) {
        bytes = Array(text.utf8)
        let isFolder = bytes.last == UInt8(ascii: "/")
        // What stands for a whole scheme or folder is tried with a name in it.
        let reference = URIReference(isFolder ? text + "x" : text)
        guard reference.wholeNames != nil, reference.query == nil, reference.fragment == nil else { return nil }
    }

    /// Whether an identifier lies in this part: byte for byte, and with a border behind the prefix.
    func admits(_ identifier: String) -> Bool {
        let whole = Array(identifier.utf8)
        guard whole.starts(with: bytes) else { return false }
        let borders = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        return bytes.last == borders[0] || whole[bytes.count...].first.map(borders.contains) ?? true
    }
}
#endif
