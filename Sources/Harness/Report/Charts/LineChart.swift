/// A chart of something against size on logarithmic axes, one line a series.
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
    var publishedPoints: [PublishedPoint] = []
    /// What is drawn for comparison, such as the machine's limits.
    var references: [Reference] = []
    /// The vertical axis.
    var vertical: Axis
    /// The sizes that were published, with what stands under them; each is marked where the axis reaches it.
    ///
    /// Article 000's 16 MB are chunks, of which an axis of windows says nothing.
    var marks: [(byteCount: UInt64, label: String)] = [(16_000_000, ""), (104_857_600, "article 004")]
    /// What the horizontal axis is about.
    var horizontalLabel = "window: plaintext decrypted in one step"

    /// One line.
    struct Line: Sendable {
        /// Its name, such as the backend's.
        var name: String
        /// Its colour, dashes and shape.
        var style: SeriesStyle
        /// Its points in ascending order of size.
        var points: [Point]
    }

    /// A value with its interval.
    struct Point: Sendable {
        /// The size in bytes.
        var byteCount: UInt64
        /// The value.
        var value: Double
        /// The interval's lower end.
        var low: Double
        /// The interval's upper end.
        var high: Double
        /// The value in words, for whoever points at it.
        var words: String
    }

    /// A point of its own.
    struct PublishedPoint: Sendable {
        /// What was published.
        var label: String
        /// The size in bytes.
        var byteCount: UInt64
        /// The value.
        var value: Double
        /// The backend's colour and shape.
        var style: SeriesStyle
        /// The value in words.
        var words: String
    }

    /// A line that no cell was measured for.
    struct Reference: Sendable {
        /// What it stands for.
        var name: String
        /// Sizes and values, in ascending order of size.
        var points: [(byteCount: UInt64, value: Double)]
    }

    /// How values become places and labels.
    struct Axis: Sendable {
        /// The ratio between neighbouring gridlines: 2 or 10.
        var base: Double
        /// Turns a power of the base into a label; `nil` for one that has none.
        var label: @Sendable (Int) -> String?

        /// An axis of bytes, each gridline double the one below.
        /// - Parameter unit: What follows the size, such as `/s`.
        /// - Returns: The axis.
        static func bytes(_ unit: String = "") -> Axis {
            Axis(base: 2) { (0..<63).contains($0) ? ByteCountText.size(1 << UInt64($0)) + unit : nil }
        }

        /// An axis of nanoseconds, each gridline ten times the one below.
        static let nanoseconds = Axis(base: 10) { DurationText.decade(nanosecondPower: $0) }
    }

    /// The labels of published points, each once.
    var publishedLabels: [String] {
        publishedPoints.map(\.label).reduce(into: []) { labels, label in
            if !labels.contains(label) { labels.append(label) }
        }
    }
}
