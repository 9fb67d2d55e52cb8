internal import Support

/// A workload in its textual form for the command line and for plans.
package enum CellWorkload: Hashable, Sendable, CustomStringConvertible {
    /// The whole object, one window per read.
    case sequential
    /// Reads of this number of bytes at random offsets.
    case random(rangeByteCount: UInt64)
    /// The requests of a player, by the trace's name.
    case trace(String)

    /// The default number of reads in an iteration of a random workload.
    package static let defaultReadCount = 256

    /// The max length of a read. Source: PROTOCOL.md, "read".
    package static let maxRangeByteCount: UInt64 = 256 << 20

    /// The length of the reads of a random workload; `nil` for another one.
    package var rangeByteCount: UInt64? {
        if case .random(let rangeByteCount) = self { rangeByteCount } else { nil }
    }

    /// The expectation of ``init(_:)``, in words.
    package static let expectation =
        "sequential, random: and a size such as random:4KiB, or trace: and a name such as trace:avplayer"

    /// Parses `sequential`, `random:` and a size, or `trace:` and a name.
    ///
    /// - Returns: `nil` for anything else, and for sizes that reads may not have.
    package init?(_ text: String) {
        if text == "sequential" {
            self = .sequential
            return
        }
        if text.hasPrefix("trace:") {
            let name = text.dropFirst("trace:".count)
            // The name becomes a part of a path.
            guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) else {
                return nil
            }
            self = .trace(String(name))
            return
        }
        guard text.hasPrefix("random:"), let size = ByteSize(String(text.dropFirst("random:".count))),
            size.byteCount > 0, size.byteCount <= Self.maxRangeByteCount
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
