#if Network
package import HLS
import HTTPTypes
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
    /// How long each answer is held back: a server that is far away, for measurements.
    package var delay = Duration.zero
    /// Whether keys are refused that there is a warning about.
    package var isStrict = false
    /// What clients may ask of connections.
    package var limits = ServerLimits()
    /// Where to say what failed; never a key or a token.
    package var report: @Sendable (String) -> Void = { _ in }

    /// Creates a server.
    package init(provider: any KeyProvider, clients: KeyClients, audit: KeyAudit) {
        self.provider = provider
        self.clients = clients
        self.audit = audit
    }

    /// Serves until it is told to stop; see ``RangeServer/run(host:port:onStart:)``.
    package func run(host: String, port: Int, onStart: @escaping @Sendable (Int) -> Void) async throws {
        try await HTTPService(limits: limits, tls: certificate?.context).run(
            host: host, port: port, onStart: onStart
        ) { lookups in
            let responder = KeyResponder(server: self, lookups: lookups)
            return { request, writer, channel in try await responder.respond(to: request, on: channel, with: writer) }
        }
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
        fileprivate let prefixes: [[UInt8]]

        /// Whether an identifier is among those that the client may have.
        func mayHave(_ identifier: String) -> Bool {
            prefixes.isEmpty || prefixes.contains { identifier.utf8.starts(with: $0) }
        }
    }

    private let clients: [Client]
    private let admitsAll: Bool

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

    /// Reads who may ask: on each line a name, a token of at least 16 characters, and beginnings of the identifiers that
    /// the client may have, if not all. Empty lines and those that begin with `#` mean nothing.
    ///
    /// - Parameter text: The lines.
    /// - Throws: `DecryptionError.invalidParameter`; it shows no token.
    package init(lines text: String) throws(DecryptionError) {
        var clients: [Client] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
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
            clients.append(
                Client(
                    name: String(name), token: AccessToken(text: String(words[1])),
                    prefixes: words.dropFirst(2).map { Array($0.utf8) }))
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
    func client(_ fields: HTTPFields) -> Client? {
        if admitsAll { return Client(name: nil, token: AccessToken(text: ""), prefixes: []) }
        guard let authorization = fields[.authorization] else { return nil }
        return clients.first { $0.token.presentation(query: nil, fields: [.authorization: authorization]) != nil }
    }
}
#endif
