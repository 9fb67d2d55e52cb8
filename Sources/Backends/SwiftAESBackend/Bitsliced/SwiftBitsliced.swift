public import RandomAccess

/// AES, ChaCha20 and XSalsa20 in plain Swift, fast and constant-time: no branch and no address depends on a key or on
/// data.
///
/// Bit-slicing collects one bit of many blocks in one vector, and runs the S-box as a circuit of gates. So each
/// operation works on 32 blocks, on 64 if the CPU has AVX2, or on 8 at the end of a stretch. CBC encryption gains
/// nothing, because each block waits for the one before. The round keys and the space for blocks are erased with the
/// context.
///
/// ChaCha20 and XSalsa20 consist of additions, XORs and rotations by constants on vectors of 128 bits, and Poly1305 of
/// multiplications of 64 bits: constant-time if the CPU's multiplication is.
///
/// AVX2 and AVX-512 are used for vectors here, without AES instructions. The same Swift functions are compiled for each
/// of them and for neither, and the CPU is queried once. The variable `CHUNKWISE_SWIFT_DISABLE_HWF` disables features,
/// `avx512vl` or `avx2`.
///
/// - Source: Biham, "A Fast New DES Implementation in Software" (FSE 1997), for bit-slicing; FIPS 197 for the rest of
///   AES; RFC 8439, draft-irtf-cfrg-xchacha-03 and Bernstein, "Extending the Salsa20 nonce" (2011), for the others.
public struct SwiftBitsliced: CipherBackend {
    /// `swift-bitsliced`
    public let name = "swift-bitsliced"
    /// The edition of the standard that the code follows.
    public let version = "FIPS 197 (2023 update)"
    /// The ciphers offered.
    public let ciphers = CipherSupport.ofSwift
    /// The hash functions with HMAC.
    public let hmacFunctions = HashFunction.allCases
    /// The vectors in use: `avx512vl`, `avx2`, or empty for portable code.
    public var cpuFeatures: [String] { VectorLevel.ofThisMachine.cpuFeature.map { [$0] } ?? [] }

    /// The backend for this machine.
    public init() {}

    /// Returns a context for one cipher, direction and key.
    public func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        try makeSwiftContext(
            try support(of: cipher, key: key), direction, backend: name, key: key,
            streaming: { SwiftBitslicedContext($0, $1, key: key) }, blocks: { BitslicedCipher($0) })
    }

    /// Returns a context for HMAC with a hash function, under a key of any length.
    public func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        HMACContext(function, key: key)
    }
}

/// Modes of operation over batches of blocks.
final class SwiftBitslicedContext: CipherContext {
    private let cipher: BitslicedCipher
    private let support: CipherSupport
    private let direction: CipherDirection

