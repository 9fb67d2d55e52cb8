#if Network
import Synchronization

/// Memory for the bytes of one range.
final class RangeMemory: @unchecked Sendable {
    /// Its length in bytes.
    let byteCount: Int
    /// Where it starts. Who writes and who reads which of its bytes is for the owner to say.
    let start: UnsafeMutableRawPointer

    private let pool: RangeMemoryPool?

    /// Allocates memory of its own.
    init(byteCount: Int) {
        self.byteCount = byteCount
        start = .allocate(byteCount: max(1, byteCount), alignment: 64)
        pool = nil
    }

    fileprivate init(_ start: UnsafeMutableRawPointer, of pool: RangeMemoryPool) {
        self.start = start
        self.pool = pool
        byteCount = pool.byteCount
    }

    deinit {
        if let pool { pool.takeBack(start) } else { start.deallocate() }
    }
}

/// Memory of ranges that are over, for those that come: what comes fresh from the system costs a page fault for every
/// 4 KiB, which takes longer than to decrypt them.
final class RangeMemoryPool: Sendable {
    private struct State: @unchecked Sendable {
        var free: [UnsafeMutableRawPointer] = []
    }

    /// The length in bytes of each.
    let byteCount: Int

    private let maxCount: Int
    private let state = Mutex(State())

    /// Prepares a pool; nothing is allocated yet.
    ///
    /// - Parameters:
    ///   - byteCount: The longest range's length in bytes.
    ///   - maxCount: How many pieces are kept at most.
    init(byteCount: Int, maxCount: Int) {
        self.byteCount = byteCount
        self.maxCount = maxCount
    }

    deinit {
        state.withLock { $0.free.forEach { $0.deallocate() } }
    }

    /// Memory for one range.
    func take() -> RangeMemory {
        let known = state.withLock { State(free: $0.free.popLast().map { [$0] } ?? []) }
        return RangeMemory(known.free.first ?? .allocate(byteCount: byteCount, alignment: 4096), of: self)
    }

    fileprivate func takeBack(_ start: UnsafeMutableRawPointer) {
        nonisolated(unsafe) let start = start
        let isKept = state.withLock { state in
            guard state.free.count < maxCount else { return false }
            state.free.append(start)
            return true
        }
        if !isKept { start.deallocate() }
    }
}
#endif
