import ArgumentParser
import ByteSources
import Gate
import Report
import Results
import Support
import SystemPackage

/// `chunkwise gate`
struct GateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Checks that a candidate is not slower than a baseline.",
        discussion: helpText(
            """
            First, the candidate runs a selection of the vectors: one that delivers wrong bytes fails, however fast it
            is. Then both run in short turns, in fresh processes, beside a second copy of the baseline. A slowdown is
            confirmed by a second measurement. Without a baseline to run, --record stores the ratios of the candidate's
            times to those of a reference, and --against compares with them. Of a plan, the backend, access, threads,
            rounds and time are ignored.

            EXAMPLES
              chunkwise gate --baseline './a' --candidate './b' --write junit=gate.xml
              chunkwise gate --baseline './a' --candidate './b' --anchor release.json
              chunkwise gate --baseline 'a/{build}/r' --candidate 'b/{build}/r' --builds 12
              chunkwise gate --record ratios.json --candidate './a'
              chunkwise gate --against ratios.json --candidate './b'

            EXIT CODES
              0 faster or same; 1 slower, wrong, failed or grown; 2 there is no verdict
            """),
        subcommands: [SelfTest.self])

    @OptionGroup var sides: GateSideOptions
    @OptionGroup var options: GateOptions
    @OptionGroup var output: GateOutputOptions

    func run() throws {
        try output.validate(for: sides)
        var settings = try options.settings(for: sides)
        let anchors = try options.anchors.map { try options.settings(settings, against: $0) }
        let vectors = options.verify ? try GateRunning.verify(settings) : nil
        var result = try GateRunning.run(settings, vectors: vectors)
        var retries = options.retries
        while retries > 0, result.answer(allowsInconclusive: options.allowInconclusive) == .none {
            (retries, settings.seed) = (retries - 1, UInt64.random(in: 0..<1 << 32))
            result = try GateRunning.run(settings, vectors: vectors)
        }
        for anchor in anchors { result.anchors = (result.anchors ?? []) + [try GateRunning.run(anchor)] }
        try output.write(result, to: sides, allowsInconclusive: options.allowInconclusive)
        try GateRunning.requirePass(
            result, allowsInconclusive: options.allowInconclusive, isRecording: sides.isRecording)
    }
}

/// The options for the output of a gate's result.
struct GateOutputOptions: ParsableArguments {
    @Option(
        help: .taking("format", "The output format."))
    var format = GateFormat.text

    @Option(
        help: .taking("format=file", "Also write a file in a format. May be repeated."),
        completion: .gateFiles, transform: GateFile.argument)
    var write: [GateFile] = []

    @Option(
        help: .taking("file", "Write the whole record to this file."),
        completion: .file())
    var output: String?

    @OptionGroup var color: ColorOptions

    /// Checks, before the measurement, that the result can be written after it.
    func validate(for sides: GateSideOptions) throws {
        if sides.isRecording, format != .text || !write.isEmpty {
            throw CommandFailure(
                .usage, "--record with --format or --write: expected neither, since a recording has no verdict")
        }
        for path in [output, sides.record].compactMap(\.self) + write.map(\.path) {
            try OutputFile.requireFolder(of: path)
        }
    }

    /// Prints a result, and writes the files that the options name.
    func write(_ result: GateResult, to sides: GateSideOptions, allowsInconclusive: Bool) throws {
        func text(_ format: GateFormat) -> String {
            format.text(of: result, isRecording: sides.isRecording, allowsInconclusive: allowsInconclusive)
        }
        // Printed first, so that a file that cannot be written does not lose the result.
        if format == .text { color.show(text(format)) } else { print(text(format)) }
        try attempt {
            if let output { try TextFile.write(result.json.text + "\n", to: FilePath(output)) }
            if let record = sides.record, result.isFitToRecord {
                try TextFile.write(StoredRatios(result).text, to: FilePath(record))
            }
            for file in write { try TextFile.write(text(file.format) + "\n", to: FilePath(file.path)) }
        }
        if format == .github { try GitHubSummary.add(result.markdown) }
    }
}

/// The output format of a gate's result.
enum GateFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
    case junit
    case github
    case markdown

    /// A result in this format, without a line break at its end.
    func text(of result: GateResult, isRecording: Bool, allowsInconclusive: Bool) -> String {
        switch self {
        case .text: result.text(isRecording: isRecording)
        case .json: result.summary.text
        case .junit: String(result.junit(allowsInconclusive: allowsInconclusive).dropLast())
        case .github: result.githubAnnotations
        case .markdown: String(result.markdown.dropLast())
        }
    }
}

/// An additional file for a gate's result: `junit=gate.xml`.
struct GateFile {
    let format: GateFormat
    let path: String

    static let argument: @Sendable (String) throws -> GateFile = { text in
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let format = GateFormat(rawValue: parts[0]), !parts[1].isEmpty else {
            let names = GateFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(.usage, "expected a format (\(names)) and a file, such as junit=gate.xml")
        }
        return GateFile(format: format, path: parts[1])
    }
}
