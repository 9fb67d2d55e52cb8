/// Fits steps, stretches and ramps to a part of a series whose noise is autoregressive of order 1.
///
/// Subtracting φ times the value before from each value leaves independent values (Prais and Winsten 1954). On these,
/// least squares is exact: with a known φ, the statistic of a shape at a given place is Student's t. The remaining
/// values are clipped at three standard deviations, which are estimated from their median magnitude. So a single odd
/// value does not make a step (Huber 1981).
///
/// - Source: Prais and Winsten, "Trend Estimators and Serial Correlation", Cowles Commission 383 (1954).
struct LevelFit {
    /// The min deviation; noise below it is rounding. If the values are logarithms, it is a millionth of the figure.
    static let minDeviation = 1e-6

    private let noise: SharedNoise
    private let correlation: Double
    /// The contribution of a level of 1 to the first independent value, and to each further one.
    private let (first, rest): (Double, Double)
    private var white: [Double] = []
    private var sums = [0.0]
    private let level: (square: Double, dot: Double)
    /// The sum of squares around a single level.
    let scatter: Double

    /// Fits to one value or more.
    init(_ values: ArraySlice<Double>, _ noise: SharedNoise) {
        self.noise = noise
        correlation = noise.correlation
        (first, rest) = ((1 - correlation * correlation).squareRoot(), 1 - correlation)
        // Relative to the mean, because squares would lose digits.
        let centred = values.map { [middle = values.mean] in $0 - middle }
        white = [first * centred[0]] + zip(centred, centred.dropFirst()).map { [correlation] in $1 - correlation * $0 }
        white = Self.clipped(white)
        for value in white { sums.append(sums[sums.count - 1] + value) }
        let square = first * first + rest * rest * Double(white.count - 1)
        let dot = first * white[0] + rest * (sums[white.count] - white[0])
        level = (square, dot)
        scatter = max(0, white.reduce(0) { $0 + $1 * $1 } - dot * dot / square)
    }

    private var count: Int { white.count }

    /// Returns values around 0, clipped at three standard deviations, which are estimated from the median magnitude.
    static func clipped(_ values: [Double]) -> [Double] {
        guard !values.isEmpty else { return [] }
        let bound = 3 * 1.4826 * values.map(\.magnitude).sorted()[values.count / 2]
        return bound > 0 ? values.map { max(-bound, min(bound, $0)) } : values
    }

    /// Returns the size of a shape and the reduction of the scatter by it. The arguments are the shape's product with
    /// the values, its square, and its product with a level.
    private func fit(_ dot: Double, _ square: Double, _ cross: Double) -> (size: Double, gain: Double) {
        let information = square - cross * cross / level.square
        let score = dot - cross * level.dot / level.square
        return (score / information, score * score / information)
    }

    /// Returns the fit of a step before a value other than the first.
    func step(at place: Int) -> (size: Double, gain: Double) { stretch(place..<count) }

    /// Returns the fit of a separate level that starts at a value other than the first.
    private func stretch(_ range: Range<Int>) -> (size: Double, gain: Double) {
        let inner = rest * rest * Double(range.count - 1)
        let dot = white[range.lowerBound] + rest * (sums[range.upperBound] - sums[range.lowerBound + 1])
        guard range.upperBound < count else { return fit(dot, 1 + inner, rest + inner) }
        // The first value after the stretch contains a share of the last value in it.
        return fit(
            dot - correlation * white[range.upperBound], 1 + inner + correlation * correlation,
            rest + inner - correlation * rest)
    }

    /// Returns the fit of a straight line that rises by 1 from the first to the last value.
    func ramp() -> (size: Double, gain: Double) {
        var (dot, square, cross) = (0.0, 0.0, 0.0)
        for index in 1..<count {
            let value = (Double(index) - correlation * Double(index - 1)) / Double(count - 1)
            dot += value * white[index]
            square += value * value
            cross += value * rest
        }
        return fit(dot, square, cross)
    }

    /// Returns the step with the largest gain, and the number of places searched; `nil` if the part is too short for a
    /// step.
    func bestStep() -> (place: Int, gain: Double, placeCount: Int)? {
        let minimum = ChangePoints.minLength
        guard count >= 2 * minimum else { return nil }
        let places = minimum...count - minimum
        var best = (place: minimum, gain: 0.0, placeCount: places.count)
        for place in places {
            let gain = step(at: place).gain
            if gain > best.gain { (best.place, best.gain) = (place, gain) }
        }
        return best
    }

    /// Returns the stretch with the largest gain that neither begins nor ends the part, and the number of places
    /// searched.
    func bestStretch() -> (place: Range<Int>, gain: Double, placeCount: Int) {
        let minimum = ChangePoints.minLength
        var best = (place: 0..<count, gain: 0.0, placeCount: 0)
        for start in minimum..<max(minimum, count - 2 * minimum + 1) {
            for end in start + minimum...count - minimum {
                best.placeCount += 1
                let gain = stretch(start..<end).gain
                if gain > best.gain { (best.place, best.gain) = (start..<end, gain) }
            }
        }
        return best
    }

    /// Returns the probability of a gain at a given place if there is only one level.
    func probability(_ gain: Double) -> Double {
        let freedom = noise.degreesOfFreedom + count - 2
        guard freedom > 0, gain > 0 else { return 1 }
        let sum = Double(noise.degreesOfFreedom) * noise.variance + max(0, scatter - gain)
        let variance = max(sum / Double(freedom), Self.minDeviation * Self.minDeviation)
        return StudentDistribution.twoSidedTail((gain / variance).squareRoot(), degreesOfFreedom: freedom)
    }
}
