/// A line of letters that shows how values rise and fall: `▁▃▅▇█`, on a logarithmic scale.
struct Sparkline: Sendable {
    private static let letters: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// What stands where there is no value.
    static let absent: Character = "·"

    /// The value of the lowest letter.
    let low: Double
    /// The value of the highest letter.
    let high: Double

    /// Creates a scale from the least to the greatest of some values, or returns `nil` if none of them is above 0.
    init?(covering values: some Sequence<Double>) {
        let usable = values.filter { $0 > 0 && $0.isFinite }
        guard let low = usable.min(), let high = usable.max() else { return nil }
        (self.low, self.high) = (low, high)
    }

    /// How many times as much the next letter stands for.
    var step: Double {
        let ratio = high / low
        var (lower, upper) = (1.0, max(ratio, 1))
        for _ in 0..<60 {
            let middle = (lower + upper) / 2
            if LogScale.power(Self.letters.count - 1, base: middle) < ratio { lower = middle } else { upper = middle }
        }
        return upper
    }

    /// Returns a letter a value.
    func text(_ values: [Double?]) -> String {
        String(values.map(letter))
    }

    private var doublings: Double { LogScale.position(of: high / low, base: 2) }

    private func letter(_ value: Double?) -> Character {
        guard let value, value > 0, value.isFinite else { return Self.absent }
        let letters = Self.letters
        guard high > low else { return letters[letters.count / 2] }
        let share = LogScale.position(of: max(value / low, 1), base: 2) / doublings
        return letters[Int((min(max(share, 0), 1) * Double(letters.count - 1)).rounded())]
    }
}
