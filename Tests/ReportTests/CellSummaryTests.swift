import Foundation
import Report
import Results
import Statistics
import Testing

@Suite struct CellSummaryTests {
    @Test("throughput is bytes delivered by the median of the processes' medians, with its interval")
    func throughput() throws {
        let result = Fixture.sequential("openssl", window: 4096, milliseconds: 2, growth: 0)
        let speed = try #require(CellSummary(result).speed)
        // The medians are 2,000,000, 2,001,000 and 1,999,000.
        let interval = try #require(speed.interval)
        #expect(speed.sample.count == 3 && speed.bytesPerSecond == 524_288_000)
        // 4.302653 standard errors of the logarithms, whose deviation is 0.0005, to each side.
        let reach = 4.302_653 * 0.000_5 / 3.0.squareRoot()
        #expect(abs(Double(interval.upperBound) / Double(speed.bytesPerSecond) - 1 - reach) < 1e-5)
        #expect(abs(Double(interval.lowerBound) / Double(speed.bytesPerSecond) - 1 + reach) < 1e-5)
    }

    @Test("fewer than three processes have no interval")
    func fewProcesses() throws {
        var result = Fixture.sequential("openssl", window: 4096, milliseconds: 2, growth: 0)
        result.rounds.removeLast()
        let speed = try #require(CellSummary(result).speed)
        #expect(speed.interval == nil && speed.sample.count == 2)
        #expect(try members(of: CellSummary(result))["bytesPerSecondLow"] is NSNull)
    }

    @Test("latencies and memory of several processes: medians with an interval, else the process in the middle")
    func processes() throws {
        var result = Fixture.sequential("openssl", window: 4096, milliseconds: 2, growth: 0)
        func latency(_ p50: UInt64, _ p99: UInt64, _ count: Int) -> LatencyRecord.Latency {
            LatencyRecord.Latency(readCount: count, p50: p50, p90: p50, p99: p99, p999: p99, max: p99)
        }
        // One process was disturbed.
        result.latencies = [latency(100, 200, 3000), latency(110, 900_000, 400), latency(121, 210, 3000)].enumerated()
            .map {
                LatencyRecord(cellID: result.cell.id, round: $0, latency: $1, firstByte: $1)
            }
        result.latencies[1].isContradicted = true
        result.memories = [5, 1, 3].enumerated().map { round, mebibytes in
            MemoryRecord(
                cellID: result.cell.id, round: round,
                memory: .init(baselineByteCount: 8 << 20, peakByteCount: (8 + mebibytes) << 20, boundByteCount: nil))
        }
        let summary = CellSummary(result)
        let found = try #require(summary.latency)
        #expect(found.p50 == 110 && found.p99 == 210 && found.readCount == 400 && found.max == 210)
        #expect(found.trustedP99 == 210 && found.trustedP999 == nil)
        #expect(summary.contradictedLatencyCount == 1)
        let interval = try #require(summary.latencySample?.interval)
        #expect(interval.low < 100 && interval.high > 121)
        #expect(summary.firstByte?.p50 == 110 && summary.firstByteSample?.interval == interval)
        #expect(summary.memory?.growthByteCount == 3 << 20 && summary.memorySample?.count == 3)
    }

    @Test("the members that scripts rely on are always there")
    func contract() throws {
        let contract: Set = [
            "backend", "strategy", "chunkByteCount", "windowByteCount", "workload", "threads", "bytesPerSecond",
            "bytesPerSecondLow", "bytesPerSecondHigh", "nanoseconds", "latency", "memory", "amplification", "digest",
            "limitShare",
        ]
        for result in Fixture.small.cells {
            #expect(contract.isSubset(of: try members(of: CellSummary(result)).keys))
        }
        let random = try members(of: CellSummary(Fixture.small.cells[5]))
        #expect((random["latency"] as? [String: Any])?["p999"] as? Int == 45_000)
        #expect((random["amplification"] as? [String: Any])?["fetched"] as? Double == 4128.0 / 4096)
        #expect(random["memory"] is NSNull)
        let sequential = try members(of: CellSummary(Fixture.small.cells[0]))
        #expect(sequential["chunkByteCount"] is NSNull && sequential["limitShare"] is NSNull)
        #expect((sequential["nanoseconds"] as? [Int])?.count == 9)
        #expect((sequential["memory"] as? [String: Any])?["boundByteCount"] as? Int == 65_536 + 4096)
    }

