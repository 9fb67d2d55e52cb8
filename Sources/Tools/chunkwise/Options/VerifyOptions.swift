import ArgumentParser
import BackendRegistry
import RandomAccess
import Support

/// The option `--backend` of `verify` and its subcommands.
struct TestedBackends: ParsableArguments {
    @Option(help: "A backend to test. May be repeated. (default: all)", completion: .backends)
    var backend: [String] = []

    /// The backends that the user names, or those of this machine. With `all`, those without AES are among them.
    func backends(all: Bool = false) throws -> [any CipherBackend] {
        guard backend.isEmpty else { return try backend.map { try Validated.backend($0, isForData: false) } }
        return all ? Backends.available { !$0.strategyNames.isEmpty } : Backends.available()
    }
}

/// The option `--threads` of `verify` and its subcommands.
struct VerifyThreads: ParsableArguments {
    @Option(help: "The number of threads. (default: 2)")
    var threads: Int?

    var count: Int { get throws { try Validated.threads(threads ?? 2) } }
}

/// The option `--strategy` of `verify` and its subcommands.
struct TestedFormats: ParsableArguments {
    @Option(
        name: .customLong("strategy"),
        help: .taking(
            "name", "Test this format: a name, or the path of a description. May be repeated. (default: all)"),
        completion: .strategies)
    var names: [String] = []

    /// The formats that the user names; `nil` for the default set.
    func formats() throws -> FormatVerification? { names.isEmpty ? nil : try FormatVerification(names) }
}

/// The options for the output of `verify` and its subcommands.
struct VerifyOutputOptions: ParsableArguments {
    @OptionGroup var format: FormatOptions
    @OptionGroup var color: ColorOptions

    var isJSON: Bool { format.format == .json }

    /// Prints a result in the format that the user wants.
    func show(_ text: @autoclosure () -> String, json: @autoclosure () -> JSONValue) {
        if isJSON { print(json().text) } else { color.show(text()) }
    }
}

/// The options of `verify` and `verify search` for many machines.
struct VerifyJobOptions: ParsableArguments {
    @OptionGroup var fleet: FleetOptions

    @Option(
        name: .customLong("output"), help: .taking("folder", "The folder of the job, with --split or --manifest."),
        completion: .directory)
    var folder: String?

    /// True if the command splits a job into shards.
    var isAsked: Bool { fleet.split != nil }

    mutating func validate() throws {
        try requireValid(!isAsked || folder != nil, "--split without --output: expected a folder for the job")
        try requireValid(
            folder == nil || isAsked || fleet.isShard, "--output: expected --split or --manifest with it")
    }

    /// Refuses what is tested, and the format of the output, if a job cannot have them.
    func validate(for tested: TestedSubjects, _ output: FormatOptions) throws {
        try requireValid(
            !isAsked || tested.commands.count < 2,
            "--split with \(tested.commands.count) --subject and --plugin: expected one, and a job for each of the "
                + "others")
        try requireValid(
            !isAsked && !fleet.isShard || output.format == .text,
            "--format json with --split or --manifest: expected text; chunkwise report has the merged results as JSON")
    }
}
