import ByteSources
import RandomAccess
import Synchronization

/// A sink in memory that takes bytes in any order, or only in theirs; it may break.
final class MemorySink: ByteSink {
    let isSeekable: Bool
    private let failsAt: UInt64
    private let state = Mutex((bytes: [UInt8](), writes: 0))

    init(isSeekable: Bool, byteCount: Int = 0, failsAt: UInt64 = .max) {
        self.isSeekable = isSeekable
        self.failsAt = failsAt
        if isSeekable { state.withLock { $0.bytes = [UInt8](repeating: 0xEE, count: byteCount) } }
    }

    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var writes: Int { state.withLock { $0.writes } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DecryptionError) {
        if offset + UInt64(bytes.count) > failsAt { throw .io(operation: "write", code: 28, reason: "injected") }
        let new = Array(bytes)
        let isInPlace = state.withLock { state in
            state.writes += 1
            if !isSeekable {
                guard offset == state.bytes.count else { return false }
                state.bytes += new
            } else {
                guard Int(offset) + new.count <= state.bytes.count else { return false }
                state.bytes.replaceSubrange(Int(offset)..<Int(offset) + new.count, with: new)
            }
            return true
        }
        if !isInPlace { throw .io(operation: "write", code: 0, reason: "\(bytes.count) bytes at \(offset)") }
    }

    func commit() throws(DecryptionError) {}
}
