import Results

extension CellSummary {
    /// How long a program waits for the first bytes that it can use, in nanoseconds; `nil` where that was not measured.
    ///
    /// Both of these have to pass, so that it is the longer one: the median time to open the object and read one byte,
    /// and the median time of one read of the workload, which is a window where the object is read from start to end. A
    /// reader hands over a read at a time.
    package var timeToFirstByte: UInt64? {
        guard let opened = firstByte?.p50 else { return nil }
        let wait = max(opened, latency?.p50 ?? 0)
        // More than a hundred days are a broken clock.
        return wait < 1 << 53 ? wait : nil
    }
}

extension Candidate {
    /// Takes the figures of a cell, or returns `nil` if it has no throughput.
    init?(_ summary: CellSummary) {
        guard let speed = summary.speed else { return nil }
        var family = summary.cell
        family.windowByteCount = 0
        self.init(
            id: summary.cell.id, family: family.id, windowByteCount: summary.cell.windowByteCount,
            bytesPerSecond: speed.bytesPerSecond,
            interval: speed.hasInterval ? speed.bytesPerSecondLow...speed.bytesPerSecondHigh : nil,
            memoryByteCount: summary.memory?.growthByteCount, firstByteNanoseconds: summary.timeToFirstByte,
            amplification: summary.amplification?.fetched)
    }
}
