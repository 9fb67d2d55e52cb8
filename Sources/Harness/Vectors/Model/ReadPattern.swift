/// Reads in few words, as a file writes them: one, all combinations of offsets and counts, or all that there are.
package enum ReadPattern: Hashable, Sendable {
    /// One read.
    case single(RangeRead)
    /// Every combination, offset after offset.
    ///
    /// With each offset come the `counts` in order, then the counts that reach `toEnd` bytes past the plaintext's end
    /// (offsets past the end are spared these). Ranges hold both their ends.
    case product(offsets: [ClosedRange<UInt64>], counts: [ClosedRange<Int>], toEnd: [Int], flags: [VectorFlag])
    /// Every offset from 0 to `past` bytes past the plaintext's end, each with every count from 0 to `past` bytes past
    /// the end.
    case exhaustive(past: Int, flags: [VectorFlag])

    /// Every combination of some offsets and counts.
    static func product(
        offsets: [ClosedRange<UInt64>], counts: [Int] = [], toEnd: [Int] = [], flags: [VectorFlag]
    ) -> ReadPattern {
        .product(offsets: offsets, counts: counts.map { $0...$0 }, toEnd: toEnd, flags: flags)
    }

    /// The same reads with other flags; one read keeps its own.
    func flagged(_ flags: [VectorFlag]) -> ReadPattern {
        switch self {
        case .single: self
        case .product(let offsets, let counts, let toEnd, _):
            .product(offsets: offsets, counts: counts, toEnd: toEnd, flags: flags)
        case .exhaustive(let past, _): .exhaustive(past: past, flags: flags)
        }
    }

    /// The reads of a plaintext of this length, in order.
    package func reads(of plaintextByteCount: UInt64) -> [RangeRead] {
        switch self {
        case .single(let read):
            return [read]
        case .product(let offsets, let counts, let toEnd, let flags):
            var reads: [RangeRead] = []
            for offset in offsets.joined() {
                for count in counts.joined() {
                    reads.append(RangeRead(offset: offset, count: count, of: plaintextByteCount, flags: flags))
                }
                guard offset <= plaintextByteCount else { continue }
                for past in toEnd {
                    let count = Int(plaintextByteCount - offset) + past
                    reads.append(RangeRead(offset: offset, count: count, of: plaintextByteCount, flags: flags))
                }
            }
            return reads
        case .exhaustive(let past, let flags):
            let end = Int(plaintextByteCount)
            return (0...end + past).flatMap { offset in
                (0...max(0, end - offset) + past).map { count in
                    RangeRead(offset: UInt64(offset), count: count, of: plaintextByteCount, flags: flags)
                }
            }
        }
    }

    /// The number of reads of a plaintext of this length.
    package func readCount(of plaintextByteCount: UInt64) -> Int {
        switch self {
        case .single:
            return 1
        case .product(let offsets, let counts, let toEnd, _):
            let inside = offsets.reduce(0) { sum, range in
                guard range.lowerBound <= plaintextByteCount else { return sum }
                return sum + Int(min(range.upperBound, plaintextByteCount) - range.lowerBound) + 1
            }
            return offsets.reduce(0) { $0 + $1.count } * counts.reduce(0) { $0 + $1.count } + inside * toEnd.count
        case .exhaustive(let past, _):
            // An offset n bytes before the end has 0 to n + past bytes, the `past` ones behind it 0 to past.
            return (0...Int(plaintextByteCount)).reduce(0) { $0 + $1 + past + 1 } + past * (past + 1)
        }
    }
}
