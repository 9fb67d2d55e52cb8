#if Network
import HTTPTypes
package import RandomAccess

/// Who may ask a key server, and for what.
package struct KeyClients: Sendable {
    /// Somebody who has a token.
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
        for (place, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard let name = words.first, !name.hasPrefix("#") else { continue }
            guard words.count >= 2, words[1].utf8.count >= 16,
                words[1].utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
            else {
                throw .invalidParameter(
                    name: "line \(place + 1) of the clients", value: "of \(words.count) words",
                    expected: "a name and a token of at least 16 printable characters")
            }
            guard !clients.contains(where: { $0.name == String(name) }) else {
                throw .invalidParameter(
                    name: "line \(place + 1) of the clients", value: "\(name) again", expected: "each name once")
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
