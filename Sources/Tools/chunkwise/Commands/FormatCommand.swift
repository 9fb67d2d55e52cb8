import ArgumentParser

/// `chunkwise format`
struct FormatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "format", abstract: "Shows, checks and creates descriptions of formats.",
        discussion: helpText(
            """
            A format is a description that fits on a page: header, chunks, keys, nonces. docs/formats.md explains the
            language.

            EXAMPLES
              chunkwise format list
              chunkwise format new mine > mine.yml
              chunkwise format check mine.yml
              chunkwise format show mine.yml

            EXIT CODES
              0 done; 64 no such format; 65 the description is wrong; 66 there is no such file
            """),
        subcommands: [
            FormatListCommand.self, FormatShowCommand.self, FormatCheckCommand.self, FormatNewCommand.self,
        ])
}
