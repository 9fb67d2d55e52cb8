import SubjectProtocol
internal import Support

/// A workload as it is written on the command line and in plans.
package enum CellWorkload: Hashable, Sendable, CustomStringConvertible {
    /// The whole object, a window a read.
    case sequential
    /// Reads of this many bytes at random offsets.
    case random(rangeByteCount: UInt64)
    /// What a player asked for, by the trace's name.
    case trace(String)

    /// The reads of one iteration of a random workload, unless said otherwise.
    package static let defaultReadCount = 256

    /// What ``init(_:)`` expects, in words.
    package static let expectation =
        "sequential, random: and a size such as random:4KiB, or trace: and a name such as trace:avplayer"

    /// Reads `sequential`, `random:` and a size, or `trace:` and a name.
    ///
    /// - Returns: `nil` for anything else, and for sizes that no read may have.
    package init?(_ text: String) {
        if text == "sequential" {
            self = .sequential
            return
        }
        if text.hasPrefix("trace:") {
            let name = text.dropFirst("trace:".count)
            // A name becomes a part of a path.
            guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) else {
                return nil
            }
            self = .trace(String(name))
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
        case .trace(let name): "trace:\(name)"
        case .random(let rangeByteCount): "random:\(ByteSize(rangeByteCount))"
        }
    }
}
