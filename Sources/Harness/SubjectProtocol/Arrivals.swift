import ByteSources
import Glibc

/// The due times of reads in an open loop, which do not depend on how earlier reads fare.
package struct Arrivals: Hashable, Sendable, CustomStringConvertible {
    /// The distribution of the intervals between arrivals.
    package enum Kind: String, CaseIterable, Sendable {
        /// Independent of each other, like the requests of many clients.
        case poisson
        /// All intervals equal.
        case fixed
    }

    /// The distribution of the intervals.
    package let kind: Kind
    /// The number of arrivals per second, over all threads.
    package let perSecond: Double

    /// The possible rates.
    package static let rates = 0.01...10_000_000

    /// The max number of reads whose times a subject keeps.
    package static let maxReads = 1 << 20

    /// Returns `nil` for a rate out of bounds.
    package init?(_ kind: Kind, perSecond: Double) {
        guard Self.rates.contains(perSecond) else { return nil }
        self.kind = kind
        self.perSecond = perSecond
    }

    /// Reads `poisson:2000`, `fixed:2000` or `2000`, which is a Poisson process; `nil` for anything else.
    package init?(_ text: String) {
        guard let loads = Self.loads(text), loads.count == 1 else { return nil }
        self = loads[0]
    }

    /// Reads one load, or several of one kind: `500,1000,2000` or `fixed:500,1000`; `nil` for anything else.
    package static func loads(_ text: String) -> [Arrivals]? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = parts.count == 2 ? Kind(rawValue: String(parts[0])) : .poisson, let rates = parts.last else {
            return nil
        }
        let loads = rates.split(separator: ",", omittingEmptySubsequences: false).map { rate -> Arrivals? in
            guard rate.utf8.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) }) else { return nil }
            return Double(rate).flatMap { Arrivals(kind, perSecond: $0) }
        }
        return loads.contains(nil) ? nil : loads.compactMap { $0 }
    }

    /// The text from which the same arrivals can be read.
    package var description: String {
        let isWhole = perSecond.rounded() == perSecond
        return "\(kind.rawValue):" + (isWhole ? "\(Int(perSecond))" : "\(perSecond)")
    }

    /// Draws the times at which reads are due.
    ///
    /// - Parameters:
    ///   - count: The number of reads.
    ///   - seed: The seed of a Poisson process.
    /// - Returns: The times in ascending order, in nanoseconds from the start. The first is one interval after it.
    package func dueNanoseconds(count: Int, seed: UInt64) -> [UInt64] {
        let interval = 1e9 / perSecond
        guard kind == .poisson else { return (1...max(1, count)).prefix(count).map { UInt64(Double($0) * interval) } }
        let stream = SplitMix64Stream(seed: seed)
        var time = 0.0
        return (0..<count).map { index in
            // Above 0, at most 1.
            let share = (Double(stream.word(UInt64(index)) >> 11) + 1) * 0x1p-53
            time -= log(share) * interval
            return UInt64(time)
        }
    }
}
