/// How much extra work makes how much of a slowdown, measured just before it is used.
///
/// A share of extra work costs less than that share of the time, as fetching takes time too, and a little whatever its
/// size: one more call a read. Both are measured: with far more work than is planted, so that the error of the slope is
/// small against the tolerance, and with about as much as the smallest slowdown takes. Between, a line is taken.
package struct SelfTestCalibration: Codable, Hashable, Sendable {
    /// What was measured with a share of extra work.
    package struct Point: Codable, Hashable, Sendable {
        /// The share.
        package var extraWork: Double
        /// The cell that was slowed down least.
        package var cell: String
        /// Its time with the work over its time without.
        package var slowdown: Double
        /// The lower end of its 95 % interval.
        package var low: Double
        /// The upper end.
        package var high: Double
        /// The blocks that it rests on.
        package var blockCount: Int

        /// Creates a point.
        package init(
            extraWork: Double, cell: String, slowdown: Double, low: Double, high: Double, blockCount: Int
        ) {
            self.extraWork = extraWork
            self.cell = cell
            self.slowdown = slowdown
            self.low = low
            self.high = high
            self.blockCount = blockCount
        }

        /// Takes the cell that was slowed down least from a gate that was run for figures; `nil` if it has none.
        init?(_ result: GateResult, extraWork: Double) {
            let measured = result.cells.filter { $0.slowdown != nil && $0.low != nil && $0.high != nil }
            guard result.verdict != .noisyHost, result.verdict != .wrong, measured.count == result.cells.count,
                let minimum = measured.min(by: { ($0.slowdown ?? 0) < ($1.slowdown ?? 0) }),
                let slowdown = minimum.slowdown,
                let low = minimum.low, let high = minimum.high
            else { return nil }
            self.init(
                extraWork: extraWork, cell: minimum.name, slowdown: slowdown, low: low, high: high,
                blockCount: minimum.blockCount)
        }

        /// Whether the work slows the cell down as work does, and not as noise or an option that nobody heeds.
        package var isPlausible: Bool { extraWork > 0 && (low - 1) / extraWork > Self.minSlope }

        /// Work that costs less than this part of its share is none.
        static let minSlope = 0.1

        /// Half of the interval's width.
        var halfWidth: Double { (high - low) / 2 }
    }

    /// The share that is measured first.
    package static let largeShare = 0.3

    /// What far more work made than is planted.
    package var large: Point
    /// What about as much work made as the smallest slowdown takes.
    package var small: Point

    /// Creates a calibration.
    package init(large: Point, small: Point) {
        self.large = large
        self.small = small
    }

    /// The share of extra work that makes a slowdown, to a millionth, which is what a subject takes.
    package func extraWork(for planted: Double) -> Double {
        let share = small.extraWork + place(of: planted) * (large.extraWork - small.extraWork)
        return (max(share, 0) * 1e6).rounded() / 1e6
    }

    /// What a slowdown that is planted may be in truth: both points' errors, in proportion, added up.
    package func range(of planted: Double) -> ClosedRange<Double> {
        let place = place(of: planted)
        let error = abs(1 - place) * small.halfWidth + abs(place) * large.halfWidth
        return planted - error...planted + error
    }

    /// Where a slowdown lies between the points: 0 at the small one, 1 at the large one.
    private func place(of planted: Double) -> Double {
        let span = large.slowdown - small.slowdown
        return span > 0 ? (1 + planted - small.slowdown) / span : 0
    }
}
