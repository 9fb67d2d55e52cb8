import ArgumentParser

/// `chunkwise keys`
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Tests key sessions, and measures what they cost players and key servers.",
        subcommands: [
            ScenariosCommand.self, LoadCommand.self, PlayCommand.self, MeasureKeysCommand.self, FetchKeyCommand.self,
            KeySubjectCommand.self,
        ])
}

/// `chunkwise key-client`, the older spelling of two commands of `chunkwise keys`.
struct KeyClientCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key-client",
        abstract: "The same as chunkwise keys fetch and chunkwise keys measure.",
        shouldDisplay: false,
        subcommands: [FetchKeyCommand.self, MeasureKeysCommand.self])
}
