import Glibc
import RandomAccess
import Support
import Vectors

/// The expected bytes of a read, computed once and then compared with each reader's bytes.
struct ExpectedBytes {
    /// Ranges up to this length are compared byte by byte, larger ones by their digests.
    static let largestHeldByteCount = 1 << 20

    private enum Content {
        case held(ArraySlice<UInt8>)
        case digest(PlaintextDigest)
    }

    /// The number of bytes.
    let byteCount: Int
    private let content: Content

    /// Computes the `count` bytes from `offset` on.
    init(of plaintext: GroupPlaintext, offset: UInt64, count: Int) throws(DecryptionError) {
        self.byteCount = count
        let range = offset..<offset + UInt64(count)
        if count > Self.largestHeldByteCount {
            self.content = .digest(try plaintext.digest(of: range))
            return
        }
        self.content = .held(try plaintext.slice(range))
    }

    init(_ bytes: [UInt8]) {
        self.byteCount = bytes.count
        self.content = .held(bytes[...])
    }

    /// The bytes, if they are held.
    var held: [UInt8]? {
        if case .held(let bytes) = content { Array(bytes) } else { nil }
    }

    /// Returns the range from the first wrong byte to the last among the delivered ones, of which there are at least
    /// `byteCount`; `nil` if all are right, or if the bytes are not held.
    func wrongBytes(in delivered: UnsafeRawBufferPointer) -> Range<Int>? {
        guard case .held(let bytes) = content else { return nil }
        return bytes.withUnsafeBytes { expected in
            guard let left = expected.baseAddress, let right = delivered.baseAddress,
                memcmp(left, right, expected.count) != 0,
                let first = expected.indices.first(where: { expected[$0] != delivered[$0] }),
                let last = expected.indices.last(where: { expected[$0] != delivered[$0] })
            else { return nil }
            return first..<last + 1
        }
    }

    /// Returns what is wrong with `byteCount` delivered bytes, or `nil`.
    func mismatch(in delivered: UnsafeRawBufferPointer) -> String? {
        switch content {
        case .held(let bytes):
            guard let index = wrongBytes(in: delivered)?.lowerBound else { return nil }
            return "byte \(index) is wrong: \(Hexadecimal.encode(Array(delivered.dropFirst(index).prefix(8)))), "
                + "expected \(Hexadecimal.encode(bytes.dropFirst(index).prefix(8)))"
        case .digest(let digest):
            return PlaintextDigest(delivered) == digest ? nil : "the digest of \(byteCount) bytes is another one"
        }
    }
}

/// A buffer for a read, filled and surrounded with canaries that show which bytes were touched.
final class GuardedBuffer {
    private static let canary: UInt8 = 0xa5
    private static let marginByteCount = 64

    /// Empty before the first read: many objects are opened and never read.
    private var storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var count = 0

    deinit {
        storage.deallocate()
    }

    /// Fills everything with canaries, and returns a buffer of `count` bytes.
    func prepare(count: Int) -> UnsafeMutableRawBufferPointer {
        let needed = count + 2 * Self.marginByteCount
        if storage.count < needed {
            storage.deallocate()
            storage = .allocate(byteCount: max(needed, 1 << 13), alignment: 4096)
        }
        self.count = count
        if let start = storage.baseAddress { memset(start, Int32(Self.canary), needed) }
        return bytes
    }

    /// The buffer that was prepared.
    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: storage[Self.marginByteCount..<Self.marginByteCount + count])
    }

    /// Describes the bytes that were touched beyond the first `delivered`; `nil` if none were.
    func mismatch(delivered: Int) -> String? {
        // A local constant, because each access to a class's property is checked for exclusivity.
        let storage = storage
        let behind = Self.marginByteCount + delivered
        if let index = Self.touched(storage[behind..<Self.marginByteCount + count + Self.marginByteCount]) {
            return "byte \(index - Self.marginByteCount) of the buffer was touched, and \(delivered) were delivered"
        }
        if let index = Self.touched(storage[..<Self.marginByteCount]) {
            return "byte \(index - Self.marginByteCount), before the buffer's start, was touched"
        }
        return nil
    }

    /// Returns the index of the first byte that is not a canary, or `nil`.
    private static func touched(_ bytes: Slice<UnsafeMutableRawBufferPointer>) -> Int? {
        // If each byte equals the next one and the first is a canary, all are canaries.
        if let start = UnsafeMutableRawBufferPointer(rebasing: bytes).baseAddress, bytes.first == canary,
            memcmp(start, start + 1, bytes.count - 1) == 0
        {
            return nil
        }
        return bytes.firstIndex { $0 != canary }
    }
}
