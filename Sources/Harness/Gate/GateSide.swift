import Support

/// One of the two programs that a gate compares, as it describes itself.
package struct GateSide: Codable, Hashable, Sendable {
    /// Which one.
    package enum Role: String, Codable, Hashable, Sendable {
        /// What is compared with.
        case baseline
        /// What is judged.
        case candidate
    }

    /// Which one it is.
    package var role: Role
    /// Its command line, for `/bin/sh -c`.
    package var command: String
    /// Its name, as it says.
    package var name: String
    /// Its version, as it says.
    package var version: String
    /// The names of the strategies that it has.
    package var strategies: [String]
    /// The AES key lengths that it takes, in bytes.
    package var keyByteCounts: [Int]
    /// Where it reads ciphertext from: `path`, `served`.
    package var sources: [String]

    /// Whether it opens files by itself.
    var readsFiles: Bool { sources.contains("path") }

    /// Whether it takes ciphertext from this program.
    var isServed: Bool { sources.contains("served") || !readsFiles }

    /// Reads an answer to `hello`.
    init(role: Role, command: String, hello: JSONValue) {
        self.role = role
        self.command = command
        name = hello["name"]?.string ?? ""
        version = hello["version"]?.string ?? ""
        strategies = (hello["strategies"]?.array ?? []).compactMap(\.string)
        keyByteCounts = (hello["keyByteCounts"]?.array ?? []).compactMap(\.integer).map { Int(clamping: $0) }
        sources = (hello["sources"]?.array ?? []).compactMap(\.string)
    }
}
