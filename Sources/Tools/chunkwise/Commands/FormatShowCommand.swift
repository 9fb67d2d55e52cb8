import ArgumentParser
import RandomAccess
import Support

/// `chunkwise format show`
struct FormatShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a format: header, chunks, inputs, overhead, and the changes it detects.",
        discussion: helpText(
            """
            All figures are for the default values of the inputs. An input without a default has a sample value, which
            is shown. Names and values are those of --strategy. A change is detected when a reader reads the changed
            chunk.

            EXAMPLES
              chunkwise format show cobblestone-256
              chunkwise format show mine.yml --format json
              chunkwise format show formats.yml#mine

            EXIT CODES
              0 shown; 64 no such format; 65 the description is wrong; 66 there is no such file
            """))

    @Argument(
        help: "A format's name, the path of a description, or FILE#NAME for one of several in a file.",
        completion: .file(extensions: ["yml", "yaml"]))
    var name: String

    @OptionGroup var output: FormatOptions

    func run() throws {
        let isPath = FormatFiles.isPath(name)
        let views = try FormatFiles.formats(name).map { format in
            try FormatView(format, path: isPath ? name : nil)
        }
        switch output.format {
        case .json: print(JSONValue.object(["formats": .array(views.map(\.json))]).text)
        case .text: print(views.map(\.text).joined(separator: "\n\n"))
        }
    }
}
