public import ArgumentParser
import ByteSources
import KeyTesting
import Keys
import RandomAccess
import Results
import SystemPackage

/// Simulates the clients of a live stream when its key changes.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Simulates the load of a live stream's clients on its key server.",
        discussion: helpText(
            """
            EXAMPLES
              chunkwise keys load
              chunkwise keys load --mode dispersed --clients 5000000 --window 2m --capacity 100000
              chunkwise keys load --loopback --output reports/keys

            EXIT CODES
              0 simulated, and with --loopback the run agrees; 1 simulation and run differ; 2 the run has no answer; 64
              usage; 74 I/O
            """))

    @Option(help: "The number of clients. (default: 1000000; 2000 with --loopback)")
    var clients: Int?

    @Option(help: "When the clients request the key. Without this option, each mode is simulated.")
    var mode: KeyLoadRecord.RequestMode?

    @Option(
        help: .taking(
            "time",
            "The time over which dispersed requests spread: whole seconds, or a time such as 2m. (default: 60s)"),
        transform: Self.seconds)
    var window = Duration.seconds(60)

    @Option(
        help: .taking(
            "time",
            "The time between the key's announcement and its use: whole seconds, or a time such as 2m. (default: 90s)"),
        transform: Self.seconds)
    var announced = Duration.seconds(90)

    @Option(
        help: .taking(
            "time",
            """
            The time over which the clients' playlist refreshes spread: whole seconds, or a time such as 2m. (default:
            6s)
            """), transform: Self.seconds)
    var refresh = Duration.seconds(6)

    @Option(help: "The number of requests per second that the server answers. (default: 200000; 200 with --loopback)")
    var capacity: Int?

    @Option(
        help: .taking(
            "time",
            "The time for an answer without other clients: whole milliseconds, or a time such as 2s. (default: 50ms)"
        ),
        transform: Duration.argument(.milliseconds, 0...1000 * Double(KeyLoadPlan.maxSeconds), isWhole: true))
    var roundTrip = Duration.milliseconds(50)

    @Option(help: "The random seed.")
    var seed: UInt64 = 1

    @Flag(help: "Also run the plan, over loopback connections, and compare.")
    var loopback = false

    @Option(help: "The number of seconds of the plan that pass in one second of the run.")
    var speed = 4

    @OptionGroup var printing: FormatOptions

    @Option(
        help: .taking(
            "folder",
            "The folder for key-load.json, or with --loopback key-load-loopback.json. It is created if necessary."),
        completion: .directory)
    var output: String?

    private var format: OutputFormat { printing.format }

    private static let seconds = Duration.argument(.seconds, 0...Double(KeyLoadPlan.maxSeconds), isWhole: true)

    func run() throws {
        let plans = try (mode.map { [$0] } ?? KeyLoadRecord.RequestMode.allCases).map(plan)
        if let output { try attempt { try Folder.create(FilePath(output)) } }
        guard !loopback else { return try compare(plans) }
        var cells: [KeyLoadRecord.Cell] = []
        for plan in plans {
            let result = KeyLoadSimulation.run(plan)
            if format == .text { print("\(plan.mode.rawValue): \(result.summary)") }
            cells.append(KeyLoadRecord.Cell(mode: plan.mode, simulated: result))
        }
        try finish(cells)
    }

    /// Prints the result as JSON if the user wants that, and writes it to the output folder if there is one.
    func finish(_ cells: [KeyLoadRecord.Cell]) throws {
        let record = KeyLoadRecord(
            command: Program.command, clientCount: UInt64(clientCount),
            windowSeconds: UInt64(window / .seconds(1)), announcedSeconds: UInt64(announced / .seconds(1)),
            refreshSeconds: UInt64(refresh / .seconds(1)),
            capacityPerSecond: UInt64(capacityPerSecond), roundTripMilliseconds: UInt64(roundTrip / .milliseconds(1)),
            seed: seed,
            speed: loopback ? UInt64(speed) : nil, cells: cells)
        if format == .json { print(record.json.text) }
        guard let output else { return }
        let name = loopback ? KeyLoadRecord.loopbackFileName : KeyLoadRecord.fileName
        try attempt {
            try TextFile.write(record.json.text + "\n", to: FilePath(output).appending(name))
        }
    }

    /// The number of clients.
    var clientCount: Int { clients ?? (loopback ? 2000 : 1_000_000) }

    private var capacityPerSecond: Int { capacity ?? (loopback ? 200 : 200_000) }

    private func plan(_ mode: KeyLoadRecord.RequestMode) throws -> KeyLoadPlan {
        try attempt {
            try KeyLoadPlan(
                clientCount: clientCount, mode: mode, policy: KeyPolicy(dispersalWindow: window),
                announcedBefore: announced, refreshInterval: refresh, capacityPerSecond: capacityPerSecond,
                roundTrip: roundTrip, seed: seed)
        }
    }
}

extension KeyLoadRecord.RequestMode: ExpressibleByArgument {}

#if Network
extension LoadCommand {
    /// Simulates plans, runs them, and compares both.
    func compare(_ plans: [KeyLoadPlan]) throws {
        var cells: [KeyLoadRecord.Cell] = []
        var disagreements = 0
        var lag: UInt64 = 0
        for plan in plans {
            let run = try run(plan)
            let comparison = KeyLoadComparison(simulated: KeyLoadSimulation.run(plan), run: run.result)
            if !comparison.agrees { disagreements += 1 }
            lag = max(lag, run.lagNanoseconds)
            cells.append(
                KeyLoadRecord.Cell(
                    mode: plan.mode, simulated: comparison.simulated, run: comparison.run,
                    agrees: comparison.agrees, lagNanoseconds: run.lagNanoseconds))
            guard format == .text else { continue }
            Self.show(plan.mode, "simulated", comparison.simulated)
            Self.show(plan.mode, "run", comparison.run)
            print(
                "\(plan.mode.rawValue): \(comparison.agrees ? "they agree" : "they differ"); this machine adds "
                    + "\(run.lagNanoseconds / 1_000_000) ms")
        }
        try finish(cells)
        guard disagreements > 0 else { return }
        // If this machine is too slow, the difference says nothing about the simulation.
        try require(
            lag < KeyLoadRecord.maxLagNanoseconds, .noAnswer,
            "this machine adds \(lag / 1_000_000) ms to times: expected less than 50, with less --speed or nothing "
                + "else on it")
        throw CommandFailure(.no, "\(disagreements) runs differ from their simulations: expected none")
    }

    private func run(_ plan: KeyLoadPlan) throws -> LoopbackRun {
        let speed = speed
        return try attempt { try Waiting.wait { try await LoopbackRun.run(plan, speed: speed) } }
    }

    private static func show(_ mode: KeyLoadRecord.RequestMode, _ what: String, _ result: KeyLoadRecord.Figures) {
        print("\(mode.rawValue), \(what): \(result.summary)")
    }
}

#else
extension LoadCommand {
    func compare(_ plans: [KeyLoadPlan]) throws { throw Network.missing("chunkwise keys load --loopback") }
}
#endif

extension KeyLoadRecord.Figures {
    /// The figures in one line.
    var summary: String {
        "peak \(peakPerSecond) requests/s, \(requestCount) requests, \(lateCount) clients late, \(gaveUpCount) gave "
            + "up, 99.9th percentile "
            + (p999Nanoseconds.map { "\($0 / 1_000_000) ms late" } ?? "without a key")
    }
}
