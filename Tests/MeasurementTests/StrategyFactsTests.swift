import Foundation
import Measurement
import RandomAccess
import Results
import Testing

@Suite("facts of strategies")
struct StrategyFactsTests {
    @Test(
        "a strategy's facts have the bytes that it adds to 1 GiB, and its longest plaintext",
        arguments: [
            ("xts-sectors", 0, nil, 512), ("cobblestone-128", 1_048_648, 4_503_599_627_370_495, nil),
            ("ctr", 0, nil, nil), ("cbc-chunked:padding=none,chunk=16MiB", 0, nil, 16 << 20),
        ] as [(String, UInt64, UInt64?, UInt64?)])
    func lengths(text: String, added: UInt64, maximum: UInt64?, rewritten: UInt64?) throws {
        let lengths = try #require(try StrategyFacts(try Strategy(measured: text)).lengths)
        #expect(lengths.addedPerGiB == added && lengths.maxByteCount == maximum)
        #expect(rewritten == nil || lengths.rewrittenByteCount == rewritten, "\(lengths)")
        #expect(text != "ctr" || lengths.rewrittenByteCount == nil)
    }

    private func header(_ name: String) throws -> RunHeader? {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../reports")
        let text = try String(contentsOf: folder.appending(path: "\(name)/results.jsonl"), encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first)
        guard case .header(let header) = try ResultRecord(line: Array(line.utf8)) else { return nil }
        return header
    }

    @Test("a header with the facts of the project's plan of formats is read again, as large as its numbers are")
    func planned() throws {
        let plans = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Benchmarks/plans")
        let plan = try PlanReader(
            file: "formats.yml", knownBackends: ["openssl", "libgcrypt", "sodium", "swift-bitsliced"]
        ).read(String(contentsOf: plans.appending(path: "formats.yml"), encoding: .utf8))
        var header = try #require(try header("reference"))
        header.strategies = try plan.strategies.mapValues { strategy in try StrategyFacts(strategy) }
        #expect(header.strategies?.isEmpty == false)
        #expect(try ResultRecord(line: ResultRecord.header(header).line()) == .header(header))
    }

    @Test("stored runs have the facts of their strategies")
    func stored() throws {
        for name in ["reference", "formats", "lab/interval-coverage-2026-11-23", "peers"] {
            let stored = try #require(try header(name)?.strategies)
            #expect(!stored.isEmpty)
            for (text, facts) in stored {
                let strategy = try Strategy(measured: text)
                var known = try StrategyFacts(strategy)
                if facts.lengths == nil { known.lengths = nil }
                #expect(known == facts && strategy.text == text, "\(text)")
            }
        }
    }
}
