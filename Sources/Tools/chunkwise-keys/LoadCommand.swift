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
        commandName: "load", abstract: "Simulate what a live stream's clients ask of its key server.")

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

    @Option(help: "How many milliseconds an answer takes if nobody else asks.")
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
        if let output { try attempt { () throws(DecryptionError) in try Folder.create(FilePath(output)) } }
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
            command: ["chunkwise-keys"] + CommandLine.arguments.dropFirst(), clientCount: UInt64(clientCount),
            windowSeconds: UInt64(window), announcedSeconds: UInt64(announced), refreshSeconds: UInt64(refresh),
            capacityPerSecond: UInt64(capacityPerSecond), roundTripMilliseconds: UInt64(roundTrip), seed: seed,
            speed: loopback ? UInt64(speed) : nil, cells: cells)
        if format == .json { print(record.json.text) }
        guard let output else { return }
        let name = loopback ? KeyLoadRecord.loopbackFileName : KeyLoadRecord.fileName
        try attempt { () throws(DecryptionError) in
            try TextFile.write(record.json.text + "\n", to: FilePath(output).appending(name))
        }
    }

    private func attempt(_ body: () throws(DecryptionError) -> Void) throws {
        do throws(DecryptionError) {
            try body()
        } catch {
            throw KeysFailure(.io, "\(error)")
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
            throw KeysFailure(.usage, "\(error)")
        }
    }
}

extension KeyLoadPlan.Way: ExpressibleByArgument {}
