import Gate
import Results
import Statistics
import Testing

@Suite struct LookScheduleTests {
    @Test(
        "looks come in order, the last with the last block, and use up the error and no more",
        arguments: [1, 5, 9, 40, 100, 777], [1, 3, 10, 40])
    func looks(largest: Int, comparisons: Int) {
        let schedule = LookSchedule(largestCount: largest, alpha: 0.025, comparisonCount: comparisons)
        #expect(schedule.counts == schedule.counts.sorted() && schedule.counts.last == largest)
        #expect(Set(schedule.counts).count == schedule.counts.count)
        var earlier = 0
        var sum = 0.0
        for count in schedule.counts {
            sum += schedule.alpha(at: count, after: earlier, isLast: count == largest)
            earlier = count
        }
        #expect(abs(sum * Double(comparisons) - 0.025) < 1e-12)
    }

    @Test(
        "an interval of the first look has ends wherever there are blocks enough for that", arguments: [1, 3, 10, 40])
    func firstLook(comparisons: Int) throws {
        for largest in [20, 50, 200] {
            let schedule = LookSchedule(largestCount: largest, alpha: 0.025, comparisonCount: comparisons)
            let first = try #require(schedule.counts.first)
            let alpha = schedule.alpha(at: first, after: 0, isLast: first == largest)
            let interval = try #require(SignedRankInterval((0..<first).map(Double.init), alpha: alpha))
            #expect(interval.low.isFinite, "\(first) blocks of \(largest)")
        }
    }

    @Test("where two looks would leave the last one without ends, there is one", arguments: 8...200)
    func lastLook(largest: Int) throws {
        let schedule = LookSchedule(largestCount: largest, alpha: 0.025, comparisonCount: 1)
        let earlier = schedule.counts.dropLast().last ?? 0
        let alpha = schedule.alpha(at: largest, after: earlier, isLast: true)
        let interval = try #require(SignedRankInterval((0..<largest).map(Double.init), alpha: alpha))
        #expect(interval.low.isFinite && interval.high.isFinite)
    }

    @Test(
        "looks come when there are half as many blocks again, from eight on",
        arguments: [(40, [8, 12, 18, 27, 40]), (80, [8, 12, 18, 27, 41, 80]), (16, [8, 12, 16]), (15, [15])])
    func steps(largest: Int, counts: [Int]) {
        #expect(LookSchedule(largestCount: largest, alpha: 0.025, comparisonCount: 1).counts == counts)
    }

    @Test("a phase that is cut short spends what is left")
    func cutShort() {
        let schedule = LookSchedule(largestCount: 100, alpha: 0.025, comparisonCount: 1)
        let first = schedule.alpha(at: 10, after: 0, isLast: false)
        let last = schedule.alpha(at: 37, after: 10, isLast: true)
        #expect(abs(first + last - 0.025) < 1e-12)
        #expect(LookSchedule(largestCount: 100, alpha: 0.025, comparisonCount: 1, isSingle: true).counts == [100])
    }
}

@Suite struct GateMemoryTests {
    @Test(
        "memory grew if every run of the candidate is over every limit, and is the same if none is over any",
        arguments: [
            ([10, 11], [16, 17], 4, GateMemory.Verdict.grew), ([10, 11], [15, 17], 4, .inconclusive),
            ([10, 11], [13, 14], 4, .same), ([10, 11], [1, 2], 0, .same), ([10, 12], [11, 11], 0, .inconclusive),
        ] as [([UInt64], [UInt64], UInt64, GateMemory.Verdict)])
    func verdict(baseline: [UInt64], candidate: [UInt64], limit: UInt64, expected: GateMemory.Verdict) {
        let verdict = GateMemory.verdict(
            .init(byteCounts: baseline), .init(byteCounts: candidate), limitByteCount: limit)
        #expect(verdict == expected)
    }

    @Test("a limit is a size, or a share of what the baseline takes")
    func limits() {
        #expect(MemoryLimit.byteCount(7).byteCount(over: 100) == 7)
        #expect(MemoryLimit.share(0.05).byteCount(over: 200) == 10)
    }
}
