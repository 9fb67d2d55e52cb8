/// Fits steps, stretches and ramps to a part of a series whose noise is autoregressive of order 1.
///
/// Each value less φ times the one before leaves independent values (Prais and Winsten 1954), on which least squares is
/// exact: with a known φ, the statistic of a shape at a given place is Student's t. What is left is clipped at three
/// standard deviations, as its median tells them, so that one odd value does not make a step (Huber 1981).
///
/// - Source: Prais and Winsten, "Trend Estimators and Serial Correlation", Cowles Commission 383 (1954).
struct LevelFit {
    /// Noise below this, a millionth of the value where these are logarithms, is rounding.
    static let minDeviation = 1e-6

    private let noise: SharedNoise
    private let correlation: Double
    /// What a level of 1 leaves of the first value, and of each further one.
    private let (first, rest): (Double, Double)
    private var white: [Double] = []
    private var sums = [0.0]
    private let level: (square: Double, dot: Double)
    /// The sum of squares around a single level.
    let scatter: Double

    /// Fits to values of which there is at least one.
    init(_ values: ArraySlice<Double>, _ noise: SharedNoise) {
        self.noise = noise
        correlation = noise.correlation
        (first, rest) = ((1 - correlation * correlation).squareRoot(), 1 - correlation)
        // Around their mean, or squares would lose digits.
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

    /// Values around 0, clipped at three standard deviations as the median of their magnitudes tells these.
    static func clipped(_ values: [Double]) -> [Double] {
        guard !values.isEmpty else { return [] }
        let bound = 3 * 1.4826 * values.map(\.magnitude).sorted()[values.count / 2]
        return bound > 0 ? values.map { max(-bound, min(bound, $0)) } : values
    }

    /// How much higher a shape is, and what the scatter loses by it; from its product with the values, its square and its
    /// product with a level.
    private func fit(_ dot: Double, _ square: Double, _ cross: Double) -> (size: Double, gain: Double) {
        let information = square - cross * cross / level.square
        let score = dot - cross * level.dot / level.square
        return (score / information, score * score / information)
    }

    /// A step before a value other than the first.
    func step(at place: Int) -> (size: Double, gain: Double) { stretch(place..<count) }

    /// A level of its own from a value other than the first.
    private func stretch(_ range: Range<Int>) -> (size: Double, gain: Double) {
        let inner = rest * rest * Double(range.count - 1)
        let dot = white[range.lowerBound] + rest * (sums[range.upperBound] - sums[range.lowerBound + 1])
        guard range.upperBound < count else { return fit(dot, 1 + inner, rest + inner) }
        // The first value after the stretch has its share of the last one in it.
        return fit(
            dot - correlation * white[range.upperBound], 1 + inner + correlation * correlation,
            rest + inner - correlation * rest)
    }

    /// A straight line that rises by 1 from the first to the last value.
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

    /// The step with the largest gain, and how many were looked at; `nil` if the part is too short for one.
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

    /// The stretch with the largest gain that neither begins nor ends the part, and how many were looked at.
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

    /// The probability of a gain at a given place where there is one level.
    func probability(_ gain: Double) -> Double {
        let freedom = noise.degreesOfFreedom + count - 2
        guard freedom > 0, gain > 0 else { return 1 }
        let sum = Double(noise.degreesOfFreedom) * noise.variance + max(0, scatter - gain)
        let variance = max(sum / Double(freedom), Self.minDeviation * Self.minDeviation)
        return StudentDistribution.twoSidedTail((gain / variance).squareRoot(), degreesOfFreedom: freedom)
    }
}
