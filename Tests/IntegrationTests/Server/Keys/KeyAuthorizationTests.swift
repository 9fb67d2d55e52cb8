import Foundation
import KeyExchanges
import Keys
import Support
import TestSupport
import Testing

/// Clients of a key server get exactly what their lines allow, whatever they write and whatever file that is.
@Suite("authorization of a key server", .serialized)
struct KeyAuthorizationTests {
    private static let names = ["a", "b", "ab", "film", "film2", "film x", "é", "%61", "..a", "a.", "x:y", "b+c", "-o"]
    private static let schemes = ["mykey", "skd"]

    /// Files of keys in folders, and clients that may have some of them.
    private struct Site {
        let folder: TemporaryFolder
        /// The names of the folders and the file of each key.
        var places: [[UInt8]: [String]] = [:]
        /// The tokens of the clients and their prefixes, as the names that those stand for and whether only what is below
        /// counts; `nil` for the client that may have all.
        var clients: [(name: String, token: String, prefixes: [(names: [String], isFolder: Bool)]?)] = []

        init(using random: inout SeededGenerator) throws {
            folder = try TemporaryFolder()
            var taken: Set<[String]> = []
            for _ in 0..<80 {
                var place = [KeyAuthorizationTests.schemes.randomElement(using: &random) ?? ""]
                // Some lie right in the folder, where they have been found by how an identifier ends.
                if Int.random(in: 0..<8, using: &random) == 0 { place = [] }
                let depth = place.isEmpty ? 1 : Int.random(in: 1...3, using: &random)
                for _ in 0..<depth { place.append(KeyAuthorizationTests.names.randomElement(using: &random) ?? "") }
                let isFree = taken.allSatisfy { !$0.starts(with: place) && !place.starts(with: $0) }
                guard isFree, !KeyAuthorizationTests.schemes.contains(place[0]) || place.count > 1 else { continue }
                taken.insert(place)
                let path = folder.path("keys/" + place.joined(separator: "/"))
                try FileManager.default.createDirectory(
                    atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                let key = [UInt8].random(count: 16)
                try Data(key).write(to: URL(filePath: path))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
                places[key] = place
            }
            clients = [("all", String(repeating: "0", count: 16), nil)]
            var lines = ["all \(clients[0].token)"]
            for number in 1...6 {
                var (prefixes, texts): ([([String], Bool)], [String]) = ([], [])
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let place = places.values.sorted { $0.lexicographicallyPrecedes($1) }.randomElement(using: &random)
                    let names = Array((place ?? []).prefix(Int.random(in: 1...4, using: &random)))
                    let isWhole = names == place
                    let isFolder = !isWhole && (names.count == 1 || Bool.random(using: &random))
                    prefixes.append((names, isFolder))
                    texts.append(KeyAuthorizationTests.identifier(names) + (isFolder && names.count > 1 ? "/" : ""))
                }
                let client = ("client\(number)", String(repeating: "\(number)", count: 16), prefixes)
                clients.append(client)
                lines.append("\(client.0) \(client.1) \(texts.joined(separator: " "))")
            }
            try folder.file("clients", Array(lines.joined(separator: "\n").utf8), isSecret: true)
        }

        /// Tells if a line of a client names a file, or a folder that it lies in.
        func allows(_ prefixes: [(names: [String], isFolder: Bool)]?, _ place: [String]) -> Bool {
            prefixes?.contains { prefix in
                place.starts(with: prefix.names) && (!prefix.isFolder || place.count > prefix.names.count)
            } ?? true
        }
    }

