/// A log-log chart of something against window size, one line a series.
struct LineChart: Sendable {
    /// A name that is unique in a report.
    var name: String
    /// What the picture shows; stands above it as well.
    var title: String
    /// What there is to be seen in it.
    var description: String
    /// The lines.
    var lines: [Line]
    /// Single points that reproduce something published.
    var publishedPoints: [PublishedPoint]
    /// Turns a power of two on the vertical axis into its label.
    var verticalLabel: @Sendable (UInt64) -> String
    /// What the diagonal on which both axes have the same value stands for, or `nil` if there is none.
    var diagonal: String?

    /// One backend's line.
    struct Line: Sendable {
        /// The backend's name.
        var name: String
        /// The index of its colour, dashes and shape.
        var style: Int
        /// Its points in ascending order of `window`.
        var points: [Point]
    }

    /// A value with its interval.
    struct Point: Sendable {
        /// The window in bytes.
        var window: UInt64
        /// The value.
        var value: Double
        /// The interval's lower end.
        var low: Double
        /// The interval's upper end.
        var high: Double
    }

    /// A point of its own.
    struct PublishedPoint: Sendable {
        /// What was published.
        var label: String
        /// The window in bytes.
        var window: UInt64
        /// The value.
        var value: Double
        /// The index of the backend's colour and shape.
        var style: Int
    }
}
