import Results

extension LatencyRecord.Latency {
    /// The 90th percentile, or `nil` where fewer than 10 reads make it the maximum by another name.
    var trustedP90: UInt64? { readCount >= 10 ? p90 : nil }

    /// The percentiles that the number of reads supports, in nanoseconds, and the maximum.
    var percentiles: [(name: String, nanoseconds: UInt64)] {
        [("median", p50), ("p90", trustedP90), ("p99", trustedP99), ("p99.9", trustedP999), ("max", max)]
            .compactMap { name, nanoseconds in nanoseconds.map { (name, $0) } }
    }

    /// The percentiles in words, and how many reads they rest on.
    var words: String {
        percentiles.map { "\($0.name) \(DurationText.text(nanoseconds: $0.nanoseconds))" }.joined(separator: ", ")
            + ", \(RatioText.count(readCount, "read"))"
    }
}
