import Glibc
import Synchronization

/// An AES key, or what one is derived from, that erases itself and never prints.
///
/// The bytes live in memory that is neither swapped nor dumped where the system allows it (`SecretMemory`), and are
/// overwritten with `explicit_bzero` before that is used again; descriptions, reflection and interpolation show the length
/// only.
public final class SecretKey: @unchecked Sendable {
    // Written in `init` only, so that sharing between threads is safe.
    private let storage: UnsafeMutableRawBufferPointer

    /// Copies a key.
    ///
    /// - Parameter bytes: 16, 24 or 32 bytes, such as an array or a buffer. That copy stays the caller's to erase.
    /// - Throws: `DecryptionError.invalidKey` for any other length.
    /// - Source: FIPS 197, section 5 (key lengths of 128, 192 and 256 bits).
    public init(_ bytes: some Collection<UInt8>) throws(DecryptionError) {
        guard [16, 24, 32].contains(bytes.count) else { throw .invalidKey(byteCount: bytes.count) }
        self.storage = SecretMemory.allocate(byteCount: bytes.count)
        storage.copyBytes(from: bytes)
    }

    /// Copies what keys are derived from, of any length but 0: a format that takes less says so itself.
    ///
    /// - Throws: `DecryptionError.invalidKey` if there is nothing.
    public init(material bytes: some Collection<UInt8>) throws(DecryptionError) {
        guard !bytes.isEmpty else { throw .invalidKey(byteCount: 0) }
        self.storage = SecretMemory.allocate(byteCount: bytes.count)
        storage.copyBytes(from: bytes)
    }

    deinit {
        SecretMemory.release(storage)
    }

    /// The key's length in bytes: 16, 24 or 32 for an AES key.
    public var byteCount: Int { storage.count }

    /// Calls `body` with the key's bytes, which it must not keep.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage))
    }
}

extension SecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The length, and nothing of the key.
    public var description: String { "SecretKey(\(byteCount) bytes)" }

    /// The length, and nothing of the key.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` and string interpolation of containers show nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Memory for keys: apart from all other, so that its pages can be locked (`mlock`) and left out of core dumps
/// (`MADV_DONTDUMP`). A system that allows neither gives memory all the same.
///
/// Pages are for many keys, of which a playlist may have thousands, and stay the process's.
enum SecretMemory {
    /// The free places of one key each, over all pages.
    private struct Places: @unchecked Sendable {
        var free: [UnsafeMutableRawPointer] = []
    }

    /// Most secrets are keys of AES and what formats derive them from; a longer one has pages of its own.
    private static let placeByteCount = 64
    private static let blockByteCount = 16 << 10
    private static let places = Mutex(Places())

    static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer {
        guard byteCount <= placeByteCount else {
            return UnsafeMutableRawBufferPointer(start: pages(byteCount: byteCount), count: byteCount)
        }
        let place = places.withLock { places in
            if places.free.isEmpty {
                let block = pages(byteCount: blockByteCount)
                places.free = stride(from: 0, to: blockByteCount, by: placeByteCount).map { block + $0 }
            }
            return Places(free: [places.free.removeLast()])
        }
        return UnsafeMutableRawBufferPointer(start: place.free[0], count: byteCount)
    }

    /// Erases the bytes, and gives their memory back.
    static func release(_ bytes: UnsafeMutableRawBufferPointer) {
        eraseBytes(bytes)
        guard let start = bytes.baseAddress else { return }
        guard bytes.count <= placeByteCount else {
            munmap(start, bytes.count)
            return
        }
        nonisolated(unsafe) let place = start
        places.withLock { $0.free.append(place) }
    }

    /// The corresponding C functions are `mmap`, `mlock` and `madvise`.
    private static func pages(byteCount: Int) -> UnsafeMutableRawPointer {
        let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start, start != MAP_FAILED else { preconditionFailure("mmap: no memory for a key") }
        // Best effort: a user may lock a few pages only.
        _ = mlock(start, byteCount)
        _ = madvise(start, byteCount, MADV_DONTDUMP)
        return start
    }
}

/// Overwrites secret bytes in a way that the optimiser keeps.
///
/// The corresponding C function is `explicit_bzero`.
public func eraseBytes(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    explicit_bzero(start, bytes.count)
}

extension UnsafeMutableRawBufferPointer {
    /// Allocates as many bytes as a caller, a file or a server asks for. `allocate`, for lengths that this program
    /// chooses, ends the process if there is no memory. The corresponding C function is `posix_memalign`.
    ///
    /// - Throws: `DecryptionError.io` with `ENOMEM`.
    package static func tryAllocate(
        byteCount: Int, alignment: Int = 4096
    ) throws(DecryptionError) -> UnsafeMutableRawBufferPointer {
        var start: UnsafeMutableRawPointer?
        guard posix_memalign(&start, alignment, Swift.max(1, byteCount)) == 0, let start else {
            throw .io(
                operation: "allocate \(byteCount) bytes", code: ENOMEM, reason: String(cString: strerror(ENOMEM)))
        }
        return UnsafeMutableRawBufferPointer(start: start, count: byteCount)
    }

    /// Allocates several buffers, all of them or none.
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

/// Whether two stretches of equal length hold the same bytes, in a time that does not depend on what they hold: for tags
/// and commitments.
///
/// - Precondition: The lengths are equal.
public func isEqualInConstantTime(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    precondition(left.count == right.count, "\(left.count) and \(right.count) bytes")
    var difference: UInt8 = 0
    for index in 0..<left.count { difference |= left[index] ^ right[index] }
    return difference == 0
}
