internal import RandomAccess

/// A program that prints keys: 16 raw bytes on its standard output, and nothing else.
///
/// Its arguments end with the key's URI; its standard input is empty, and its standard error this process's.
public struct CommandKeys: KeyProvider {
    private let command: [String]
    private let name: String
    private let deadline: Duration

    /// Creates a provider; the program is started when a key is asked for.
    ///
    /// - Parameters:
    ///   - command: The program, found on the path if it has no slash, and its first arguments.
    ///   - name: What it is called in errors; `nil` for its path.
    ///   - deadline: How long it may take before it is killed.
    public init(command: [String], name: String? = nil, deadline: Duration = .seconds(10)) {
        self.command = command
        self.name = name ?? command.first ?? ""
        self.deadline = deadline
    }

    /// Runs the program; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        ProvidedKey(try keys(for: [uri])[0])
    }

    /// Runs the program for several keys, whose bytes it prints one behind the other.
    ///
    /// - Parameter uris: The keys' URIs, at least one.
    /// - Returns: The keys in the same order.
    /// - Throws: `KeyError`.
    func keys(for uris: [String]) throws(KeyError) -> [SecretKey] {
        guard !(command.first ?? "").isEmpty else {
            throw .commandFailed(command: "\"\"", reason: "is empty: expected a program")
        }
        // A NUL would end the argument early.
        guard !(command + uris).contains(where: { $0.utf8.contains(0) }) else {
            throw .commandFailed(command: name, reason: "would get an argument with a NUL character")
        }
        let bytes = KeyBytes()
        let run = try KeyCommandRun(command + uris, name: name)
        try run.finish(into: bytes, deadline: deadline)
        return try bytes.keys(uris.count, place: "what key command \(name) printed")
    }
}
