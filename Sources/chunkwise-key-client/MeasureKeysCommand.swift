import ArgumentParser
import CommandOptions
import Console
import Foundation
import JSON
import Measurement
import Statistics
import SystemPackage

/// `chunkwise key-client measure`.
struct MeasureKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "measure",
        abstract: "Measures the time from opening an encrypted playlist to its first plaintext byte.",
        discussion: """
            Keys are asked for on demand, all at once in a batch, or were preloaded, from a key server on this machine
            that holds each answer back; and, to compare, from files. Each round has a sample of each way, in an order
            drawn from the seed; ratios are of samples of the same round.

            EXIT CODES
              0 preloaded keys need no request and at most the allowed ratio; 1 they do not; 64 usage; 74 I/O
            """)

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
    var mostRatio = 1.1

    @Option(help: "The crypto library; see chunkwise backends.")
    var backend = "openssl"

    @Option(help: "What the order within rounds follows from.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("How to print the result: text or json.", valueName: "format"))
    var format: Format = .text

    func run() async throws {
        let delays = try checkedDelays()
        let folder = FilePath(NSTemporaryDirectory()).appending("chunkwise-keys-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        let measurement = try attempt {
            try KeyWaitMeasurement(
                folder: folder, keyCount: keys, segmentByteCount: Int(segmentSize.byteCount),
                backend: try Validated.backend(backend))
        }
        var cells: [KeyWaitMeasurement.Cell] = []
        for delay in delays {
            do {
                cells += try await measurement.cells(delayMilliseconds: delay, rounds: rounds, seed: seed)
            } catch {
                throw CommandFailure(.io, "measure with \(delay) ms: \(error)")
            }
        }
        let rows = cells.map { cell in Row(cell, local: cells) }
        print(format == .json ? json(rows).text : text(rows))
        for row in rows where row.cell.way == .preloaded {
            let place = "preloaded keys, \(row.cell.delayMilliseconds) ms"
            guard row.cell.requestCount == 0 else {
                throw CommandFailure(.no, "\(place): \(row.cell.requestCount) requests: expected none")
            }
            guard row.ratio.estimate <= mostRatio else {
                throw CommandFailure(
                    .no, "\(place): \(Row.text(row.ratio.estimate)) × of local ones: expected at most \(mostRatio)")
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

    /// A cell beside the local one of the same rounds.
    private struct Row {
        let cell: KeyWaitMeasurement.Cell
        let median: Double
        let ratio: (low: Double, estimate: Double, high: Double)

        init(_ cell: KeyWaitMeasurement.Cell, local cells: [KeyWaitMeasurement.Cell]) {
            self.cell = cell
            median = Statistics.median(of: cell.nanoseconds) ?? 0
            let local = cells.first { $0.way == .local && $0.delayMilliseconds == cell.delayMilliseconds }
            // Ratios of a round are symmetric on the scale of their logarithms.
            let logarithms = zip(cell.nanoseconds, local?.nanoseconds ?? []).map { log(Double($0)) - log(Double($1)) }
            let interval = SignedRankInterval(logarithms, alpha: 0.025)
            ratio = (exp(interval?.low ?? 0), exp(interval?.estimate ?? 0), exp(interval?.high ?? 0))
        }

        static func text(_ ratio: Double) -> String { String(format: ratio < 10 ? "%.2f" : "%.0f", ratio) }
    }

    private func text(_ rows: [Row]) -> String {
        let head = ["server", "keys", "requests", "first byte", "of local", "95 % interval"]
        let lines = rows.map { row in
            [
                "\(row.cell.delayMilliseconds) ms", row.cell.way.rawValue, "\(row.cell.requestCount)",
                String(format: "%.3f ms", row.median / 1e6), Row.text(row.ratio.estimate) + " ×",
                "\(Row.text(row.ratio.low)) to \(Row.text(row.ratio.high))",
            ]
        }
        return TextTable([head] + lines, rightAligned: [0, 2, 3, 4]).text
    }

    private func json(_ rows: [Row]) -> JSONValue {
        let cells = rows.map { row in
            JSONValue.object([
                "delayMilliseconds": JSONValue(count: row.cell.delayMilliseconds),
                "way": .string(row.cell.way.rawValue),
                "requests": JSONValue(count: row.cell.requestCount), "medianNanoseconds": .number(row.median),
                "ratioToLocal": [
                    "low": .number(row.ratio.low), "estimate": .number(row.ratio.estimate),
                    "high": .number(row.ratio.high),
                ],
                "samplesNanoseconds": .array(row.cell.nanoseconds.map { .integer($0) }),
            ])
        }
        return [
            "keys": JSONValue(count: keys), "rounds": JSONValue(count: rounds), "seed": .integer(seed),
            "segmentByteCount": .integer(segmentSize.byteCount), "backend": .string(backend), "cells": .array(cells),
        ]
    }
}