    @Test("the replay of a trace has what a viewer would notice, as text, in JSON and through a result file")
    func playback() throws {
        var result = Fixture.small.cells[5]
        result.playback = LatencyRecord.Playback(
            bitsPerSecond: 8_000_000, firstByteNanoseconds: 1_500_000, startNanoseconds: 20_000_000, stallCount: 2,
            stallNanoseconds: 300_000_000)
        let summary = CellSummary(result)
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

    @Test("CPU time per byte is that of all timed iterations over the bytes that they delivered")
    func processorTime() throws {
        var result = Fixture.small.cells[0]
        #expect(try members(of: CellSummary(result))["cpuNanosecondsPerByte"] is NSNull)
        result.usage = ProcessUsage(
            userNanoseconds: 9 << 21, systemNanoseconds: 9 << 20, minorFaults: 0, majorFaults: 0,
            voluntarySwitches: nil, involuntarySwitches: nil)
        let summary = CellSummary(result)
        #expect(try members(of: summary)["cpuNanosecondsPerByte"] as? Double == 3)
        expectText(summary.text, has: ["CPU ns/byte 3.00"])
    }

    @Test("no two columns of results.csv have one name")
    func columns() throws {
        let file = try #require(renderReport(Fixture.small).first { $0.name == "results.csv" })
        let columns = String(decoding: file.bytes, as: UTF8.self).prefix { $0 != "\r\n" }.split(separator: ",")
        #expect(Set(columns).count == columns.count && columns.count > 60)
    }

    @Test("a cell that failed, or was not checked, has no figure")
    func withoutFigures() throws {
        for result in [Fixture.failed("openssl", reason: "wrong"), Fixture.unchecked("openssl")] {
            let members = try members(of: CellSummary(result))
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
        #expect(CellSummary(result).speed == nil)
        result.rounds = [[.max], []]
        #expect(CellSummary(result).speed?.bytesPerSecond == 0)
        result.check?.deliveredByteCount = .max
        result.rounds = [[1]]
        #expect(CellSummary(result).speed == nil)
        result.check?.deliveredByteCount = 0
        #expect(CellSummary(result).amplification == nil)
        #expect(CellSummary(result).outcome == .untimed)
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

    @Test(
        "no field of a CSV row is a formula, and none drives a terminal",
        arguments: [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"),
            ("a;=1", "a;'=1"), ("a\t=1", "a\t'=1"), ("a\n=1", "\"a\n'=1\""), ("\u{FF1D}1", "'\u{FF1D}1"),
            ("a=1 - b@c", "a=1 - b@c"), ("\u{1B}[2J\u{202E}x\u{9B}", "\u{FFFD}[2J\u{FFFD}x\u{FFFD}"),
        ])
    func formulas(label: String, field: String) throws {
        var results = Fixture.small
        results.cells = [Fixture.failed("openssl", reason: label)]
        let file = try #require(renderReport(results).first { $0.name == "results.csv" })
        #expect(String(decoding: file.bytes, as: UTF8.self).hasSuffix(",\(field)\r\n"))
    }

    private func members(of summary: CellSummary) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(summary.json.text.utf8))
        return try #require(object as? [String: Any])
    }
}

/// The rule written down a second time, by looking at every candidate.
private enum Definition {
    static func fits(_ one: Candidate, _ budgets: Budgets) -> Bool {
        if let maximum = budgets.memoryByteCount {
            guard let have = one.memoryByteCount, have <= maximum else { return false }
        }
        if let maximum = budgets.firstByteNanoseconds {
            guard let have = one.firstByteNanoseconds, have <= maximum else { return false }
        }
        if let maximum = budgets.amplification {
            guard let have = one.amplification, have <= maximum else { return false }
        }
        if let minimum = budgets.bytesPerSecond, one.bytesPerSecond < minimum { return false }
        return true
    }

    /// The mean, the median and the squared standard error of the logarithms.
    private static func moments(
        _ one: Candidate
    ) -> (mean: Double, median: Double, error: Double, freedom: Double)? {
        let n = one.sample.count
        guard n >= 3, let interval = one.sample.interval else { return nil }
        // Back from the interval: t for n − 1 degrees of freedom is a table's.
        let t = [3: 4.302_652_729_911_275, 4: 3.182_446_305_284_263, 5: 2.776_445_105_198_055][n] ?? .nan
        let error = log(interval.high / interval.low) / 2 / t
        return (log(interval.high * interval.low) / 2, log(one.sample.estimate), error * error, Double(n - 1))
    }

