/// Values by row and column, as numbers on shades.
struct HeatMap: Sendable {
    /// A name that is unique in a report.
    var name: String
    /// What the picture shows; stands above it as well.
    var title: String
    /// What there is to be seen in it.
    var description: String
    /// The names of the rows.
    var rows: [String]
    /// The names of the columns.
    var columns: [String]
    /// Row by row, a value for each column; `nil` where nothing was measured.
    var values: [[Value?]]

    /// One value.
    struct Value: Sendable {
        /// The value; above 0.
        var value: Double
        /// The number that is printed.
        var number: String
        /// The unit that is printed below it.
        var unit: String
        /// The value in words, for whoever points at it.
        var words: String
        /// Whether it is the best, or ties with it.
        var isBest: Bool
    }

    /// How many shades there are.
    static let shadeCount = 7
    /// The ratio between the values of neighbouring shades: the seventh root of 8.
    static let shadeRatio = 1.3459

    /// The shade of a value: the last one is that of the greatest value, the first that of an eighth of it and less.
    static func shade(_ value: Double, of greatest: Double) -> Int {
        guard value > 0, greatest > 0 else { return 0 }
        var (shade, limit) = (shadeCount - 1, greatest / shadeRatio)
        while shade > 0, value < limit {
            shade -= 1
            limit /= shadeRatio
        }
        return shade
    }

    /// The same with rows and columns exchanged.
    var transposed: HeatMap {
        var other = self
        (other.rows, other.columns) = (columns, rows)
        other.values = columns.indices.map { column in values.map { $0[column] } }
        return other
    }
}