    init(
        _ support: CipherSupport, _ direction: CipherDirection, key: SecretKey, level: VectorLevel = .ofThisMachine
    ) {
        self.cipher = BitslicedCipher(key, level: level)
        self.support = support
        self.direction = direction
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "swift-bitsliced")
        let iv = Block(loadingFrom: nonce)
        guard let start = input.baseAddress else { return true }
        switch (support.cipher, direction) {
        case (.aesCBC, _) where input.count % Block.byteCount != 0:
            throw .backend(
                name: "swift-bitsliced", operation: "cbc", reason: "\(input.count) bytes: expected a multiple of 16")
        case (.aesCBC, .decrypt): decryptCBC(start, into: output, blockCount: input.count / Block.byteCount, iv: iv)
        case (.aesCBC, .encrypt): encryptCBC(start, into: output, blockCount: input.count / Block.byteCount, iv: iv)
        default: applyCTR(start, into: output, byteCount: input.count, counter: iv)
        }
        return true
    }

    /// P₁ = CIPH⁻¹(C₁) ⊕ IV, Pⱼ = CIPH⁻¹(Cⱼ) ⊕ Cⱼ₋₁. Source: NIST SP 800-38A, section 6.2.
    private func decryptCBC(
        _ input: UnsafeRawPointer, into output: UnsafeMutableRawPointer, blockCount: Int, iv: Block
    ) {
        let blocks = cipher.blocks
        var (input, output, remaining) = (input, output, blockCount)
        var previous = Plane(iv)
        while remaining > 0 {
            let count = cipher.batchBlockCount(of: remaining)
            blocks.copyMemory(from: input, byteCount: Block.byteCount * count)
            cipher.process(blockCount: count, .decrypt)
            let last = Plane(block: count - 1, of: input)
            // From the last block to the first, so that each Cⱼ₋₁ is still unchanged if the call is in place.
            for index in (1..<count).reversed() {
                (Plane(block: index, of: blocks) ^ Plane(block: index - 1, of: input)).store(asBlock: index, of: output)
            }
            (Plane(block: 0, of: blocks) ^ previous).store(asBlock: 0, of: output)
            previous = last
            (input, output) = (input + Block.byteCount * count, output + Block.byteCount * count)
            remaining -= count
        }
    }

    /// C₁ = CIPH(P₁ ⊕ IV), Cⱼ = CIPH(Pⱼ ⊕ Cⱼ₋₁), one after another. Source: NIST SP 800-38A, section 6.2.
    private func encryptCBC(
        _ input: UnsafeRawPointer, into output: UnsafeMutableRawPointer, blockCount: Int, iv: Block
    ) {
        let blocks = cipher.blocks
        var previous = Plane(iv)
        for index in 0..<blockCount {
            (Plane(block: index, of: input) ^ previous).store(asBlock: 0, of: blocks)
            cipher.process(blockCount: 1, .encrypt)
            previous = Plane(block: 0, of: blocks)
            previous.store(asBlock: index, of: output)
        }
    }

    /// Oⱼ = CIPH(Tⱼ), Cⱼ = Pⱼ ⊕ Oⱼ; the last block may be partial. Source: NIST SP 800-38A, section 6.5; the counter is
    /// incremented as in appendix B.1 with m = 128.
    private func applyCTR(
        _ input: UnsafeRawPointer, into output: UnsafeMutableRawPointer, byteCount: Int, counter: Block
    ) {
        let blocks = cipher.blocks
        var (input, output, remaining) = (input, output, byteCount)
        var counter = counter
        while remaining > 0 {
            let count = cipher.batchBlockCount(of: (remaining - 1) / Block.byteCount + 1)
            for index in 0..<count {
                Plane(counter).store(asBlock: index, of: blocks)
                counter.bigEndianValue &+= 1
            }
            cipher.process(blockCount: count, .encrypt)
            let stretch = min(remaining, Block.byteCount * count)
            let wholeCount = stretch / Block.byteCount
            for index in 0..<wholeCount {
                (Plane(block: index, of: blocks) ^ Plane(block: index, of: input)).store(asBlock: index, of: output)
            }
            for offset in Block.byteCount * wholeCount..<stretch {
                let byte = input.load(fromByteOffset: offset, as: UInt8.self)
                let keyByte = blocks.load(fromByteOffset: offset, as: UInt8.self)
                output.storeBytes(of: byte ^ keyByte, toByteOffset: offset, as: UInt8.self)
            }
            (input, output) = (input + stretch, output + stretch)
            remaining -= stretch
        }
    }
}

extension Plane {
    /// An IV or a counter.
    @inline(__always)
    fileprivate init(_ block: Block) {
        self = block.withUnsafeBytes { $0.loadUnaligned(as: Plane.self) }
    }

    /// Reads a block by its index in memory that starts at `blocks`, at any alignment.
    @inline(__always)
    fileprivate init(block index: Int, of blocks: UnsafeRawPointer) {
        self = blocks.loadUnaligned(fromByteOffset: Block.byteCount * index, as: Plane.self)
    }

    /// Writes a block by its index in memory that starts at `blocks`, at any alignment.
    @inline(__always)
    fileprivate func store(asBlock index: Int, of blocks: UnsafeMutableRawPointer) {
        blocks.storeBytes(of: self, toByteOffset: Block.byteCount * index, as: Plane.self)
    }
}
