import Glibc

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

/// Resampling where there are too many samples to draw each of them a thousand times.
///
/// The median of a resample is at most a value exactly if at least half of what was drawn is. How many of a round's draws
/// are at most the value is binomial, with the share of the round's samples that are; over the rounds drawn, the sum is
/// taken as normal with its exact mean and variance. With so many draws this differs from drawing them by less than
/// the thousand resamples do from more.
///
/// - Source: de Moivre and Laplace's theorem; the deviates by Marsaglia and Bray, "A Convenient Method for Generating
///   Normal Variables", SIAM Review 6 (1964).
extension RankedPool {
    /// From this many samples on, sums are drawn and not samples.
    static let largeCount = 64

    /// Whether the tables that sums are drawn from are small enough to be made.
    var isLarge: Bool {
        sorted.count >= Self.largeCount && rounds.count <= 64 && sorted.count * rounds.count <= 1 << 26
    }

    /// Draws rounds with replacement, and the median of as many samples as they have, `count` times.
    func drawnMedians(count: Int, using generator: inout SplitMix64) -> [Double] {
        let counts = runningCounts()
        var medians: [Double] = []
        medians.reserveCapacity(count)
        var drawn = [DrawnRound](repeating: DrawnRound(), count: rounds.count)
        for _ in 0..<count {
            var total = 0.0
            for slot in rounds.indices {
                let index = generator.index(below: rounds.count)
                let length = Double(rounds[index].count)
                drawn[slot] = DrawnRound(index: index, share: 1 / length)
                total += length
            }
            let deviate = Self.normalDeviate(using: &generator)
            let rank = counts.withUnsafeBufferPointer { counts in
                drawn.withUnsafeBufferPointer { distribute($0, counts, half: total / 2, deviate: deviate) }
            }
            medians.append(Double(sorted[rank]))
        }
        return medians
    }

    /// A round that was drawn.
    private struct DrawnRound {
        var index = 0
        /// One sample's part of it.
        var share = 0.0
    }

    /// For each rank, and for each round beside each other, how many of the round's samples have it or a lesser one.
    private func runningCounts() -> [Int32] {
        var counts = [Int32](repeating: 0, count: sorted.count * rounds.count)
        for (round, range) in rounds.enumerated() {
            for index in range { counts[Int(ranks[index]) * rounds.count + round] = 1 }
        }
        for index in counts.indices.dropFirst(rounds.count) { counts[index] += counts[index - rounds.count] }
        return counts
    }

    /// The least rank at which half of the draws are reached.
    private func distribute(
        _ drawn: UnsafeBufferPointer<DrawnRound>, _ counts: UnsafeBufferPointer<Int32>, half: Double, deviate: Double
    ) -> Int {
        var (low, high) = (0, sorted.count - 1)
        while low < high {
            let middle = (low + high) / 2
            let row = middle * drawn.count
            var (mean, variance) = (0.0, 0.0)
            for round in drawn {
                let reached = Double(counts[row + round.index])
                mean += reached
                variance += reached * (1 - reached * round.share)
            }
            // The middle of an odd number of draws is half a draw beyond their half, and so is the step of a count.
            let isReached = mean - half >= deviate * variance.squareRoot()
            if isReached { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private static func normalDeviate(using generator: inout SplitMix64) -> Double {
        while true {
            let (x, y) = (uniform(using: &generator) * 2 - 1, uniform(using: &generator) * 2 - 1)
            let square = x * x + y * y
            if square > 0, square < 1 { return x * (-2 * log(square) / square).squareRoot() }
        }
    }

    private static func uniform(using generator: inout SplitMix64) -> Double {
        Double(generator.next() >> 11) * 0x1p-53
    }
}
