import Results
internal import Synchronization

extension Sampling {
    /// Reads a file's share of each thread into its window, window after window.
    ///
    /// - Throws: `LimitError` if a read fails.
    func pageCacheRead(from file: CachedFile, windowByteCount: Int) throws(LimitError) -> BufferRate {
        let count = team.threadCount
        let windows = (0..<count).map { _ in Buffer(byteCount: windowByteCount) }
        let steps = share(of: file.byteCount, 0, count).count / windowByteCount
        let failures = FailureCount()
        let rate = rate(byteCount: steps * windowByteCount * count) { index in
            let start = share(of: file.byteCount, index, count).lowerBound
            for step in 0..<steps
            where !file.read(into: windows[index].bytes, at: start + step * windowByteCount) {
                failures.add()
            }
        }
        guard failures.isZero else { throw LimitError("read a file of \(file.byteCount) bytes", code: 0) }
        return BufferRate(bufferByteCount: UInt64(windowByteCount), rate: rate)
    }
}

/// Failures of several threads.
private final class FailureCount: Sendable {
    private let count = Atomic<Int>(0)

    var isZero: Bool { count.load(ordering: .acquiring) == 0 }

    func add() { count.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}
