import ArgumentParser
import Gate
import Report

/// The options for what becomes of a gate's result.
struct GateOutputOptions: ParsableArguments {
    @OptionGroup var formats: FormatOptions

    @Option(help: ArgumentHelp("Where the whole record goes, every slice of every block included.", valueName: "file"))
    var output: String?

    /// Prints a result, and writes the files that were asked for.
    func write(_ result: GateResult, to sides: GateSideOptions) throws {
        if let output { try WholeFile.write(result.json.text + "\n", to: output) }
        if let record = sides.record, result.isFitToRecord {
            try WholeFile.write(StoredRatios(result).text, to: record)
        }
        switch formats.format {
        case .json: print(result.summary.text)
        case .text: print(GateText.text(result, isRecording: sides.isRecording))
        }
    }
}
