import Glibc

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
            for place in rounds.indices {
                let index = generator.index(below: rounds.count)
                let length = Double(rounds[index].count)
                drawn[place] = DrawnRound(index: index, share: 1 / length)
                total += length
            }
            let deviate = Self.normalDeviate(using: &generator)
            let rank = counts.withUnsafeBufferPointer { counts in
                drawn.withUnsafeBufferPointer { place($0, counts, half: total / 2, deviate: deviate) }
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
    private func place(
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
