import Results

extension GateResult {
    /// The intervals as a picture of letters: a row a cell, in the order of the table.
    ///
    /// The axis is the change of time in percent, as far as the widest interval reaches, at least twice the tolerance and
    /// at most four times; `<` and `>` stand where an interval goes on beyond it. `:` marks the tolerance, `│` no change.
    package var forestPlot: String {
        let rows =
            cells.enumerated().map { ("\($0.offset + 1)", $0.element) } + (control.map { [("control", $0)] } ?? [])
        let measured = rows.filter { $0.1.slowdown != nil }
        guard !measured.isEmpty else { return "no interval to show" }
        let axis = ForestAxis(
            reach: measured.flatMap { [$0.1.low, $0.1.high, $0.1.slowdown] }.compactMap { $0.map { abs($0 - 1) } }.max()
                ?? 0,
            tolerance: tolerance)
        let width = rows.map(\.0.count).max() ?? 0
        let lines = measured.map { name, cell in
            let space = String(repeating: " ", count: width - name.count)
            return "\(space)\(name)  \(axis.row(low: cell.low, estimate: cell.slowdown ?? 1, high: cell.high))"
        }
        return ([String(repeating: " ", count: width + 2) + axis.heads] + lines).joined(separator: "\n")
    }
}

/// The axis of a forest plot of letters; 0 % is in its middle.
struct ForestAxis {
    private static let halfWidth = 24

    private let reach: Double
    private let tolerance: Double

    /// Creates an axis.
    ///
    /// - Parameters:
    ///   - reach: The farthest from no change that anything goes.
    ///   - tolerance: What is marked on both sides.
    init(reach: Double, tolerance: Double) {
        let unit = max(tolerance, 0.001)
        self.reach = min(max(reach.isFinite ? reach : .greatestFiniteMagnitude, 2 * unit), 4 * unit)
        self.tolerance = tolerance
    }

    /// The ends of the axis and its middle, in a line above the rows.
    var heads: String {
        let (left, right) = (GateWords.change(1 - reach), GateWords.change(1 + reach))
        let half = Self.halfWidth
        return left + String(repeating: " ", count: max(1, half - left.count)) + "0"
            + String(repeating: " ", count: max(1, half - right.count)) + right
    }

    /// An interval; one without an end goes on beyond the axis.
    func row(low: Double?, estimate: Double, high: Double?) -> String {
        let half = Self.halfWidth
        var letters = [Character](repeating: " ", count: 2 * half + 1)
        letters[column(1 - tolerance)] = ":"
        letters[column(1 + tolerance)] = ":"
        letters[half] = "│"
        let (from, to) = (column(low ?? 0), column(high ?? .infinity))
        if from <= to {
            for place in from...to { letters[place] = "─" }
            letters[from] = isBeyond(low ?? 0) ? "<" : "├"
            letters[to] = isBeyond(high ?? .infinity) ? ">" : "┤"
        }
        letters[column(estimate)] = isBeyond(estimate) ? (estimate < 1 ? "<" : ">") : "●"
        var text = String(letters)
        while text.last == " " { text.removeLast() }
        return text
    }

    private func isBeyond(_ ratio: Double) -> Bool { abs(ratio - 1) > reach }

    private func column(_ ratio: Double) -> Int {
        let place = (ratio - 1) / reach * Double(Self.halfWidth)
        return Self.halfWidth + Int(min(max(place, -Double(Self.halfWidth)), Double(Self.halfWidth)).rounded())
    }
}
