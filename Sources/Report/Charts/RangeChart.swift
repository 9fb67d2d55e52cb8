/// A chart of random reads: for each configuration the latency of every backend, and what was fetched.
struct RangeChart: Sendable {
    /// What the picture shows; stands above it as well.
    var title: String
    /// What there is to be seen in it.
    var description: String
    /// The backends with the index of their colour and shape, in the order of the legend.
    var backends: [(name: String, style: Int)]
    /// The configurations from top to bottom.
    var rows: [Row]

    /// One configuration.
    struct Row: Sendable {
        /// The first line of its name.
        var name: String
        /// The second line of its name.
        var detail: String
        /// Ciphertext bytes fetched per plaintext byte, or `nil` where unknown.
        var fetched: Double?
        /// One mark a backend.
        var marks: [Mark]
    }

    /// Latencies of one backend in one configuration, in nanoseconds.
    struct Mark: Sendable {
        /// The backend's index of colour and shape.
        var style: Int
        /// The median.
        var p50: UInt64
        /// The 99th percentile.
        var p99: UInt64
    }
}
