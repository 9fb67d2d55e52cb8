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

    /// The source of the keys. It is called on threads of its own.
    package var provider: any KeyProvider
    /// The source of the keys for clients that may have only some. It takes the whole identifier into account, because
    /// such clients are admitted by its prefix.
    package var exactProvider: any KeyProvider
    /// The clients that may ask.
    package var clients: KeyClients
    /// The log of the keys that clients asked for.
    package var audit: KeyAudit
    /// The key by which answers prove the server's identity; `nil` if the server's certificate does.
    package var identity: ServerIdentity?
    /// The certificate by which connections prove the server's identity; `nil` for plain HTTP.
    package var certificate: ServerCertificate?
    /// The validity of online keys; `nil` for the life of a session.
    package var validity: Duration?
    /// The terms of keys that can be stored; `nil` if there are none.
    package var persistableTerms: (storage: Duration, playback: Duration)?
    /// The max time between a request and the opening of its answer.
    package var answerLifetime = Duration.seconds(60)
    /// The max difference between a request's time and the server's.
    package var clockTolerance = Duration.seconds(300)
    /// The max number of keys a second for one client.
    package var rate = 100.0
    /// The max number of keys at once for one client.
    package var burst = 200
    /// The max time for all look-ups of a request. A client may ask again for keys that are not looked up by then.
    package var lookupTime = Duration.seconds(10)
    /// The time by which each answer is held back. It simulates a distant server for measurements.
    package var delay = Duration.zero
    /// True if the server refuses keys that cause a warning.
    package var isStrict = false
    /// The limits for connections.
    package var limits = ServerLimits()
    /// The server's clocks.
    package var clock: any KeyClock = SystemKeyClock()
    /// The name to listen on; see ``run(host:port:onStart:)``.
    private(set) var host = ""
    /// Reports failures; never a key or a token.
    package var report: @Sendable (String) -> Void = { _ in }

    /// - Parameters:
    ///   - provider: The source of the keys.
    ///   - exactProvider: The source of the keys for clients that may have only some; `nil` for the same one.
    ///   - clients: The clients that may ask.
    ///   - audit: The log of the keys that clients asked for.
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
    /// Returns the outcome for each identifier of a request. A client may ask again for keys that are not looked up
    /// before `deadline`.
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

/// The server's proof of its identity on connections: a chain of certificates and a private key, both from PEM files.
package struct ServerCertificate: Sendable {
    let context: NIOSSLContext

    /// Reads the files. The server uses TLS 1.2 and 1.3, as RFC 9325 recommends.
    ///
    /// - Parameters:
    ///   - certificates: The file with the server's certificate, followed by those between it and a root.
    ///   - key: The file with the private key, without a password.
    /// - Throws: `DecryptionError.io`, which names the file that cannot be used, and shows nothing of the key.
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
        // The limit is for clients that do not confirm the end of the connection.
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

/// The clients of a key server, and the identifiers that each of them may ask for.
package struct KeyClients: Sendable {
    /// A client with a token.
    struct Client: Sendable {
        /// The client's name in audit lines and limits; `nil` if all clients have the same token.
        let name: String?
        fileprivate let token: AccessToken
        fileprivate let prefixes: [IdentifierPrefix]

        /// True if the client may have all identifiers.
        var isUnlimited: Bool { prefixes.isEmpty }

        /// Returns whether the client may have an identifier.
        ///
        /// - Source: KEY-PROTOCOL.md, "Who may have what".
        func mayHave(_ identifier: String) -> Bool {
            isUnlimited
                || URIReference(identifier).wholeNames != nil && prefixes.contains { $0.admits(identifier) }
        }
    }

    private let clients: [Client]
    /// True if clients need no token.
    let admitsAll: Bool

    /// Admits every client that can connect.
    package static let everyone = KeyClients(clients: [], admitsAll: true)

    private init(clients: [Client], admitsAll: Bool) {
        self.clients = clients
        self.admitsAll = admitsAll
    }

    /// Admits the clients that present one common token.
    package init(_ token: AccessToken) {
        self.init(clients: [Client(name: nil, token: token, prefixes: [])], admitsAll: false)
    }

    /// Reads a list of clients. Each line has a name and a token of at least 16 characters. Prefixes of the identifiers
    /// that the client may have can follow (see ``IdentifierPrefix``); without any, it may have all. Empty lines and
    /// lines that begin with `#` are ignored.
    ///
    /// - Parameter text: The lines.
    /// - Throws: `DecryptionError.invalidParameter`; it shows no token.
    package init(lines text: String) throws(DecryptionError) {
        var clients: [Client] = []
        // Swift counts "\r\n" as one character.
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

    /// Finds a client by `Authorization: Bearer`, never by a part of a URL.
    ///
    /// - Returns: The client; `nil` if the request presents no known token.
    func client(showing authorization: String?) -> Client? {
        if admitsAll { return Client(name: nil, token: AccessToken(text: ""), prefixes: []) }
        return clients.first { $0.token.isShown(in: authorization) }
    }
}

/// A part of the tree of identifiers: an identifier and all below it, or only all below it if the prefix ends with `/`.
struct IdentifierPrefix: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Reads a prefix.
    ///
    /// - Returns: `nil` if the text is not an identifier up to a border, for example if it has dots between slashes or
    ///   a query.
    init?(_ text: String) {
        bytes = Array(text.utf8)
        let isFolder = bytes.last == UInt8(ascii: "/")
        // The prefix of a whole scheme or folder is checked with a name behind it.
        let reference = URIReference(isFolder ? text + "x" : text)
        guard reference.wholeNames != nil, reference.query == nil, reference.fragment == nil else { return nil }
    }

    /// Returns whether an identifier lies in this part. The bytes must be equal, and a border must follow the prefix.
    func admits(_ identifier: String) -> Bool {
        let whole = Array(identifier.utf8)
        guard whole.starts(with: bytes) else { return false }
        let borders = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        return bytes.last == borders[0] || whole[bytes.count...].first.map(borders.contains) ?? true
    }
}
#endif
