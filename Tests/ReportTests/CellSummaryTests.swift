import Foundation
import Report
import Results
import Testing

@Suite struct CellSummaryTests {
    @Test("throughput is bytes delivered by the median time, and its ends are those of the time's interval")
    func throughput() throws {
        let summary = CellSummary(
            Fixture.sequential("openssl", window: 4096, milliseconds: 2, growth: 0), seed: 7)
        let speed = try #require(summary.speed)
        // The median of 1,991,000, 2,000,000, 2,011,000, 1,988,000, 2,001,000 and 2,008,000 is 2,000,500.
        #expect(speed.nanoseconds.median == 2_000_500)
        #expect(speed.bytesPerSecond == 524_156_961)
        #expect(speed.bytesPerSecondLow == UInt64((1_048_576 / speed.nanoseconds.high * 1e9).rounded()))
        #expect(speed.bytesPerSecondHigh == UInt64((1_048_576 / speed.nanoseconds.low * 1e9).rounded()))
        #expect(speed.bytesPerSecondLow < speed.bytesPerSecond && speed.bytesPerSecond < speed.bytesPerSecondHigh)
    }

    @Test("the members that scripts rely on are always there")
    func contract() throws {
        let contract: Set = [
            "backend", "strategy", "chunkByteCount", "windowByteCount", "workload", "threads", "bytesPerSecond",
            "bytesPerSecondLow", "bytesPerSecondHigh", "nanoseconds", "latency", "memory", "amplification", "digest",
            "limitShare",
        ]
        for result in Fixture.small.cells {
            #expect(contract.isSubset(of: try members(of: CellSummary(result, seed: 7)).keys))
        }
        let random = try members(of: CellSummary(Fixture.small.cells[5], seed: 7))
        #expect((random["latency"] as? [String: Any])?["p999"] as? Int == 45_000)
        #expect((random["amplification"] as? [String: Any])?["fetched"] as? Double == 4128.0 / 4096)
        #expect(random["memory"] is NSNull)
        let sequential = try members(of: CellSummary(Fixture.small.cells[0], seed: 7))
        #expect(sequential["chunkByteCount"] is NSNull && sequential["limitShare"] is NSNull)
        #expect((sequential["nanoseconds"] as? [Int])?.count == 6)
        #expect((sequential["memory"] as? [String: Any])?["boundByteCount"] as? Int == 65_536 + 4096)
    }

    @Test("the replay of a trace has what a viewer would notice, as text, in JSON and through a result file")
    func playback() throws {
        var result = Fixture.small.cells[5]
        result.playback = LatencyRecord.Playback(
            bitsPerSecond: 8_000_000, firstByteNanoseconds: 1_500_000, startNanoseconds: 20_000_000, stallCount: 2,
            stallNanoseconds: 300_000_000)
        let summary = CellSummary(result, seed: 7)
        let line = try #require(summary.text.split(separator: "\n").first { $0.hasPrefix("playback") })
        #expect(
            line.contains("8 Mbit/s")
                && summary.text.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("2 stalls"))
        let members = try members(of: summary)
        #expect((members["playback"] as? [String: Any])?["stallNanoseconds"] as? Int == 300_000_000)
        let latency = try #require(result.latency)
        let record = ResultRecord.latency(
            LatencyRecord(cellID: result.cell.id, latency: latency, playback: result.playback))
        #expect(try ResultRecord.read(record.line()).records == [record])
    }

    @Test("a cell that failed, or was not checked, has no figure")
    func withoutFigures() throws {
        for result in [Fixture.failed("openssl", reason: "wrong"), Fixture.unchecked("openssl")] {
            let members = try members(of: CellSummary(result, seed: 7))
            for name in ["bytesPerSecond", "bytesPerSecondLow", "latency", "memory", "amplification", "digest"] {
                #expect(members[name] is NSNull, "\(name)")
            }
            #expect((members["nanoseconds"] as? [Int]) == [])
        }
    }

    @Test("times and counts at the ends of their range give no figure, and no trap")
    func extremes() {
        var result = Fixture.sequential("openssl", window: 4096, milliseconds: 1, growth: 0)
        result.rounds = [[0, 0, 0]]
        #expect(CellSummary(result, seed: 1).speed == nil)
        result.rounds = [[.max], []]
        #expect(CellSummary(result, seed: 1).speed?.bytesPerSecond == 0)
        result.check?.deliveredByteCount = .max
        result.rounds = [[1]]
        #expect(CellSummary(result, seed: 1).speed == nil)
        result.check?.deliveredByteCount = 0
        #expect(CellSummary(result, seed: 1).amplification == nil)
        #expect(CellSummary(result, seed: 1).outcome == .untimed)
    }

    @Test("fields of a CSV row are quoted where they must be")
    func csv() throws {
        var results = Fixture.small
        results.cells = [Fixture.failed("a,\"b\"", reason: "one\ntwo")]
        let file = try #require(renderReport(results).first { $0.name == "results.csv" })
        let text = String(decoding: file.bytes, as: UTF8.self)
        #expect(text.hasSuffix("\r\n"))
        #expect(text.contains("\r\n\"a,\"\"b\"\"\",cbc-continuous,"))
        #expect(text.contains(",\"one\ntwo\"\r\n"))
    }

    private func members(of summary: CellSummary) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(summary.json.text.utf8))
        return try #require(object as? [String: Any])
    }
}
