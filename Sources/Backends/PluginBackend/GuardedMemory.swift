internal import Glibc
import RandomAccess

/// A buffer with an inaccessible page right behind its last byte, and canary bytes before its first one that are
/// checked afterwards. It detects a plug-in's writes outside of a buffer.
final class GuardedMemory {
    private static let pageByteCount = Int(sysconf(Int32(_SC_PAGESIZE)))
    /// The min number of canary bytes before a buffer.
    private static let canaryByteCount = 64
    private static let canary: UInt8 = 0xA5

    /// The max number of canary bytes before a buffer.
    private let watchedByteCount: Int

    /// The pages between the two inaccessible ones.
    private var pages = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var current = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    init(watching watchedByteCount: Int = pageByteCount) {
        self.watchedByteCount = watchedByteCount
    }

    deinit {
        release()
    }

    private func release() {
        guard let start = pages.baseAddress else { return }
        protect(false)
        eraseBytes(pages)
        munmap(start - Self.pageByteCount, pages.count + 2 * Self.pageByteCount)
        pages = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// Returns a buffer that ends at the inaccessible page, filled with one byte; the previous buffer becomes invalid.
    func buffer(byteCount: Int, fill: UInt8 = 0x5A) throws(DecryptionError) -> UnsafeMutableRawBufferPointer {
        if pages.count < byteCount + Self.canaryByteCount { try grow(byteCount + Self.canaryByteCount) }
        protect(false)
        let offset = pages.count - byteCount
        UnsafeMutableRawBufferPointer(rebasing: pages[watched(before: offset)])
            .initializeMemory(as: UInt8.self, repeating: Self.canary)
        current = UnsafeMutableRawBufferPointer(rebasing: pages[offset...])
        current.initializeMemory(as: UInt8.self, repeating: fill)
        return current
    }

    /// Returns a buffer with a copy of some bytes.
    func buffer(_ bytes: UnsafeRawBufferPointer) throws(DecryptionError) -> UnsafeMutableRawBufferPointer {
        let buffer = try buffer(byteCount: bytes.count)
        buffer.copyMemory(from: bytes)
        return buffer
    }

    /// Makes the buffer read-only, or writable again.
    func protect(_ isReadOnly: Bool) {
        guard let start = pages.baseAddress, isReadOnly != self.isReadOnly else { return }
        mprotect(start, pages.count, isReadOnly ? PROT_READ : PROT_READ | PROT_WRITE)
        self.isReadOnly = isReadOnly
    }

    private var isReadOnly = false

    /// Checks the canary bytes before the buffer; `what` is the buffer's name.
    ///
    /// - Throws: `DecryptionError.backend` if they have changed.
    func check(_ function: StaticString, _ name: String, _ what: String = "output buffer") throws(DecryptionError) {
        let offset = pages.count - current.count
        guard pages[watched(before: offset)].allSatisfy({ $0 == Self.canary }) else {
            throw .backend(
                name: name, operation: "\(function)", reason: "it wrote to bytes before its \(what)")
        }
    }

    /// Returns the range of the canary bytes before a buffer.
    private func watched(before offset: Int) -> Range<Int> { max(0, offset - watchedByteCount)..<offset }

    private func grow(_ byteCount: Int) throws(DecryptionError) {
        release()
        let page = Self.pageByteCount
        let count = (byteCount + page - 1) / page * page
        guard count > 0, let start = mmap(nil, count + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            start != MAP_FAILED
        else {
            throw .io(operation: "allocate \(byteCount) bytes", code: ENOMEM, reason: String(cString: strerror(ENOMEM)))
        }
        pages = UnsafeMutableRawBufferPointer(start: start + page, count: count)
        mprotect(start + page, count, PROT_READ | PROT_WRITE)
        isReadOnly = false
    }
}
