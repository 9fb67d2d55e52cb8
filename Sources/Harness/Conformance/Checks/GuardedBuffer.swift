import Glibc

/// Space for a read, with bytes around it and in it that tell whether they were touched.
final class GuardedBuffer {
    private static let canary: UInt8 = 0xa5
    private static let marginByteCount = 64

    private var storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 13, alignment: 4096)
    private var count = 0

    deinit {
        storage.deallocate()
    }

    /// Fills everything with canaries, and returns space for `count` bytes.
    func prepare(count: Int) -> UnsafeMutableRawBufferPointer {
        let needed = count + 2 * Self.marginByteCount
        if storage.count < needed {
            storage.deallocate()
            storage = .allocate(byteCount: needed, alignment: 4096)
        }
        self.count = count
        if let start = storage.baseAddress { memset(start, Int32(Self.canary), needed) }
        return bytes
    }

    /// The room that was prepared.
    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: storage[Self.marginByteCount..<Self.marginByteCount + count])
    }

    /// What was touched though it is not among the first `delivered` bytes, or `nil`.
    func mismatch(delivered: Int) -> String? {
        let behind = Self.marginByteCount + delivered
        for index in behind..<Self.marginByteCount + count + Self.marginByteCount where storage[index] != Self.canary {
            return "byte \(index - Self.marginByteCount) of the buffer was touched, and \(delivered) were delivered"
        }
        for index in 0..<Self.marginByteCount where storage[index] != Self.canary {
            return "byte \(index - Self.marginByteCount), before the buffer's start, was touched"
        }
        return nil
    }
}
