import Results
package import SubjectProtocol

/// The bytes that a workload touches before it touches one of them again: what a cache must hold for the reads to be
/// reads of that cache, and not of what lies below it.
package enum WorkingSet {
    /// Returns the working set of a workload that is run again and again.
    ///
    /// Random reads go on and on, and come back to a byte after as many bytes as the object has. Windows in order come
    /// back to it after the whole object, a trace after the distinct bytes of its ranges.
    /// - Parameters:
    ///   - workload: What is read.
    ///   - objectByteCount: The plaintext's length.
    ///   - unitByteCount: What is fetched at least, and whole: 16 for blocks, a chunk's length for whole chunks.
    /// - Returns: The plaintext bytes, at most the object's length.
    package static func byteCount(
        of workload: Workload, objectByteCount: UInt64, unitByteCount: UInt64
    ) -> UInt64 {
        guard case .trace(let reads) = workload else { return objectByteCount }
        let unit = max(1, unitByteCount)
        let ranges = reads.compactMap { read -> Range<UInt64>? in
            let end = min(objectByteCount, read.offset &+ min(read.count, objectByteCount))
            guard read.count > 0, read.offset < end else { return nil }
            let (last, rest) = end.quotientAndRemainder(dividingBy: unit)
            return read.offset / unit * unit..<min(objectByteCount, rest == 0 ? end : (last + 1) * unit)
        }.sorted { $0.lowerBound < $1.lowerBound }
        var (sum, reached): (UInt64, UInt64) = (0, 0)
        for range in ranges where range.upperBound > reached {
            sum += range.upperBound - max(reached, range.lowerBound)
            reached = range.upperBound
        }
        return sum
    }

    /// The same for a cell, whose format and access say what is fetched whole.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a cell that no plan makes.
    static func byteCount(of workload: Workload, cell: Cell, isAuthenticated: Bool) -> UInt64 {
        let isWhole = isAuthenticated || cell.access == "chunk-cache" || cell.access == "whole-chunk"
        return byteCount(
            of: workload, objectByteCount: cell.objectByteCount,
            unitByteCount: isWhole ? cell.chunkByteCount ?? 16 : 16)
    }
}
