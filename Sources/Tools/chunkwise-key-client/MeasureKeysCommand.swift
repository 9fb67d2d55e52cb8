import ArgumentParser
import ByteSources
import CommandOptions
import Foundation
import Measurement
import Results
import Support
import SystemPackage

/// `chunkwise key-client measure`.
struct MeasureKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "measure",
        abstract: "Measures the time from opening an encrypted playlist to its first plaintext byte.",
        discussion: helpText(
            """
            Keys are asked for on demand, all at once in a batch, or were preloaded, from a key server on this machine
            that holds each answer back; and, to compare, from files. Each round has a sample of each way, in an order
            drawn from the seed; ratios are of samples of the same round. --output keeps the result in a folder, from
            which chunkwise report makes a page.

            EXIT CODES
              0 preloaded keys need no request and at most the allowed ratio; 1 they do not; 64 usage; 74 I/O
            """))

    /// How the result is printed.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text
        case json
    }

    @Option(help: ArgumentHelp("How long the key server holds an answer back, in milliseconds.", valueName: "ms,…"))
    var delays = "5,50,300"

    @Option(help: ArgumentHelp("How many keys the playlist has: one for each segment.", valueName: "count"))
    var keys = 8

    @Option(help: ArgumentHelp("How often everything is measured.", valueName: "count"))
    var rounds = 21

    @Option(help: ArgumentHelp("How long a segment is.", valueName: "size"), transform: ByteSize.argument)
    var segmentSize = ByteSize(1 << 20)

    @Option(help: ArgumentHelp("How much longer than with local keys preloaded ones may take.", valueName: "ratio"))
    var maxRatio = 1.1

    @Option(help: "The crypto library; see chunkwise backends.")
    var backend = "openssl"

    @Option(help: "What the order within rounds follows from.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("How to print the result: text or json.", valueName: "format"))
    var format: Format = .text

    @Option(
        help: ArgumentHelp("The folder to write key-waits.json into, which is made if need be.", valueName: "folder"),
        completion: .directory)
    var output: String?

    func run() async throws {
        CoreDumps.disable()
        let delays = try checkedDelays()
        if let output { try attempt { try Folder.create(FilePath(output)) } }
        let folder = FilePath(NSTemporaryDirectory()).appending("chunkwise-keys-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        let measurement = try attempt {
            try KeyWaitMeasurement(
                folder: folder, keyCount: keys, segmentByteCount: Int(segmentSize.byteCount),
                backend: try Validated.backend(backend))
        }
        var cells: [KeyWaitsRecord.Cell] = []
        for delay in delays {
            do {
                let measured = try await measurement.cells(delayMilliseconds: delay, rounds: rounds, seed: seed)
                cells += measured.map { $0.record(local: measured) }
            } catch {
                throw CommandFailure(.io, "measure with \(delay) ms: \(error)")
            }
        }
        let record = KeyWaitsRecord(
            command: ["chunkwise", "key-client"] + CommandLine.arguments.dropFirst(), host: ThisHost.describe(),
            seed: seed, rounds: UInt64(rounds), keyCount: UInt64(keys), segmentByteCount: segmentSize.byteCount,
            backend: backend, cells: cells)
        print(format == .json ? record.json.text : text(record))
        try attempt { try output.map { try TextFile.write(record.json.text + "\n", to: Self.file(in: $0)) } }
        try require(record)
    }

    private static func file(in folder: String) -> FilePath { FilePath(folder).appending(KeyWaitsRecord.fileName) }

    /// What the measurement is for.
    private func require(_ record: KeyWaitsRecord) throws {
        for cell in record.cells where cell.way == .preloaded {
            let place = "preloaded keys, \(cell.delayMilliseconds) ms"
            guard cell.requestCount == 0 else {
                throw CommandFailure(.no, "\(place): \(cell.requestCount) requests: expected none")
            }
            let ratio = cell.ratioToLocal.estimate
            guard ratio <= maxRatio else {
                throw CommandFailure(
                    .no, "\(place): \(Self.text(ratio)) × of local ones: expected at most \(maxRatio)")
            }
        }
    }

    private func checkedDelays() throws -> [Int] {
        let numbers = delays.split(separator: ",").map { Int($0) }
        guard !numbers.isEmpty, numbers.allSatisfy({ $0.map { (0...10_000).contains($0) } ?? false }) else {
            throw CommandFailure(.usage, "--delays \(delays): expected numbers from 0 to 10000, such as 5,50,300")
        }
        guard (1...64).contains(keys) else { throw CommandFailure(.usage, "--keys \(keys): expected 1 to 64") }
        guard (6...1000).contains(rounds) else {
            throw CommandFailure(.usage, "--rounds \(rounds): expected 6 to 1000")
        }
        guard (1...16 << 20).contains(segmentSize.byteCount) else {
            throw CommandFailure(.usage, "--segment-size \(segmentSize): expected 1 byte to 16MiB")
        }
        return numbers.compactMap(\.self)
    }

    private static func text(_ ratio: Double) -> String { String(format: ratio < 10 ? "%.2f" : "%.0f", ratio) }

    private func text(_ record: KeyWaitsRecord) -> String {
        let head = ["server", "keys", "requests", "first byte", "of local", "95 % interval"]
        let lines = record.cells.map { cell in
            [
                "\(cell.delayMilliseconds) ms", cell.way.rawValue, "\(cell.requestCount)",
                String(format: "%.3f ms", cell.medianNanoseconds / 1e6), Self.text(cell.ratioToLocal.estimate) + " ×",
                "\(Self.text(cell.ratioToLocal.low)) to \(Self.text(cell.ratioToLocal.high))",
            ]
        }
        return TextTable([head] + lines, rightAligned: [0, 2, 3, 4]).text
    }
}
