import ArgumentParser
import RandomAccess
import SubjectProtocol
import Support

/// `chunkwise format check`
struct FormatCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a description of a format, and summarizes the format.",
        discussion: helpText(
            """
            check reads the description. Then it writes small objects with a made-up key and reads them back: an empty
            one, one that is shorter than a chunk, and some that end near the end of a chunk. An error is
            shown with its line and column.

            EXAMPLES
              chunkwise format check mine.yml
              chunkwise format check formats.yml#mine

            EXIT CODES
              0 right, possibly with warnings; 65 the description is wrong; 66 there is no such file
            """))

    @Argument(
        help: "The description's path, or FILE#NAME for one of several in a file.",
        completion: .file(extensions: ["yml", "yaml"]))
    var file: String

    func run() throws {
        let path = FormatFiles.parts(file).path
        var rows = [["name", "cipher", "chunk", "notices", "backends"]]
        for format in try FormatFiles.formats(inFile: file) {
            let name = "\(path): \(format.name)"
            try attemptData(name) { try format.checkTextForms() }
            let view = try FormatView(format, path: path)
            if let fault = view.facts.readFault {
                let text = "\(fault)"
                let expectation = text.contains("expected") ? "" : ": expected rules that the cipher can follow"
                throw CommandFailure(.badData, "\(name): no object can be read: \(text)\(expectation)")
            }
            if let warning = try attemptData(name, { try FormatTrial(view, name: name).warning() }) {
                Terminal.warn("\(name): \(warning)")
            }
            if view.facts.isTagged, !view.facts.isEndBound, !view.facts.isWhole, format.checksLast {
                Terminal.warn(
                    "\(name): opening checks the last chunk, which does not show a cut between chunks; set "
                        + "openChecksLast: false if your readers do not check it")
            }
            if let fault = view.nonceFault { Terminal.warn("\(name): nonces: \(fault)") }
            rows.append([
                format.name, view.cipherText, view.chunkText, view.noticesText,
                view.backends.isEmpty ? "none" : view.backends.joined(separator: " "),
            ])
        }
        print(table(rows))
    }
}
