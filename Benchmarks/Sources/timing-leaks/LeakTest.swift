/// Whether times of two classes of inputs have the same mean: Welch's test of all times, of the times below each of a
/// hundred limits, and of squared distances from the mean, which finds times that differ in their spread.
///
/// Long times are those that something else took; where the limits lie is found from the first times of both classes.
///
/// - Source: Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?" (DATE 2017), sections 2 and 3; Welch, "The
///   generalization of Student's problem" (Biometrika 1947).
struct LeakTest {
    /// Above it, a test says that the classes differ. Source: Goodwill et al., "A testing methodology for side-channel
    /// resistance validation" (NIST 2011).
    static let threshold = 4.5
    /// A test of fewer times says nothing.
    private static let minTimeCount = 10_000.0

    private let limits: [Double]
    private let mean: Double
    private var tests: [Welch]

    /// Creates a test whose limits come from times that it does not count.
    init(calibratingOn times: [UInt64]) {
        let sorted = times.sorted()
        // Closer to one another where times are long: 1 − 2^(−i/10) of all times lie below limit i.
        var limits = (1...100).map { index -> Double in
            var share = 1.0
            for _ in 0..<index { share *= 0.933_032_991_536_807_4 }
            return Double(sorted[min(sorted.count - 1, Int((1 - share) * Double(sorted.count)))])
        }
        limits.append(.infinity)
        self.limits = limits
        // Of the times that nothing else took.
        let usual = sorted.prefix(sorted.count * 9 / 10)
        mean = usual.reduce(0) { $0 + Double($1) } / Double(max(1, usual.count))
        tests = [Welch](repeating: Welch(), count: limits.count + 1)
    }

    /// Counts the time of an input of class 0 or 1.
    mutating func add(_ time: UInt64, ofClass index: Int) {
        let time = Double(time)
        var test = limits.count - 1
        while test >= 0, time <= limits[test] {
            tests[test].add(time, ofClass: index)
            test -= 1
        }
        if time <= limits[limits.count - 2] {
            let distance = time - mean
            tests[limits.count].add(distance * distance, ofClass: index)
        }
    }

    /// The test that is surest that the classes differ: its t, and what it is of.
    var strongest: (t: Double, name: String) {
        var strongest = (t: 0.0, name: "none")
        for (index, test) in tests.enumerated() where test.minCount >= Self.minTimeCount {
            let t = test.t
            if t.magnitude > strongest.t.magnitude {
                strongest =
                    index == limits.count
                    ? (t, "spread") : (t, index == limits.count - 1 ? "all" : "below \(Int(limits[index]))")
            }
        }
        return strongest
    }
}

/// Means and variances of two classes, value by value.
private struct Welch {
    private var counts = (0.0, 0.0)
    private var means = (0.0, 0.0)
    private var squares = (0.0, 0.0)

    /// Source: Welford, "Note on a method for calculating corrected sums of squares and products" (Technometrics 1962).
    mutating func add(_ value: Double, ofClass index: Int) {
        if index == 0 {
            Self.add(value, &counts.0, &means.0, &squares.0)
        } else {
            Self.add(value, &counts.1, &means.1, &squares.1)
        }
    }

    private static func add(_ value: Double, _ count: inout Double, _ mean: inout Double, _ square: inout Double) {
        count += 1
        let distance = value - mean
        mean += distance / count
        square += distance * (value - mean)
    }

    var minCount: Double { min(counts.0, counts.1) }

    var t: Double {
        let variance = squares.0 / (counts.0 - 1) / counts.0 + squares.1 / (counts.1 - 1) / counts.1
        // Where no time differs from another there is nothing to tell.
        return variance > 0 ? (means.0 - means.1) / variance.squareRoot() : 0
    }
}
