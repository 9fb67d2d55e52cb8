import Glibc

/// Memory of one measurement. Every page is there before the clock runs.
final class Buffer {
    let bytes: UnsafeMutableRawBufferPointer

    init(byteCount: Int) {
        bytes = .allocate(byteCount: byteCount, alignment: 4096)
        // A value of its own: pages of zeros may all be the same one.
        if let start = bytes.baseAddress { memset(start, 0x5A, byteCount) }
    }

    deinit {
        bytes.deallocate()
    }

    /// The equal share of a thread: whole pages, or what there is.
    func slice(_ index: Int, of count: Int) -> UnsafeMutableRawBufferPointer {
        let range = share(of: bytes.count, index, count)
        return UnsafeMutableRawBufferPointer(rebasing: bytes[range])
    }
}

/// The bytes that are a thread's share of `byteCount`: equal shares of whole pages, without what is left over.
func share(of byteCount: Int, _ index: Int, _ count: Int) -> Range<Int> {
    let each = byteCount / count / 4096 * 4096
    return index * each..<(index + 1) * each
}
