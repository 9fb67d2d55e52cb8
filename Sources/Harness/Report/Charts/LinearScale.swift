/// Maps values from 0 on to coordinates so that equal differences are equal distances.
struct LinearScale: Sendable {
    /// The distance between gridlines: 1, 2 or 5 times a power of ten.
    let step: Double
    /// The greatest value.
    let upper: Double
    /// The coordinate of 0.
    let start: Double
    /// The coordinate of `upper`.
    let end: Double

    /// Creates a scale that begins at 0.
    ///
    /// - Parameters:
    ///   - greatest: The greatest value.
    ///   - room: How far gridlines must be apart.
    ///   - start: The coordinate of 0.
    ///   - end: The coordinate of the scale's end.
    ///   - isRound: Whether the scale ends at a gridline.
    init(greatest: Double, room: Double, from start: Double, to end: Double, isRound: Bool) {
        let greatest = greatest.isFinite ? max(greatest, 1) : 1
        let maximum = max((end - start).magnitude / room, 1)
        var step = 1.0
        // 1, 2, 5, 10, 20, 50: by 2, by 2.5, by 2.
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

    /// Returns the coordinate of a value; those beyond the scale are drawn at its ends.
    func callAsFunction(_ value: Double) -> Double {
        start + min(max(value, 0), upper) / upper * (end - start)
    }

    /// The values of the gridlines, from 0 on.
    var lines: [Double] {
        (0...Int((upper / step).rounded(.down))).map { Double($0) * step }
    }
}