    /// The largest factor by which the best of some may be faster than one of them.
    static func bound(_ one: Candidate, _ all: [Candidate]) -> Double? {
        guard let own = moments(one) else { return nil }
        let others = all.filter { $0.id != one.id }.compactMap(moments)
        return others.map { other in
            let tail = 0.05 / Double(others.count)
            let squares = [own, other].map { moments in
                let t = StudentDistribution.upperQuantile(tail, degreesOfFreedom: Int(moments.freedom))
                return t * t * moments.error
            }
            let lead = max(other.mean - own.mean, other.median - own.median)
            return max(1, exp(lead + (squares[0] + squares[1]).squareRoot()))
        }.max() ?? 1
    }

    static func ties(_ one: Candidate, _ other: Candidate) -> Bool {
        guard one.id != other.id else { return true }
        guard let ratio = one.sample.ratioInterval(over: other.sample) else { return false }
        return ratio.low <= 1 && ratio.high >= 1
    }

    /// The figures that order the candidates near the best; smaller is better, place by place.
    static func rank(_ one: Candidate) -> [Double] {
        [
            max(one.memoryByteCount.map { Double($0) } ?? .infinity, 262_144),
            one.firstByteNanoseconds.map { Double($0) } ?? .infinity, Double(one.windowByteCount),
            one.amplification ?? .infinity, -Double(one.bytesPerSecond),
        ]
    }

    static func best(_ candidates: [Candidate]) -> Candidate? {
        guard let top = candidates.map(\.bytesPerSecond).max() else { return nil }
        func minimum(_ some: [Candidate]) -> Candidate? {
            let lowest = some.map(rank).min { $0.lexicographicallyPrecedes($1) }
            return some.filter { rank($0) == lowest }.min { $0.id < $1.id }
        }
        let bounds = candidates.map { bound($0, candidates.filter { $0.sample.count >= 3 }) }
        guard let least = bounds.compactMap({ $0 }).min() else {
            return minimum(candidates.filter { $0.bytesPerSecond == top })
        }
        return minimum(zip(candidates, bounds).filter { ($1 ?? .infinity) <= max(1.05, least) + 1e-12 }.map(\.0))
    }

    static func figures(_ one: Candidate) -> [Double] {
        [-Double(one.bytesPerSecond)] + [0, 1, 3].map { rank(one)[$0] }
    }

    static func dominates(_ one: Candidate, _ other: Candidate) -> Bool {
        let pairs = zip(figures(one), figures(other))
        return pairs.allSatisfy { $0 <= $1 } && pairs.contains { $0 < $1 }
    }
}

@Suite("the rule against its definition")
struct DefinitionTests {
    @Test("the choice, the runner-up and the costs for 1000 random budgets", arguments: 0..<10)
    func choices(block: UInt64) {
        var choiceCount = 0
        for seed in block * 100..<block * 100 + 100 {
            var samples = Samples(seed: seed)
            let candidates = samples.candidates(1...30)
            let budgets = samples.budgets()
            let advice = Advice(candidates: candidates, budgets: budgets)
            let fitting = candidates.filter { Definition.fits($0, budgets) }
            let choice = Definition.best(fitting)
            #expect(advice.fitting == fitting, "seed \(seed)")
            #expect(advice.choice == choice, "seed \(seed)")
            guard let choice else {
                #expect(
                    advice.runnerUp == nil && advice.costs.isEmpty && advice.nearBest.members.isEmpty, "seed \(seed)")
                continue
            }
            choiceCount += 1
            #expect(advice.nearBest.members.first == choice, "seed \(seed)")
            let different = fitting.filter { $0.family != choice.family }
            let others = different.isEmpty ? fitting.filter { $0.id != choice.id } : different
            #expect(advice.runnerUp?.candidate == Definition.best(others), "seed \(seed)")
            for cost in advice.costs {
                let loose = candidates.filter { Definition.fits($0, budgets.without(cost.budget)) }
                #expect(cost.alternative == Definition.best(loose), "seed \(seed), \(cost.budget)")
                let isFaster =
                    cost.alternative.bytesPerSecond > choice.bytesPerSecond
                    && !Definition.ties(cost.alternative, choice)
                #expect(cost.isFaster == isFaster, "seed \(seed), \(cost.budget)")
            }
            #expect(advice.costs.map(\.budget) == budgets.given, "seed \(seed)")
        }
        // Both outcomes are there to be tested.
        #expect((10...98).contains(choiceCount), "\(choiceCount) of 100 have a choice")
    }

