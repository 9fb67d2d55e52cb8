import Glibc
package import RandomAccess
import Statistics
import Support

/// The times of decryption and of system calls on this machine, for computed plans, in which no reader is timed.
///
/// Bytes are copied from memory that is larger than the last cache, from consecutive places, as a reader gets them from
/// the system. They are decrypted in calls of one length.
package struct DecryptionRates: Sendable {
    /// A cipher with a key length.
    package struct KeyedCipher: Hashable, Sendable {
        /// The cipher.
        package var cipher: Cipher
        /// The key's length in bytes.
        package var keyByteCount: Int
        /// The hash function of the HMAC that is checked before a chunk is decrypted; `nil` without one.
        package var hmac: HashFunction?

        /// A key of another length than the cipher takes is one that the cipher's key is derived from.
        package init(_ cipher: Cipher, keyByteCount: Int, hmac: HashFunction? = nil) {
            (self.cipher, self.hmac) = (cipher, hmac)
            let counts = cipher.keyByteCounts
            self.keyByteCount = counts.contains(keyByteCount) ? keyByteCount : counts.max() ?? keyByteCount
        }
    }

    /// The time of a call of one length.
    package struct Point: Hashable, Sendable {
        /// The number of plaintext bytes that the call decrypts.
        package var byteCount: UInt64
        /// The median, in nanoseconds.
        package var nanoseconds: Double
    }

    /// The points for each timed length, in ascending order.
    package var points: [KeyedCipher: [Point]]
    /// The time of a read call without its bytes, in nanoseconds.
    package var callNanoseconds: UInt64
    /// The rate of copies from a kept plaintext.
    package var copiedBytesPerSecond: UInt64

    /// Returns the time of a call in nanoseconds, interpolated linearly between the timed lengths.
    package func nanoseconds(_ cipher: KeyedCipher, byteCount: UInt64) -> Double {
        guard let points = points[cipher], let first = points.first, let last = points.last, byteCount > 0 else {
            return 0
        }
        let length = Double(byteCount)
        if byteCount >= last.byteCount { return last.nanoseconds * length / Double(last.byteCount) }
        guard byteCount > first.byteCount,
            let index = points.firstIndex(where: { $0.byteCount >= byteCount })
        else { return first.nanoseconds }
        let (low, high) = (points[index - 1], points[index])
        let share = (length - Double(low.byteCount)) / Double(high.byteCount - low.byteCount)
        return low.nanoseconds + share * (high.nanoseconds - low.nanoseconds)
    }

    /// Returns the plaintext bytes per second in calls of a length.
    package func bytesPerSecond(_ cipher: KeyedCipher, byteCount: UInt64) -> UInt64 {
        let nanoseconds = nanoseconds(cipher, byteCount: byteCount)
        return nanoseconds > 0 ? UInt64(nearest: Double(byteCount) * 1e9 / nanoseconds) : 0
    }

    /// Returns the time to copy kept bytes, at least one nanosecond.
    package func copyNanoseconds(byteCount: UInt64) -> UInt64 {
        max(1, UInt64(nearest: Double(byteCount) * 1e9 / Double(max(1, copiedBytesPerSecond))))
    }
}

/// The measurement of rates.
extension DecryptionRates {
    /// The lengths of the timed calls: a chunk or a window each.
    private static let callByteCounts = [256, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20]