    /// The identifier of a file, each byte but the plainest percent-encoded.
    private static func identifier(_ place: [String]) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789-._~")
        let names = place.map { $0.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }
        guard schemes.contains(place[0]) else { return names.joined(separator: "/") }
        return names[0] + "://" + names.dropFirst().joined(separator: "/")
    }

    /// The identifier in another notation, or one that looks like it and leads elsewhere.
    private static func variant(_ place: [String], using random: inout SeededGenerator) -> String {
        let text = identifier(place)
        let cut = text.lastIndex(of: "/") ?? text.startIndex
        let (start, end) = (String(text[..<cut]), String(text[cut...].drop { $0 == "/" }))
        let other = names.randomElement(using: &random) ?? ""
        return switch Int.random(in: 0..<24, using: &random) {
        case 0..<5: text
        case 5: text + "?token=1"
        case 6: text + "#/../\(other)"
        case 7: start + "/" + end.utf8.map { "%" + String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
        case 8: "%" + String(0x100 + Int(text.utf8.first ?? 0), radix: 16).dropFirst() + text.dropFirst()
        case 9: start + "/../" + other + "/" + end
        case 10: start + "/%2e%2E/" + other + "/" + end
        case 11: start + "/./" + end
        case 12: start + "//" + end
        case 13: text + "/"
        case 14: start + "%2F" + end
        case 15: start + "\\" + end
        case 16: end
        case 17: text.replacing("://", with: ":")
        case 18: text.replacing("://", with: ":///")
        case 19: text.replacing("://", with: "/")
        case 20: text.uppercased()
        case 21: text + other
        case 22: start + other + "/" + end
        default: (schemes.randomElement(using: &random) ?? "") + "://" + other + "/" + end
        }
    }

    @Test("what a client gets is what its lines allow, and the audit says what was answered, also after a restart")
    func property() async throws {
        var random = SeededGenerator(state: 20_261_123)
        let site = try Site(using: &random)
        try #require(site.places.count > 20)
        var expected: [String] = []
        var found: [String: Int] = [:]
        for _ in 0..<2 {
            let server = try KeyServerProcess(
                ["--clients", "clients", "--rate", "1e6", "--burst", "1000000"], folder: site.folder)
            for _ in 0..<4 {
                for client in site.clients {
                    let exchange = try server.exchange { $0.token = client.token }
                    var identifiers: Set<String> = []
                    let places = site.places.values.sorted { $0.lexicographicallyPrecedes($1) }
                    while identifiers.count < 60, let place = places.randomElement(using: &random) {
                        let text = Self.variant(place, using: &random)
                        if !text.isEmpty { identifiers.insert(text) }
                    }
                    // In an order that the seed says.
                    let asked = identifiers.sorted()
                    let answers = try await exchange.answer(
                        KeyQuery(exchange: 1, identifiers: asked, route: .local, wantsPersistable: false))
                    #expect(answers.map(\.identifier) == asked)
                    for answer in answers {
                        let (result, place) = Self.outcome(answer, site)
                        found[result, default: 0] += 1
                        expected.append("\(client.name) \(result) \(ShownIdentifier.text(answer.identifier))")
                        if let place {
                            #expect(
                                site.allows(client.prefixes, place), "\(client.name) got \(place): \(answer.identifier)"
                            )
                            continue
                        }
                        #expect(result == "refused" || result == "missing")
                        // By its own identifier, each file comes to those that may have it, and no other one does.
                        if let own = places.first(where: { Self.identifier($0) == answer.identifier }) {
                            #expect(!site.allows(client.prefixes, own), "\(client.name) did not get \(own)")
                        }
                    }
                }
            }
            #expect(server.server.end() == 0)
            let lines = server.audit.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.last?.isEmpty == true)
            let noted = lines.dropLast().map { line -> String in
                let line = JSONValue.parse(Array(line.utf8))
                func text(_ name: String) -> String { line?[name]?.string ?? "none" }
                return "\(text("client")) \(text("result")) \(text("identifier"))"
            }
            #expect(noted == expected)
        }
        #expect(found["key", default: 0] > 300 && found["refused", default: 0] > 300, "\(found)")
    }

    /// The words of an answer, and the key's file if it is a key.
    private static func outcome(_ answer: ExchangedKey, _ site: Site) -> (result: String, place: [String]?) {
        do throws(KeyFailure) {
            let key = try answer.key.get().withUnsafeBytes { Array($0) }
            return ("key", site.places[key])
        } catch {
            return (error.name, nil)
        }
    }
}
