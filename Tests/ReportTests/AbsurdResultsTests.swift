import Foundation
import Report
import Results
import Statistics
import Testing

/// Whatever a file says, a report of it ends in bytes or in an error, and in no trap.
@Suite("absurd results")
struct AbsurdResultsTests {
    /// The records of the small fixture, as the lines of a file.
    private static func file() throws -> [String] {
        var records: [ResultRecord] = [.header(Fixture.header)] + Fixture.conformance.map(ResultRecord.conformance)
        for cell in Fixture.small.cells {
            if let reason = cell.failure { records.append(.failure(.init(cell: cell.cell, reason: reason))) }
            if let check = cell.check { records.append(.check(check)) }
            for (round, times) in cell.rounds.enumerated() {
                var time = TimeRecord(cellID: cell.cell.id, round: round, nanoseconds: times)
                time.usage = ProcessUsage(
                    userNanoseconds: 1, systemNanoseconds: 1, minorFaults: 1, majorFaults: 1, voluntarySwitches: 1,
                    involuntarySwitches: 1, instructions: 1, cycles: 1)
                records.append(.time(time))
            }
            if let latency = cell.latency {
                records.append(.latency(.init(cellID: cell.cell.id, latency: latency, firstByte: latency)))
            }
            if let memory = cell.memory { records.append(.memory(.init(cellID: cell.cell.id, memory: memory))) }
        }
        return try (records + [.end]).map { String(decoding: try $0.line(), as: UTF8.self) }
    }

    /// Replaces some numbers and texts of a line.
    private static func mutated(_ line: String, using generator: inout SplitMix64) -> String {
        let numbers = [
            "0", "1", "-1", "18446744073709551615", "18446744073709551616", "9223372036854775807",
            "4611686018427387903",
            "1e308", "0.5", "null", "NaN", "\"\"", "[]", "281474976710656", "65536", "4294967296",
        ]
        let texts = [
            "\"\"", "\"<script>\"", "\"\\u0000\\ud800\"", "\"\u{202E}\"", "null", "\"sequential\"", "\"random:\"",
        ]
        var result = ""
        var rest = Substring(line)
        while let character = rest.first {
            let isNumber = character.isNumber && (result.last == ":" || result.last == "[" || result.last == ",")
            let isText = character == "\"" && result.last == ":"
            if (isNumber || isText), generator.next() % 12 == 0 {
                if isNumber {
                    rest = rest.drop { $0.isNumber || $0 == "." }
                } else {
                    rest = rest.dropFirst().drop { $0 != "\"" }.dropFirst()
                }
                result += (isNumber ? numbers : texts).randomElement(using: &generator) ?? "0"
                continue
            }
            result.append(character)
            rest = rest.dropFirst()
        }
        return result
    }

    @Test("a file with absurd values anywhere is reported or refused", arguments: 0..<60)
    func mutations(seed: Int) throws {
        var generator = SplitMix64(seed: UInt64(seed))
        let lines = try Self.file()
        var accepted: [ResultRecord] = []
        for (index, line) in lines.enumerated() {
            // A changed line that is refused would hide all others, so that each is tried alone.
            let tried = index == 0 && seed.isMultiple(of: 2) ? line : Self.mutated(line, using: &generator)
            let bytes = Array(tried.utf8)
            if let record = try? JSONDecoder().decode(ResultRecord.self, from: Data(bytes)) { accepted.append(record) }
        }
        guard let results = try? RunResults(records: accepted) else { return }
        for file in RunReport(results, history: History([HistoricalRun(results, path: "p", link: "l")])).files {
            #expect(!file.bytes.isEmpty)
        }
        for file in SideBySide([("a", results), ("b", Fixture.small)]).files { #expect(!file.bytes.isEmpty) }
        for file in RunComparison(Fixture.small, named: "a", with: results, named: "b").files {
            #expect(!file.bytes.isEmpty)
        }
        let runs = (0..<8).map { HistoricalRun($0 < 4 ? results : Fixture.small, path: "\($0)", link: "l") }
        for format in TrendFormat.allCases { #expect(!History(runs).file(format).bytes.isEmpty) }
    }

    @Test("most files with a few absurd values are accepted: the test above means something")
    func accepted() throws {
        var counts = (accepted: 0, all: 0)
        for seed in 0..<20 {
            var generator = SplitMix64(seed: UInt64(seed))
            for line in try Self.file() {
                let bytes = Data(Self.mutated(line, using: &generator).utf8)
                counts.all += 1
                counts.accepted += (try? JSONDecoder().decode(ResultRecord.self, from: bytes)) == nil ? 0 : 1
            }
        }
        #expect(counts.accepted * 3 > counts.all, "\(counts)")
    }
}
