internal import RandomAccess

/// Galois/Counter Mode over one of the AES ciphers here: its counter mode, and GHASH.
///
/// A tag is compared before anything is decrypted, so that an unauthentic chunk never becomes plaintext.
///
/// - Source: NIST SP 800-38D, sections 7.1 and 7.2, with nonces of 96 bits, no additional data, and tags of 128 bits.
final class SwiftChunkContext<Counters: CipherContext>: ChunkContext {
    private let backend: String
    private let counters: Counters
    private let direction: CipherDirection
    /// H, a block of zeros, encrypted.
    private let hashKey: Polynomial

    /// Works out the hash key with `counters`, which are counter mode under the key.
    init(backend: String, counters: Counters, direction: CipherDirection) throws(DecryptionError) {
        self.backend = backend
        self.counters = counters
        self.direction = direction
        self.hashKey = Polynomial(try Self.encrypted(Block(bigEndianValue: 0), counters))
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
    ) throws(DecryptionError) -> Bool {
        let tagByteCount = ChunkFormat.tagByteCount
        if direction == .encrypt {
            try applyCounters(input, into: output, start: start)
            let ciphertext = UnsafeRawBufferPointer(start: output, count: input.count)
            let tag = UnsafeMutableRawBufferPointer(start: output + input.count, count: tagByteCount)
            try self.tag(of: ciphertext, start: start).store(to: tag)
            return true
        }
        guard input.count >= tagByteCount else {
            throw .backend(name: backend, operation: "gcm", reason: "a chunk of \(input.count) bytes")
        }
        let ciphertext = UnsafeRawBufferPointer(rebasing: input[..<(input.count - tagByteCount)])
        let found = UnsafeRawBufferPointer(rebasing: input[(input.count - tagByteCount)...])
        let tag = try tag(of: ciphertext, start: start)
        guard tag.withUnsafeBytes({ isEqualInConstantTime($0, found) }) else { return false }
        try applyCounters(ciphertext, into: output, start: start)
        return true
    }

    /// C = GCTR(inc₃₂(J₀), P): the counter's lowest 32 bits count from 2 on, too few blocks to carry further.
    private func applyCounters(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
    ) throws(DecryptionError) {
        guard UInt64(input.count) < Self.largestByteCount else {
            throw .backend(name: backend, operation: "gcm", reason: "a chunk of \(input.count) bytes")
        }
        try counters.process(input, into: output, iv: start.advanced(by: 1))
    }

    /// T = GCTR(J₀, GHASH(C ‖ 0… ‖ lengths)).
    private func tag(of ciphertext: UnsafeRawBufferPointer, start: Block) throws(DecryptionError) -> Block {
        var hash = GHASH(key: hashKey)
        return hash.hash(ciphertext) ^ (try Self.encrypted(start, counters))
    }

    /// CIPH(block): counter mode of a block of zeros.
    private static func encrypted(_ block: Block, _ counters: Counters) throws(DecryptionError) -> Block {
        var bytes: UInt128 = 0
        try withUnsafeMutableBytes(of: &bytes) { (bytes) throws(DecryptionError) in
            try counters.process(inPlace: bytes, iv: block)
        }
        return Block(bigEndianValue: UInt128(bigEndian: bytes))
    }

    /// Section 5.2.1.1: at most 2³⁹ − 256 bits.
    private static var largestByteCount: UInt64 { 1 << 36 - 32 }
}
