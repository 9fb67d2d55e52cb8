/// Keeps labels in a column from covering each other.
enum LabelStack {
    /// Returns positions as close to the wanted ones as a minimal distance and the column's ends allow.
    ///
    /// The order of the result is that of `wanted`; equal positions keep it.
    static func spread(_ wanted: [Double], distance: Double, within bounds: ClosedRange<Double>) -> [Double] {
        let order = wanted.indices.sorted { (wanted[$0], $0) < (wanted[$1], $1) }
        var placed = order.map { wanted[$0] }
        // Forward pushes down what is too close, backward pulls up what has left the column; each keeps the order.
        for index in placed.indices.dropFirst() {
            placed[index] = max(placed[index], placed[index - 1] + distance)
        }
        var limit = bounds.upperBound
        for index in placed.indices.reversed() {
            placed[index] = min(placed[index], limit)
            limit = placed[index] - distance
        }
        var result = wanted
        for (position, index) in order.enumerated() { result[index] = placed[position] }
        return result
    }
}
