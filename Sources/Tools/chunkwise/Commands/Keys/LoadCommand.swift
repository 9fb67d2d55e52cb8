import ArgumentParser
import ByteSources
import KeyTesting
import Keys
import RandomAccess
import Results
import SystemPackage

/// Simulates the clients of a live stream when its key changes.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Simulates what a live stream's clients ask of its key server.")

    @Option(help: "How many clients there are. (default: 1000000; 2000 with --loopback)")
    var clients: Int?

    @Option(help: "When they ask: onDemand, preloaded or dispersed; all three, unless one is named.")
    var way: KeyLoadPlan.Way?

    @Option(help: "Over how many seconds dispersed requests are spread.")
    var window = 60

    @Option(help: "How many seconds before the key appears it is announced.")
    var announced = 90

    @Option(help: "Over how many seconds the refreshes of the clients' playlists are spread.")
    var refresh = 6

    @Option(help: "How many requests the server answers in a second. (default: 200000; 200 with --loopback)")
    var capacity: Int?

    @Option(help: "How many milliseconds an answer takes if no other client asks.")
    var roundTrip = 50

    @Option(help: "What all chance follows from.")
    var seed: UInt64 = 1

    @Flag(help: "Run it as well, over connections on loopback, and compare.")
    var loopback = false

    @Option(help: "How many seconds of the plan pass in one of the run's.")
    var speed = 4

    @Option(help: "How the result is printed: text or json.")
    var format = OutputFormat.text

    @Option(
        help: ArgumentHelp(
            "The folder to write key-load.json into, or key-load-loopback.json with --loopback; it is made if need be.",
            valueName: "folder"), completion: .directory)
    var output: String?

    func run() throws {
        let plans = try (way.map { [$0] } ?? KeyLoadPlan.Way.allCases).map(plan)
        if let output { try attempt { try Folder.create(FilePath(output)) } }
        guard !loopback else { return try compare(plans) }
        var cells: [KeyLoadRecord.Cell] = []
        for plan in plans {
            let result = KeyLoadSimulation.run(plan)
            if format == .text { print("\(plan.way.rawValue): \(result.summary)") }
            cells.append(KeyLoadRecord.Cell(way: .init(plan.way), simulated: .init(result)))
        }
        try finish(cells)
    }

    /// Prints the result where text does not say it already, and writes it where it was asked for.
    func finish(_ cells: [KeyLoadRecord.Cell]) throws {
        let record = KeyLoadRecord(
            command: Program.command, clientCount: UInt64(clientCount),
            windowSeconds: UInt64(window), announcedSeconds: UInt64(announced), refreshSeconds: UInt64(refresh),
            capacityPerSecond: UInt64(capacityPerSecond), roundTripMilliseconds: UInt64(roundTrip), seed: seed,
            speed: loopback ? UInt64(speed) : nil, cells: cells)
        if format == .json { print(record.json.text) }
        guard let output else { return }
        let name = loopback ? KeyLoadRecord.loopbackFileName : KeyLoadRecord.fileName
        try attempt {
            try TextFile.write(record.json.text + "\n", to: FilePath(output).appending(name))
        }
    }

    /// How many clients there are.
    var clientCount: Int { clients ?? (loopback ? 2000 : 1_000_000) }

    private var capacityPerSecond: Int { capacity ?? (loopback ? 200 : 200_000) }

    private func plan(_ way: KeyLoadPlan.Way) throws -> KeyLoadPlan {
        do {
            return try KeyLoadPlan(
                clientCount: clientCount, way: way, policy: KeyPolicy(dispersalWindow: .seconds(window)),
                announcedBefore: .seconds(announced), refreshInterval: .seconds(refresh),
                capacityPerSecond: capacityPerSecond, roundTrip: .milliseconds(roundTrip),
                seed: seed)
        } catch {
            throw CommandFailure(.usage, "\(error)")
        }
    }
}

extension KeyLoadPlan.Way: ExpressibleByArgument {}

#if Network
extension LoadCommand {
    /// Simulates plans and runs them, side by side.
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
                    way: .init(plan.way), simulated: .init(comparison.simulated), run: .init(comparison.run),
                    agrees: comparison.agrees, lagNanoseconds: run.lagNanoseconds))
            guard format == .text else { continue }
            Self.show(plan.way, "simulated", comparison.simulated)
            Self.show(plan.way, "run", comparison.run)
            print(
                "\(plan.way.rawValue): \(comparison.agrees ? "they agree" : "they differ"); this machine adds "
                    + "\(run.lagNanoseconds / 1_000_000) ms")
        }
        try finish(cells)
        guard disagreements > 0 else { return }
        // What the machine adds is no fault of the simulation.
        guard lag < KeyLoadRecord.maxLagNanoseconds else {
            throw CommandFailure(
                .noAnswer,
                "this machine adds \(lag / 1_000_000) ms to times: expected less than 50, with less --speed or nothing "
                    + "else on it")
        }
        throw CommandFailure(.no, "\(disagreements) runs differ from their simulations: expected none")
    }

    private func run(_ plan: KeyLoadPlan) throws -> LoopbackRun {
        let speed = speed
        do {
            return try Waiting.wait { try await LoopbackRun.run(plan, speed: speed) }
        } catch let error as KeyLoadError {
            throw CommandFailure(.noAnswer, "\(error)")
        }
    }

    private static func show(_ way: KeyLoadPlan.Way, _ what: String, _ result: KeyLoadResult) {
        print("\(way.rawValue), \(what): \(result.summary)")
    }
}

#else
extension LoadCommand {
    func compare(_ plans: [KeyLoadPlan]) throws { throw Network.missing("keys load --loopback") }
}
#endif

extension KeyLoadResult {
    /// The figures in a line.
    var summary: String {
        "peak \(peakPerSecond) requests/s, \(requestCount) requests, \(lateCount) clients late, \(gaveUpCount) gave up, "
            + "99.9th percentile "
            + (lateness(tenthsOfPercent: 999).map { "\($0 / 1_000_000) ms late" } ?? "without a key")
    }
}

extension KeyLoadRecord.Figures {
    /// The figures that are kept of a result.
    init(_ result: KeyLoadResult) {
        self.init(
            peakPerSecond: UInt64(clamping: result.peakPerSecond), requestCount: UInt64(clamping: result.requestCount),
            retryCount: UInt64(clamping: result.retryCount), answeredCount: UInt64(clamping: result.answeredCount),
            lateCount: UInt64(clamping: result.lateCount), gaveUpCount: UInt64(clamping: result.gaveUpCount),
            p50Nanoseconds: result.lateness(tenthsOfPercent: 500),
            p99Nanoseconds: result.lateness(tenthsOfPercent: 990),
            p999Nanoseconds: result.lateness(tenthsOfPercent: 999),
            perSecond: result.requestsPerSecond.map { UInt64($0) })
    }
}

extension KeyLoadRecord.Way {
    /// The way of a plan.
    init(_ way: KeyLoadPlan.Way) {
        self =
            switch way {
            case .onDemand: .onDemand
            case .preloaded: .preloaded
            case .dispersed: .dispersed
            }
    }
}
