/// The bytes of an expression's value. They may include a key, so all of them are erased when they are released.
package final class ByteString: Hashable, @unchecked Sendable {
    // Written in `init` only, so that threads can share it safely.
    private let storage: UnsafeMutableRawBufferPointer

    /// Calls `fill` to write the bytes. If it fails, `deinit` frees the memory.
    init<Failure: Error>(
        count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        storage = .allocate(byteCount: count, alignment: 16)
        try fill(storage)
    }

    /// Copies the given bytes.
    package convenience init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// The same byte, repeated.
    package convenience init(repeating byte: UInt8, count: Int) {
        self.init(count: count) { $0.initializeMemory(as: UInt8.self, repeating: byte) }
    }

    deinit {
        eraseBytes(storage)
        storage.deallocate()
    }

    /// The number of bytes.
    package var count: Int { storage.count }

    /// The bytes.
    package subscript(index: Int) -> UInt8 { storage[index] }

    /// A copy, which is not erased: for bytes that are not secret.
    package var array: [UInt8] { Array(storage) }

    /// The bytes as text, if they are valid UTF-8.
    package var text: String? { String(validating: storage, as: UTF8.self) }

    /// Calls `body` with the bytes, which it must not keep.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage))
    }

    /// Returns whether both have the same bytes, in a time that does not depend on the bytes.
    package static func == (left: ByteString, right: ByteString) -> Bool {
        left.count == right.count
            && isEqualInConstantTime(UnsafeRawBufferPointer(left.storage), UnsafeRawBufferPointer(right.storage))
    }

    /// Hashes the number of bytes, but not the bytes.
    package func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

extension ByteString {
    /// Returns byte strings joined together.
    static func concatenation(_ parts: [ByteString]) -> ByteString {
        ByteString(count: parts.reduce(0) { $0 + $1.count }) { output in
            var offset = 0
            for part in parts {
                part.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: output[offset...]).copyMemory(from: $0) }
                offset += part.count
            }
        }
    }

    /// Returns a range of the bytes.
    func slice(_ range: Range<Int>) -> ByteString {
        withUnsafeBytes { ByteString(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Returns a number in a fixed number of bytes; `nil` if it does not fit.
    static func encoding(_ value: Int128, byteCount: Int, isBigEndian: Bool) -> ByteString? {
        guard value >= 0, byteCount >= 16 || value >> Int128(8 * byteCount) == 0 else { return nil }
        return ByteString(count: byteCount) { output in
            var rest = value
            for index in 0..<byteCount {
                output[isBigEndian ? byteCount - 1 - index : index] = UInt8(truncatingIfNeeded: rest)
                rest >>= 8
            }
        }
    }

    /// Returns the bytes as a number; `nil` if it is 2¹²⁷ or more.
    func number(isBigEndian: Bool) -> Int128? {
        var value: Int128 = 0
        for index in 0..<count {
            guard value >> 119 == 0 else { return nil }
            value = value << 8 | Int128(self[isBigEndian ? index : count - 1 - index])
        }
        return value
    }

    /// Returns the sum of the bytes and a number, as a number of the same width, modulo its range.
    func adding(_ value: Int128, isBigEndian: Bool) -> ByteString {
        ByteString(count: count) { output in
            withUnsafeBytes { output.copyMemory(from: $0) }
            output.add(value, isBigEndian: isBigEndian)
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Adds a number to the bytes in place, modulo the range of their width.
    func add(_ value: Int128, isBigEndian: Bool) {
        var rest = value
        for index in 0..<count {
            let place = isBigEndian ? count - 1 - index : index
            let sum = Int128(self[place]) + (rest & 0xFF)
            self[place] = UInt8(truncatingIfNeeded: sum)
            rest = (rest >> 8) + (sum >> 8)
            if rest == 0 { return }
        }
    }
}