    /// Times a library, and checks its output.
    ///
    /// - Parameters:
    ///   - backend: The library.
    ///   - ciphers: The ciphers and keys.
    /// - Returns: The rates, from medians.
    /// - Throws: `DecryptionError.unsupported` for a cipher that the backend lacks; `.backend` if it fails, or if its
    ///   output is wrong; an error for buffers that cannot be allocated.
    package static func measured(
        _ backend: any CipherBackend, _ ciphers: Set<KeyedCipher>
    ) throws(DecryptionError) -> DecryptionRates {
        let host = ThisHost.describe()
        let options = LimitOptions(
            threads: 1, cacheByteCounts: host.cacheByteCounts, machineByteCount: host.memoryByteCount, folder: "")
        let memory = try LongMemory(byteCount: max(options.memoryByteCount, 32 << 20))
        var points: [KeyedCipher: [Point]] = [:]
        for cipher in ciphers {
            let decryption = try Decryption(backend, cipher)
            var timed: [Point] = []
            for count in callByteCounts {
                let (nanoseconds, isSlow) = try decryption.nanoseconds(callByteCount: count, memory)
                // Longer calls are not faster, and would take too much time.
                timed.append(Point(byteCount: UInt64(count), nanoseconds: nanoseconds))
                if isSlow { break }
            }
            points[cipher] = timed
        }
        return DecryptionRates(
            points: points, callNanoseconds: callNanosecondsMeasured(),
            copiedBytesPerSecond: try memory.copiedBytesPerSecond())
    }

    /// Returns the bytes that a backend decrypts in a second in CBC, or in GCM with tags, from a short measurement for
    /// estimates; a guess for a backend that fails.
    package static func roughBytesPerSecond(_ backend: any CipherBackend, hasTags: Bool) -> Double {
        let count = 256 << 10
        let timed = try? Decryption(backend, KeyedCipher(hasTags ? .aesGCM : .aesCBC, keyByteCount: 16))
            .nanoseconds(callByteCount: count, LongMemory(byteCount: 2 * count))
        return timed.map { Double(count) * 1e9 / $0.nanoseconds } ?? 1e9
    }
}

/// Decryption with one library and one key.
private struct Decryption {
    private let name: String
    private let cipher: Cipher
    private let sealing: any CipherContext
    private let opening: any CipherContext
    private let mac: (any MACContext)?

    private static let (sampleNanoseconds, minCount) = (8_000_000 as UInt64, 5)
    /// The minimum number of bytes to copy at once, as in readers of files.
    private static let fetchByteCount = 64 << 10

    init(_ backend: any CipherBackend, _ keyed: DecryptionRates.KeyedCipher) throws(DecryptionError) {
        let key = try SecretKey(material: (0..<keyed.keyByteCount).map { UInt8(truncatingIfNeeded: $0) })
        cipher = keyed.cipher
        name = "\(backend.name) \(cipher.mode)"
        sealing = try backend.makeContext(cipher, .encrypt, key: key)
        opening = try backend.makeContext(cipher, .decrypt, key: key)
        mac = try keyed.hmac.map { function throws(DecryptionError) in try backend.makeMAC(function, key: key) }
    }

    /// Computes the HMAC of a chunk, into a buffer for the longest digest.
    private func makeCode(of chunk: UnsafeRawBufferPointer) throws(DecryptionError) {
        guard let mac else { return }
        var digest = InlineArray<8, UInt64>(repeating: 0)
        try withUnsafeMutableBytes(of: &digest) { (digest) throws(DecryptionError) in
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            try mac.makeCode(of: nothing, chunk, nothing, into: digest)
        }
    }

    private func process(
        _ context: any CipherContext, _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer
    ) throws(DecryptionError) -> Bool {
        try withUnsafeBytes(of: (1, 1) as (UInt128, UInt128)) { (bytes) throws(DecryptionError) in
            let nonce = UnsafeRawBufferPointer(rebasing: bytes[..<cipher.nonceByteCount])
            return try context.process(input, into: output, nonce: nonce)
        }
    }

