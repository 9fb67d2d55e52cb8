import SubjectProtocol

/// A workload as it is written on the command line and in plans.
package enum CellWorkload: Hashable, Sendable, CustomStringConvertible {
    /// The whole object, a window a read.
    case sequential
    /// Reads of this many bytes at random offsets.
    case random(rangeByteCount: UInt64)

    /// The reads of one iteration of a random workload, unless said otherwise.
    package static let defaultReadCount = 256

    /// Reads `sequential`, or `random:` and a size.
    ///
    /// - Returns: `nil` for anything else, and for sizes that no read may have.
    package init?(_ text: String) {
        if text == "sequential" {
            self = .sequential
            return
        }
        guard text.hasPrefix("random:"), let size = ByteSize(String(text.dropFirst("random:".count))),
            size.byteCount > 0, size.byteCount <= Workload.largestRead
        else { return nil }
        self = .random(rangeByteCount: size.byteCount)
    }

    /// The text that ``init(_:)`` reads.
    package var description: String {
        switch self {
        case .sequential: "sequential"
        case .random(let rangeByteCount): "random:\(ByteSize(rangeByteCount))"
        }
    }
}
