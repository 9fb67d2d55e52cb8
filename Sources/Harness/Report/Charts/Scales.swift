/// A mapping of values to coordinates in which equal ratios are equal distances.
///
/// Positions are counted in doublings or decades above 1. Their computation needs only powers, no logarithms, so that
/// the same values give the same coordinates with every C library.
struct LogScale: Sendable {
    /// The ratio between neighbouring gridlines: 2 or 10.
    let base: Double
    /// The minimum's position, in powers of `base`.
    let lower: Double
    /// The maximum's position, in powers of `base`.
    let upper: Double
    /// The coordinate of `lower`.
    let start: Double
    /// The coordinate of `upper`.
    let end: Double

    /// A scale whose ends are whole powers of the base around all values.
    init(base: Double, covering values: [Double], atLeast span: Double, from start: Double, to end: Double) {
        let positions = values.filter { $0 > 0 && $0.isFinite }.map { Self.position(of: $0, base: base) }
        let lower = (positions.min() ?? 0).rounded(.down)
        self.init(
            base: base, lower: lower, upper: max((positions.max() ?? 0).rounded(.up), lower + span), start: start,
            end: end
        )
    }

    init(base: Double, lower: Double, upper: Double, start: Double, end: Double) {
        self.base = base
        self.lower = lower
        self.upper = upper
        self.start = start
        self.end = end
    }

    /// Returns the coordinate of a value; values outside the scale are drawn at its ends.
    func callAsFunction(_ value: Double) -> Double {
        let position = value > 0 && value.isFinite ? Self.position(of: value, base: base) : lower
        return coordinate(atPosition: min(max(position, lower), upper))
    }

    /// Returns the coordinate of a power of the base.
    func coordinate(atPosition position: Double) -> Double {
        start + (position - lower) / (upper - lower) * (end - start)
    }

    var powers: ClosedRange<Int> { Int(lower.rounded(.up))...max(Int(upper.rounded(.down)), Int(lower.rounded(.up))) }

    /// Returns the number of powers between labels that are at least `spacing` apart.
    func labelStep(spacing: Double) -> Int {
        let distance = (end - start).magnitude / (upper - lower)
        var step = 1
        while Double(step) * distance < spacing { step *= 2 }
        return step
    }

    /// Returns the logarithm of a value above 0 to the base, to about 12 digits, by repeated squaring.
    static func position(of value: Double, base: Double) -> Double {
        precondition(value > 0 && value.isFinite, "a logarithmic scale cannot hold \(value)")
        var whole = 0.0
        var rest = value
        while rest >= base {
            rest /= base
            whole += 1
        }
        while rest < 1 {
            rest *= base
            whole -= 1
        }
        var fraction = 0.0
        var bit = 0.5
        for _ in 0..<40 {
            rest *= rest
            if rest >= base {
                rest /= base
                fraction += bit
            }
            bit /= 2
        }
        return whole + fraction
    }

    /// Returns a whole power of a base.
    static func power(_ exponent: Int, base: Double) -> Double {
        var value = 1.0
        for _ in 0..<exponent.magnitude { value *= base }
        return exponent < 0 ? 1 / value : value
    }
}

/// A logarithmic axis: its gridlines and their labels.
struct LogAxis: Sendable {
    /// The ratio between neighbouring gridlines: 2 or 10.
    var base: Double
    /// Returns the label of a power of the base; `nil` for a power without one.
    var label: @Sendable (Int) -> String?

    /// Returns an axis of bytes, on which each gridline is double the one below.
    /// - Parameter unit: A suffix for the size, such as `/s`.
    /// - Returns: The axis.
    static func bytes(_ unit: String = "") -> LogAxis {
        LogAxis(base: 2) { (0..<63).contains($0) ? ByteCountText.size(1 << UInt64($0)) + unit : nil }
    }

    /// An axis of nanoseconds, on which each gridline is ten times the one below.
    static let nanoseconds = LogAxis(base: 10) { DurationText.decade(nanosecondPower: $0) }

    /// An axis of ratios, on which each gridline is ten times the one below.
    static let decades = LogAxis(base: 10, label: RatioText.decade)
}

extension SVGWriter {
    /// Adds the grid of a plot over sizes in bytes, with its labels.
    mutating func grid(x: LogScale, y: LogScale, vertical: LogAxis, horizontalLabel: String) {
        let rowStep = y.labelStep(spacing: 30)
        for power in y.powers {
            let height = y.coordinate(atPosition: Double(power))
            let isLabelled = power.isMultiple(of: rowStep)
            line(from: (x.start, height), to: (x.end, height), class: isLabelled ? "grid" : "faint")
            guard isLabelled, let text = vertical.label(power) else { continue }
            label(text, x: x.start - 10, y: height + 4, anchor: "end", class: "tick")
        }
        let columnStep = x.labelStep(spacing: 62)
        for power in x.powers where power.isMultiple(of: columnStep) && (0..<63).contains(power) {
            let (position, size) = (x.coordinate(atPosition: Double(power)), UInt64(1) << UInt64(power))
            line(from: (position, y.end), to: (position, y.start), class: "faint")
            label(ByteCountText.size(size), x: position, y: y.start + 20, anchor: "middle", class: "tick")
        }
        label(horizontalLabel, x: (x.start + x.end) / 2, y: y.start + 42, anchor: "middle", class: "tick")
    }
}

/// A mapping of values from 0 upward to coordinates in which equal differences are equal distances.
struct LinearScale: Sendable {
    /// The distance between gridlines: 1, 2 or 5 times a power of ten.
    let step: Double
    let upper: Double
    /// The coordinate of 0.
    let start: Double
    /// The coordinate of `upper`.
    let end: Double

    /// A scale that begins at 0.
    ///
    /// - Parameters:
    ///   - greatest: The maximum value.
    ///   - spacing: The minimum distance of gridlines.
    ///   - start: The coordinate of 0.
    ///   - end: The coordinate of the scale's end.
    ///   - isRound: True if the scale ends at a gridline.
    init(greatest: Double, spacing: Double, from start: Double, to end: Double, isRound: Bool) {
        let greatest = greatest.isFinite ? max(greatest, 1) : 1
        let maximum = max((end - start).magnitude / spacing, 1)
        var step = 1.0
        // The steps 1, 2, 5, 10, 20, 50 grow by factors of 2, 2.5 and 2.
        var index = 0
        while greatest / step > maximum, step < 1e30 {
            step *= index % 3 == 1 ? 2.5 : 2
            index += 1
        }
        self.step = step
        self.upper = isRound ? (greatest / step).rounded(.up) * step : greatest
        self.start = start
        self.end = end
    }

    /// Returns the coordinate of a value; values outside the scale are drawn at its ends.
    func callAsFunction(_ value: Double) -> Double {
        start + min(max(value, 0), upper) / upper * (end - start)
    }

    /// The values of the gridlines, from 0.
    var lines: [Double] {
        (0...Int((upper / step).rounded(.down))).map { Double($0) * step }
    }
}
