import ArgumentParser
import RandomAccess
import Support

/// `chunkwise format list`
struct FormatListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the built-in formats.",
        discussion: helpText(
            """
            EXAMPLES
              chunkwise format list
              chunkwise format list --format json

            EXIT CODES
              0 listed; 64 usage
            """))

    @OptionGroup var output: FormatOptions

    func run() throws {
        let views = try Format.known.map { format in try attempt { try FormatView(format) } }
        let rows = views.map { [$0.format.name, $0.cipherText, $0.chunkText, PlainText.line($0.format.summary)] }
        let list = views.map { view in
            JSONValue(members: [
                "name": view.format.name, "summary": view.format.summary, "cipher": view.facts.cipher?.rawValue,
                "ciphers": view.ciphers.map(\.rawValue), "chunkByteCount": view.chunkByteCount,
            ])
        }
        output.show(
            table([["name", "cipher", "chunk", "summary"]] + rows), json: JSONValue(members: ["formats": list]))
    }
}
