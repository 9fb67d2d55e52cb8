/// A chart with a row for each thing that is compared, and in it a lane for each series, on one logarithmic axis.
struct RowChart: Sendable {
    /// A name that is unique in a report.
    var name: String
    /// What the picture shows; stands above it as well.
    var title: String
    /// What there is to be seen in it.
    var description: String
    /// The samples above the picture.
    var legend: [ChartLegend.Entry]
    /// The axis.
    var axis: Axis
    /// The rows from top to bottom.
    var rows: [Row]

    /// What the axis is about.
    struct Axis: Sendable {
        /// What stands above it.
        var title: String
        /// The ratio between neighbouring gridlines: 2 or 10.
        var base: Double
        /// Turns a power of the base into a label; `nil` for one that has none.
        var label: @Sendable (Int) -> String?
        /// The least value that has a place; lesser ones are drawn as an arrow to it.
        var minimum: Double?
        /// A value with a line of its own.
        var reference: Double?

        /// An axis of nanoseconds.
        static func nanoseconds(_ title: String) -> Axis {
            Axis(title: title, base: 10, label: { DurationText.decade(nanosecondPower: $0) })
        }
    }

    /// One thing that is compared.
    struct Row: Sendable {
        /// What this row and those after it belong to, where that changes.
        var heading: String?
        /// The first line of its name.
        var name: String
        /// The second line of its name.
        var detail: String
        /// One lane a series.
        var lanes: [Lane]
    }

    /// What one series shows in a row.
    struct Lane: Sendable {
        /// Colour and shape.
        var style: SeriesStyle
        /// From where to where a line goes, and the marks across it.
        var line: (from: Double, to: Double)?
        /// Short strokes across the line.
        var ticks: [Double] = []
        /// Where the series' shape stands.
        var point: Double?
        /// Where a ring stands.
        var ring: Double?
        /// How far a bar goes.
        var bar: Double?
        /// Whether the bar is the lighter one of two.
        var isLight = false
        /// The value, beside the lane.
        var label = ""
        /// The value in words, for whoever points at it.
        var words: String

        /// Every value in it.
        var values: [Double] {
            [line?.from, line?.to, point, ring, bar].compactMap { $0 } + ticks
        }
    }

    /// More rows than this are a table and no picture.
    static let maxRows = 40

    /// Says that rows are missing, where they are.
    static func remark(_ count: Int) -> String {
        count > maxRows ? " Of \(count) rows the first \(maxRows) are drawn; the table has all." : ""
    }
}
