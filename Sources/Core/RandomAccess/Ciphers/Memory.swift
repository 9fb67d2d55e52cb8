import Glibc
import Synchronization

/// Memory for keys, separate from all other memory, so that its pages can be locked (`mlock`) and excluded from core
/// dumps (`MADV_DONTDUMP`). If the system allows neither, allocation succeeds all the same.
///
/// A page holds many keys, since a playlist may have thousands. Pages are never returned to the system.
enum SecretMemory {
    /// The free slots for one secret each, in all pages.
    private struct FreeSlots: @unchecked Sendable {
        var starts: [UnsafeMutableRawPointer] = []
    }

    /// The slot length: most secrets are AES keys and values derived from them. A longer secret has pages of its own.
    private static let slotByteCount = 64
    private static let blockByteCount = 16 << 10
    private static let freeSlots = Mutex(FreeSlots())

    /// - Returns: Memory that only ``release(_:)`` frees.
    /// - Throws: `DecryptionError.io` with `ENOMEM`.
    static func allocate(byteCount: Int) throws(DecryptionError) -> UnsafeMutableRawBufferPointer {
        guard byteCount <= slotByteCount else {
            return UnsafeMutableRawBufferPointer(start: try pages(byteCount: byteCount), count: byteCount)
        }
        let slot = try freeSlots.withLock { free throws(DecryptionError) in
            if free.starts.isEmpty {
                let block = try pages(byteCount: blockByteCount)
                free.starts = stride(from: 0, to: blockByteCount, by: slotByteCount).map { block + $0 }
            }
            return FreeSlots(starts: [free.starts.removeLast()])
        }
        return UnsafeMutableRawBufferPointer(start: slot.starts[0], count: byteCount)
    }

    /// Erases the bytes, and frees their memory.
    static func release(_ bytes: UnsafeMutableRawBufferPointer) {
        eraseBytes(bytes)
        guard let start = bytes.baseAddress else { return }
        guard bytes.count <= slotByteCount else {
            munmap(start, bytes.count)
            return
        }
        nonisolated(unsafe) let slot = start
        freeSlots.withLock { $0.starts.append(slot) }
    }

    /// The corresponding C functions are `mmap`, `mlock` and `madvise`.
    private static func pages(byteCount: Int) throws(DecryptionError) -> UnsafeMutableRawPointer {
        let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start, start != MAP_FAILED else { throw .noMemory(byteCount: byteCount) }
        // Both calls may fail: the limit for locked memory is only a few pages.
        _ = mlock(start, byteCount)
        _ = madvise(start, byteCount, MADV_DONTDUMP)
        return start
    }
}

/// Overwrites secret bytes in a way that the optimiser does not remove.
///
/// The corresponding C function is `explicit_bzero`.
public func eraseBytes(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    explicit_bzero(start, bytes.count)
}

/// Overwrites the remains of finished functions on this thread's stack: keys, round keys and plaintext that were in
/// registers for a while.
///
/// It overwrites 16 KiB below the caller's own variables, which is deeper than a cipher's calls go. The owner of a key
/// or a key schedule calls it last, on the thread that releases it: a backend's contexts do so in their `deinit`.
@inline(never)
public func eraseStack() {
    var space = InlineArray<1024, UInt128>(repeating: 0)
    withUnsafeMutableBytes(of: &space) { eraseBytes($0) }
}

extension UnsafeMutableRawBufferPointer {
    /// Allocates a number of bytes that a caller, a file or a server chooses. If there is no memory, it throws, where
    /// `allocate` ends the process. The corresponding C function is `posix_memalign`.
    ///
    /// - Throws: `DecryptionError.io` with `ENOMEM`.
    package static func tryAllocate(
        byteCount: Int, alignment: Int = 4096
    ) throws(DecryptionError) -> UnsafeMutableRawBufferPointer {
        var start: UnsafeMutableRawPointer?
        guard posix_memalign(&start, alignment, Swift.max(1, byteCount)) == 0, let start else {
            throw .noMemory(byteCount: byteCount)
        }
        return UnsafeMutableRawBufferPointer(start: start, count: byteCount)
    }

    /// Allocates several buffers: all of them or none.
    package static func tryAllocate(byteCounts: [Int]) throws(DecryptionError) -> [UnsafeMutableRawBufferPointer] {
        var buffers: [UnsafeMutableRawBufferPointer] = []
        do throws(DecryptionError) {
            for byteCount in byteCounts { buffers.append(try tryAllocate(byteCount: byteCount)) }
        } catch {
            for buffer in buffers { buffer.deallocate() }
            throw error
        }
        return buffers
    }
}

extension DecryptionError {
    fileprivate static func noMemory(byteCount: Int) -> DecryptionError {
        .io(operation: "allocate \(byteCount) bytes", code: ENOMEM, reason: String(cString: strerror(ENOMEM)))
    }
}

/// The limit of the memory for the threads of a reader together.
package enum BufferLimit {
    /// 16 GiB.
    private static let maxByteCount: UInt64 = 16 << 30

    /// The expectation of a window and a number of threads, in words.
    package static let expectation = "at most 16 GiB of buffers for all threads"

    /// Returns whether a window per thread stays within the limit.
    package static func allows(threads: Int, windowByteCount: UInt64) -> Bool {
        windowByteCount <= maxByteCount / UInt64(max(1, threads))
    }
}

/// Returns whether two stretches of equal length hold the same bytes. The time does not depend on the bytes: this is
/// for tags and commitments.
///
/// - Precondition: The lengths are equal.
public func isEqualInConstantTime(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    precondition(left.count == right.count, "\(left.count) and \(right.count) bytes")
    var difference: UInt8 = 0
    for index in 0..<left.count { difference |= left[index] ^ right[index] }
    return difference == 0
}
