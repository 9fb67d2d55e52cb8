/// A chart of how often something happens over time, on linear axes that begin at 0, one line a series.
struct TimeChart: Sendable {
    /// A name that is unique in a report.
    var name: String
    /// What the picture shows; stands above it as well.
    var title: String
    /// What there is to be seen in it.
    var description: String
    /// The lines.
    var lines: [Line]
    /// What the lines with dashes are that stand beside others.
    var besideName = ""
    /// Levels that were not measured, such as what a server can do.
    var levels: [(name: String, value: Double)] = []
    /// A moment with a line of its own.
    var moment: (seconds: Double, name: String)?
    /// What the horizontal axis is about.
    var horizontalLabel: String

    /// One line.
    struct Line: Sendable {
        /// Its name.
        var name: String
        /// Its colour, dashes and shape.
        var style: SeriesStyle
        /// The values.
        var steps: Steps
        /// What is drawn beside it, with dashes.
        var beside: Steps?
        /// Its peak, where it is written.
        var label: String
        /// The peak in words, for whoever points at it.
        var words: String
    }

    /// Values that each hold for the same time.
    struct Steps: Sendable {
        /// For how many seconds each holds.
        var seconds: Double
        /// The values.
        var values: [Double]

        /// When the first and the last value are over that are not 0; `nil` if all are.
        var range: Range<Int>? {
            guard let first = values.firstIndex(where: { $0 > 0 }), let last = values.lastIndex(where: { $0 > 0 })
            else { return nil }
            return first..<last + 1
        }

        /// When they end.
        var end: Double { Double(range?.upperBound ?? 0) * seconds }
    }

    /// The greatest value drawn.
    var greatest: Double {
        (lines.flatMap { $0.steps.values + ($0.beside?.values ?? []) } + levels.map(\.value)).max() ?? 0
    }
}
