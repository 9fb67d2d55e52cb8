/// Samples of several rounds, each replaced by its rank among all of them.
///
/// A resample is then a count for each rank, and its median is found by adding up counts: nothing is sorted again,
/// which is what makes a thousand resamples of a whole sweep cheap.
struct RankedPool {
    /// All samples in ascending order.
    let sorted: [UInt64]

    /// For each sample, round by round, its index in `sorted`.
    let ranks: [Int32]

    /// Where each round lies in `ranks`.
    let rounds: [Range<Int>]

    /// Ranks the samples; equal samples get neighbouring ranks.
    init(rounds samples: [[UInt64]]) {
        let pooled = samples.flatMap { $0 }
        precondition(pooled.count <= Int32.max, "more samples than ranks have numbers for")
        let order = Self.order(of: pooled)
        var ranks = [Int32](repeating: 0, count: pooled.count)
        for (rank, index) in order.enumerated() {
            ranks[index] = Int32(rank)
        }
        var ranges: [Range<Int>] = []
        for round in samples {
            let start = ranges.last?.upperBound ?? 0
            ranges.append(start..<start + round.count)
        }
        self.sorted = order.map { pooled[$0] }
        self.ranks = ranks
        self.rounds = ranges
    }

    /// The indices of values in ascending order of the values, and of the indices where values are the same.
    private static func order(of values: [UInt64]) -> [Int] {
        values.indices.map { (value: values[$0], index: $0) }.sorted { $0 < $1 }.map(\.index)
    }

    /// Draws rounds with replacement and in each its samples with replacement, `count` times, and returns the medians.
    func resampledMedians(count: Int, using generator: inout SplitMix64) -> [Double] {
        if isLarge { return drawnMedians(count: count, using: &generator) }
        var medians: [Double] = []
        medians.reserveCapacity(count)
        var counts = [Int32](repeating: 0, count: sorted.count)
        for _ in 0..<count {
            let drawn = draw(into: &counts, using: &generator)
            medians.append(takeMedian(of: &counts, drawn: drawn))
        }
        return medians
    }

    /// Adds one resample to `counts` and returns how many samples it has.
    private func draw(into counts: inout [Int32], using generator: inout SplitMix64) -> Int {
        var drawn = 0
        ranks.withUnsafeBufferPointer { ranks in
            counts.withUnsafeMutableBufferPointer { counts in
                for _ in rounds {
                    let round = rounds[generator.index(below: rounds.count)]
                    for _ in round {
                        counts[Int(ranks[round.lowerBound + generator.index(below: round.count)])] += 1
                    }
                    drawn += round.count
                }
            }
        }
        return drawn
    }

    /// Returns the median of a resample and clears its counts.
    private func takeMedian(of counts: inout [Int32], drawn: Int) -> Double {
        let lowerRank = Int32((drawn - 1) / 2)
        let upperRank = Int32(drawn / 2)
        return counts.withUnsafeMutableBufferPointer { counts in
            var seen: Int32 = 0
            var index = 0
            while seen + counts[index] <= lowerRank {
                seen += counts[index]
                index += 1
            }
            let lower = sorted[index]
            while seen + counts[index] <= upperRank {
                seen += counts[index]
                index += 1
            }
            let upper = sorted[index]
            counts.update(repeating: 0)
            return middle(lower, upper)
        }
    }
}

extension SplitMix64 {
    /// Returns a number from 0 to below `bound` by multiplication; its bias is at most `bound` ÷ 2⁶⁴.
    ///
    /// - Source: Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29 (2019), without the rejection.
    @inline(__always)
    mutating func index(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }
}
