import ArgumentParser

/// `chunkwise keys`
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Tests key sessions, and measures their cost for players and key servers.",
        discussion: helpText(
            """
            EXAMPLES
              chunkwise keys scenarios data/scenarios/*.json   do sessions do what they should?
              chunkwise keys load                              what a million clients ask of a key server
              chunkwise keys measure                           how long players wait for keys

            EXIT CODES
              0 yes; 1 the answer is no; 2 no answer; 64 usage; 65 bad data; 66 missing input; 74 I/O
            """),
        subcommands: [
            ScenariosCommand.self, LoadCommand.self, PlayCommand.self, MeasureKeysCommand.self, FetchKeyCommand.self,
            KeySubjectCommand.self,
        ])
}
