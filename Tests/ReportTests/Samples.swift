import Report
import Statistics

/// Candidates and budgets drawn from a seed.
struct Samples {
    private var generator: SplitMix64

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    mutating func number(_ range: ClosedRange<UInt64>) -> UInt64 { .random(in: range, using: &generator) }

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < share }

    /// Few different values, so that ties and equal figures are frequent.
    mutating func candidate(_ id: Int) -> Candidate {
        let rate = number(1...60) * 100
        let half = number(0...8) * 20
        return Candidate(
            id: "c\(id)", family: "f\(number(0...5))", windowByteCount: 1 << number(4...10), bytesPerSecond: rate,
            interval: chance(0.9) ? rate - min(half, rate)...rate + half : nil,
            memoryByteCount: chance(0.9) ? number(0...16) << 17 : nil,
            firstByteNanoseconds: chance(0.9) ? number(1...12) * 1000 : nil,
            amplification: chance(0.9) ? Double(number(4...12)) / 4 : nil)
    }

    mutating func candidates(_ range: ClosedRange<UInt64>) -> [Candidate] {
        let count = Int(number(range))
        return (0..<count).map { candidate($0) }
    }

    mutating func budgets() -> Budgets {
        Budgets(
            memoryByteCount: chance(0.5) ? number(1...16) << 17 : nil,
            firstByteNanoseconds: chance(0.5) ? number(500...12_500) : nil,
            amplification: chance(0.5) ? Double(number(3...12)) / 4 : nil,
            bytesPerSecond: chance(0.3) ? number(1...6000) : nil)
    }
}
