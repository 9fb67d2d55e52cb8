import Results
import Subject
package import SubjectProtocol

/// The bytes that a workload touches before it touches one of them again. A cache serves the reads only if it holds all
/// of these bytes.
package enum WorkingSet {
    /// Returns the working set of a workload that runs repeatedly.
    ///
    /// Random reads never end, and return to a byte after about the object's length. Sequential windows return to a
    /// byte after the whole object, a trace after the distinct bytes of its ranges.
    /// - Parameters:
    ///   - workload: The workload.
    ///   - objectByteCount: The plaintext's length.
    ///   - unitByteCount: The unit of fetching: 16 for blocks, a chunk's length for whole chunks.
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

    /// Returns the working set of a workload of a cell. The cell's format and access determine the unit of fetching.
    static func byteCount(of workload: Workload, cell: Cell, isAuthenticated: Bool) -> UInt64 {
        let isWhole = isAuthenticated || cell.access.readsWholeChunks
        return byteCount(
            of: workload, objectByteCount: cell.objectByteCount,
            unitByteCount: isWhole ? cell.chunkByteCount ?? 16 : 16)
    }
}
