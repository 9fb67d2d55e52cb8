import ArgumentParser
import CommandOptions
import Gate
import Report
import Results

/// The options for what becomes of a gate's result.
struct GateOutputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How to print the result: text, json, junit, github (annotations, and the job's summary) or markdown.",
            valueName: "format"))
    var format = GateFormat.text

    @Option(
        help: ArgumentHelp(
            "Write the result to a file as well, such as junit=gate.xml; may be given several times.",
            valueName: "format=file"), completion: .gateFiles)
    var write: [GateFile] = []

    @Option(
        help: ArgumentHelp("Where the whole record goes, every slice of every block included.", valueName: "file"),
        completion: .file())
    var output: String?

    @OptionGroup var color: ColorOptions

    /// Says before anything is measured what could not be written afterwards.
    func validate(for sides: GateSideOptions) throws {
        if sides.isRecording, format != .text || !write.isEmpty {
            throw CommandFailure(
                .usage, "--record with --format or --write: expected neither, since a recording has no verdict")
        }
        for path in [output, sides.record].compactMap(\.self) + write.map(\.path) {
            try WholeFile.requireFolder(of: path)
        }
    }

    /// Prints a result, and writes the files that were asked for.
    func write(_ result: GateResult, to sides: GateSideOptions, allowsInconclusive: Bool) throws {
        func text(_ format: GateFormat) -> String {
            format.text(of: result, isRecording: sides.isRecording, allowsInconclusive: allowsInconclusive)
        }
        // What cannot be written elsewhere is not lost.
        if format == .text { color.show(text(format)) } else { print(text(format)) }
        if let output { try WholeFile.write(result.json.text + "\n", to: output) }
        if let record = sides.record, result.isFitToRecord {
            try WholeFile.write(StoredRatios(result).text, to: record)
        }
        for file in write { try WholeFile.write(text(file.format) + "\n", to: file.path) }
        if format == .github { try GitHubSummary.add(result.markdown) }
    }
}