    /// Returns the median time of a call, including the copy from memory, and whether longer calls would take too much
    /// time.
    func nanoseconds(
        callByteCount: Int, _ memory: LongMemory
    ) throws(DecryptionError) -> (nanoseconds: Double, isSlow: Bool) {
        let unit = callByteCount + cipher.tagByteCount
        let callCount = max(1, Self.fetchByteCount / callByteCount)
        let fetch = unit * callCount
        let buffers = try UnsafeMutableRawBufferPointer.tryAllocate(byteCounts: [fetch, callByteCount, callByteCount])
        defer { buffers.forEach { $0.deallocate() } }
        let (fetched, plain, opened) = (buffers[0], buffers[1], buffers[2])
        guard let base = fetched.baseAddress, let output = opened.baseAddress else { return (0, false) }
        for index in plain.indices { plain[index] = UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8) }
        _ = try process(sealing, UnsafeRawBufferPointer(plain), into: base)
        for index in 1..<callCount where callCount > 1 {
            (base + index * unit).copyMemory(from: base, byteCount: unit)
        }
        let placeCount = memory.fill(with: UnsafeRawBufferPointer(fetched))
        var (times, place) = ([UInt64](), 0)
        repeat {
            let began = monotonicNanoseconds()
            memory.read(at: place * fetch, into: fetched)
            var isRight = true
            for index in 0..<callCount {
                let input = UnsafeRawBufferPointer(rebasing: fetched[index * unit..<(index + 1) * unit])
                try makeCode(of: input)
                isRight = try process(opening, input, into: output) && isRight
            }
            times.append(max(1, monotonicNanoseconds() - began))
            place = (place + 1) % placeCount
            guard isRight, times.count > 1 || opened.elementsEqual(plain) else {
                throw .backend(name: name, operation: "decrypt", reason: "other bytes than were encrypted")
            }
        } while times.reduce(0, +) < Self.sampleNanoseconds
            || times.count < Self.minCount && times.reduce(0, +) < 10 * Self.sampleNanoseconds
        let median = percentile(tenthsOfPercent: 500, of: times) ?? 1
        return (Double(median) / Double(callCount), median > 4 * Self.sampleNanoseconds)
    }
}

/// Memory that is larger than the last cache. Bytes are copied from it as a system call copies them.
private final class LongMemory {
    private let memory: UnsafeMutableRawBufferPointer

    init(byteCount: Int) throws(DecryptionError) {
        memory = try .tryAllocate(byteCount: byteCount)
        memory.initializeMemory(as: UInt8.self, repeating: 1)
    }

    deinit { memory.deallocate() }

    /// Fills the memory with copies of a piece.
    ///
    /// - Returns: The number of copies, at least 1.
    func fill(with piece: UnsafeRawBufferPointer) -> Int {
        let count = memory.count / max(1, piece.count)
        for index in 0..<count {
            UnsafeMutableRawBufferPointer(rebasing: memory[(index * piece.count)...]).copyMemory(from: piece)
        }
        return max(1, count)
    }

    /// Fills a buffer with bytes from an offset on.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) {
        let end = min(offset + buffer.count, memory.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[offset..<end]))
    }

    /// Measures the rate of copies from memory that is not in a cache.
    func copiedBytesPerSecond() throws(DecryptionError) -> UInt64 {
        let count = 64 << 10
        let buffer = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: count)
        defer { buffer.deallocate() }
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        let times = (0..<memory.count / count).map { place in
            let began = monotonicNanoseconds()
            read(at: place * count, into: buffer)
            return max(1, monotonicNanoseconds() - began)
        }
        return UInt64(nearest: Double(count) * 1e9 / Double(percentile(tenthsOfPercent: 500, of: times) ?? 1))
    }
}

extension DecryptionRates {
    /// Measures the median time of a `pread` of one byte from the page cache, in nanoseconds. Returns 0 if there is no
    /// file to read.
    private static func callNanosecondsMeasured() -> UInt64 {
        let descriptor = Glibc.open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        let pageCount = max(1, lseek(descriptor, 0, SEEK_END) / 4096)
        var byte: UInt8 = 0
        let times = (0..<1000).map { index in
            // Each read is a prime number of pages further, so that no page is read again soon.
            let offset = off_t(index * 509) % pageCount * 4096
            let began = monotonicNanoseconds()
            pread(descriptor, &byte, 1, offset)
            return monotonicNanoseconds() - began
        }
        return percentile(tenthsOfPercent: 500, of: times) ?? 0
    }
}