    @Test("the front is what nothing dominates", arguments: 0..<4)
    func fronts(block: UInt64) {
        for seed in block * 50..<block * 50 + 50 {
            var samples = Samples(seed: seed)
            let candidates = samples.candidates(1...40)
            let front = Candidate.front(of: candidates)
            let expected = candidates.filter { one in !candidates.contains { Definition.dominates($0, one) } }
            #expect(Set(front) == Set(expected) && front.count == expected.count, "seed \(seed)")
            #expect(!front.isEmpty)
            let rates = front.map(\.bytesPerSecond)
            #expect(rates == rates.sorted(by: >), "seed \(seed)")
        }
    }

    @Test("the order in which candidates are given changes nothing", arguments: 0..<50 as Range<UInt64>)
    func order(seed: UInt64) {
        var samples = Samples(seed: seed)
        let candidates = samples.candidates(2...30)
        let budgets = samples.budgets()
        let advice = Advice(candidates: candidates, budgets: budgets)
        let reversed = Advice(candidates: candidates.reversed(), budgets: budgets)
        #expect(advice.choice == reversed.choice && advice.runnerUp == reversed.runnerUp)
        #expect(
            advice.nearBest.members == reversed.nearBest.members && advice.front == reversed.front
                && advice.raises == reversed.raises)
    }

    @Test(
        "where nothing fits, the raise makes it fit, and a smaller one of the same budget does not", arguments: 0..<10)
    func raises(block: UInt64) {
        var (singles, sets) = (0, 0)
        for seed in block * 100..<block * 100 + 100 {
            var samples = Samples(seed: seed + 5000)
            let candidates = samples.candidates(1...6)
            var budgets = samples.budgets()
            budgets.memoryByteCount = budgets.memoryByteCount.map { $0 / 4 }
            budgets.bytesPerSecond = budgets.bytesPerSecond.map { $0 * 2 }
            let advice = Advice(candidates: candidates, budgets: budgets)
            guard advice.choice == nil else {
                #expect(advice.raises.isEmpty)
                continue
            }
            let judged = candidates.filter { one in budgets.given.allSatisfy { one.figure($0) != nil } }
            #expect(advice.raises.isEmpty == judged.isEmpty, "seed \(seed)")
            for (place, set) in advice.raises.enumerated() {
                if set.raises.count == 1 { singles += 1 } else { sets += 1 }
                let raised = budgets.raised(by: set.raises)
                #expect(Definition.fits(set.candidate, raised), "seed \(seed)")
                #expect(Advice(candidates: candidates, budgets: raised).choice != nil, "seed \(seed)")
                #expect(place == 0 || advice.raises[place - 1].factor <= set.factor, "seed \(seed)")
                // Leaving one of them out, or raising a single one by less, is not enough.
                for index in set.raises.indices {
                    var fewer = set.raises
                    fewer.remove(at: index)
                    #expect(!candidates.contains { Definition.fits($0, budgets.raised(by: fewer)) }, "seed \(seed)")
                }
                guard set.raises.count == 1, var raise = set.raises.first else { continue }
                raise.needed += raise.budget == .throughput ? 1 : raise.budget == .amplification ? -0.01 : -1
                #expect(!candidates.contains { Definition.fits($0, budgets.raised(by: [raise])) }, "seed \(seed)")
            }
        }
        #expect(singles > 5 && sets > 5, "\(singles) single raises, \(sets) sets")
    }
}

extension Budgets {
    /// Returns the budgets with what `raises` say.
    fileprivate func raised(by raises: [Raise]) -> Budgets {
        var others = self
        for raise in raises {
            switch raise.budget {
            case .memory: others.memoryByteCount = UInt64(exactly: raise.needed) ?? .max
            case .firstByte: others.firstByteNanoseconds = UInt64(exactly: raise.needed) ?? .max
            case .amplification: others.amplification = raise.needed
            case .throughput: others.bytesPerSecond = UInt64(exactly: raise.needed) ?? .max
            }
        }
        return others
    }
}
