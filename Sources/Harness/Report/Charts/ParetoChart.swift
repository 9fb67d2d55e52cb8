/// A log-log chart of throughput against memory: a shape a configuration, the front, and the choice.
struct ParetoChart: Sendable {
    /// What the picture shows; stands above it as well.
    var title: String
    /// What there is to be seen in it.
    var description: String
    /// The backends with the index of their colour and shape, in the order of the legend.
    var backends: [(name: String, style: Int)]
    /// The configurations.
    var points: [Point]
    /// What the choice is called.
    var choiceName: String?

    /// A configuration.
    struct Point: Hashable, Sendable {
        /// The backend's index of colour and shape.
        var style: Int
        /// Memory in bytes, at least `minMemory`.
        var memory: UInt64
        /// The median throughput in bytes per second.
        var bytesPerSecond: UInt64
        /// The throughput's interval.
        var low: UInt64, high: UInt64
        /// What the point is marked as, such as `16 MB`.
        var mark: String?
        /// Whether it is the choice.
        var isChoice: Bool
        /// Configuration and values in words, for whoever points at it.
        var words: String
    }

    /// Less is not told apart, and is drawn here.
    static let minMemory: UInt64 = 256 << 10

    /// The points that no other one is faster than at no more memory, by their medians, least memory first.
    var front: [Point] {
        var front: [Point] = []
        let order = points.sorted {
            ($0.memory, $1.bytesPerSecond) < ($1.memory, $0.bytesPerSecond)
        }
        for point in order where point.bytesPerSecond > front.last?.bytesPerSecond ?? 0 { front.append(point) }
        return front
    }
}
