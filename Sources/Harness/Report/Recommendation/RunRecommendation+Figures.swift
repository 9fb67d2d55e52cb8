import Results

extension RunRecommendation {
    /// The figures of a candidate in words, as they stand in tables.
    struct Figures: Sendable {
        /// The median throughput.
        var throughput: String
        /// Its interval, or why there is none.
        var interval: String
        /// How far memory rose.
        var memory: String
        /// The time to the first byte.
        var firstByte: String
        /// Ciphertext bytes fetched per plaintext byte.
        var fetched: String

        /// Takes the figures of a candidate.
        init(_ candidate: Candidate) {
            throughput = ByteCountText.rate(candidate.bytesPerSecond)
            interval =
                candidate.interval.map { ByteCountText.rateRange($0.lowerBound, $0.upperBound) } ?? "one process"
            memory = candidate.memoryByteCount.map { ByteCountText.growth($0) } ?? "–"
            firstByte = candidate.firstByteNanoseconds.map { DurationText.text(nanoseconds: $0) } ?? "–"
            fetched = candidate.amplification.map { RatioText.times($0) } ?? "–"
        }
    }

    /// The choice and the runner-up with what they are called, as far as there are any.
    var chosen: [(role: String, candidate: Candidate)] {
        [advice.choice.map { ("choice", $0) }, advice.runnerUp.map { ("runner-up", $0.candidate) }].compactMap { $0 }
    }

    /// What the figures mean, in sentences.
    static let figureNotes = [
        "Throughput is the median, with its 95 % interval.",
        "Memory is how far the process's peak rose above what it held when the object was open.",
        "First byte is the median time to open the object and read one byte, or to read one window, or one range where "
            + "the workload has ranges, whichever is longer: a reader hands over a read at a time.",
        "Fetched is ciphertext bytes per plaintext byte delivered.",
    ]

    /// What the Pareto front is.
    static let frontNote =
        "No other configuration is as good in all of these and better in one, by the medians. Memory below 256 KiB counts "
        + "as equal, and so does amplification within a hundredth."
}
