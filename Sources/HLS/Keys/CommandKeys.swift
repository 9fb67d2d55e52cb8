/// A program that prints keys: 16 raw bytes on its standard output, and nothing else.
///
/// Its arguments end with the key's URI; its standard input is empty, and its standard error this process's.
public struct CommandKeys: KeyProvider {
    private let command: [String]
    private let timeLimit: Duration

    /// Creates a provider; the program is started when a key is asked for.
    ///
    /// - Parameters:
    ///   - command: The program, found on the path if it has no slash, and its first arguments.
    ///   - timeLimit: How long it may take before it is killed.
    public init(command: [String], timeLimit: Duration = .seconds(10)) {
        self.command = command
        self.timeLimit = timeLimit
    }

    /// Runs the program; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        let name = command.first ?? ""
        guard !name.isEmpty else { throw .commandFailed(command: "\"\"", reason: "is empty: expected a program") }
        // A NUL would end the argument early.
        guard !(command + [uri]).contains(where: { $0.utf8.contains(0) }) else {
            throw .commandFailed(command: name, reason: "would get an argument with a NUL character")
        }
        let bytes = KeyBytes()
        let run = try KeyCommandRun(command + [uri], name: name)
        try run.finish(into: bytes, timeLimit: timeLimit)
        return ProvidedKey(try bytes.key(place: "what key command \(name) printed"))
    }
}
