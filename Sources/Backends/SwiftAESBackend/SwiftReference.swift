public import RandomAccess

/// AES in plain Swift, to be read beside FIPS 197: every step has the standard's name and cites its section.
///
/// Slow and not constant-time: for comparison and for understanding, not for secrets. ChaCha20 and XSalsa20, which need
/// no tables, are those of ``SwiftBitsliced``.
public struct SwiftReference: CipherBackend {
    /// `swift-reference`
    public let name = "swift-reference"
    /// The edition of the standard that the code follows.
    public let version = "FIPS 197 (2023 update)"
    /// The ciphers offered.
    public let ciphers = CipherSupport.ofSwift
    /// The hash functions with HMAC.
    public let hmacFunctions = HashFunction.allCases
    /// No features: portable code.
    public let cpuFeatures: [String] = []

    /// The backend, which has no options.
    public init() {}

    /// Returns a context for one cipher, direction and key.
    public func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        try makeSwiftContext(
            try support(of: cipher, key: key), direction, backend: name, key: key,
            streaming: { SwiftReferenceContext($0, $1, key: key) }, blocks: { ReferenceBlocks($0) })
    }

    /// Returns a context for HMAC with a hash function, under a key of any length.
    public func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        HMACContext(function, key: key)
    }
}

/// Modes of operation, block after block, in the standard's order.
final class SwiftReferenceContext: CipherContext {
    private let cipher: AESBlockCipher
    private let support: CipherSupport
    private let direction: CipherDirection

    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) {
        self.cipher = AESBlockCipher(key)
        self.support = support
        self.direction = direction
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "swift-reference")
        let iv = Block(loadingFrom: nonce)
        let output = UnsafeMutableRawBufferPointer(start: output, count: input.count)
        switch (support.cipher, direction) {
        case (.aesCBC, _) where input.count % Block.byteCount != 0:
            throw .backend(
                name: "swift-reference", operation: "cbc", reason: "\(input.count) bytes: expected a multiple of 16")
        case (.aesCBC, .decrypt): decryptCBC(input, into: output, iv: iv)
        case (.aesCBC, .encrypt): encryptCBC(input, into: output, iv: iv)
        default: applyCTR(input, into: output, counter: iv)
        }
        return true
    }

    /// P₁ = CIPH⁻¹(C₁) ⊕ IV, Pⱼ = CIPH⁻¹(Cⱼ) ⊕ Cⱼ₋₁. Source: NIST SP 800-38A, section 6.2.
    private func decryptCBC(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, iv: Block) {
        var previous = iv
        for offset in stride(from: 0, to: input.count, by: Block.byteCount) {
            let ciphertext = Block(loadingFrom: input, at: offset)
            (cipher.decrypt(ciphertext) ^ previous).store(to: output, at: offset)
            previous = ciphertext
        }
    }

    /// C₁ = CIPH(P₁ ⊕ IV), Cⱼ = CIPH(Pⱼ ⊕ Cⱼ₋₁). Source: NIST SP 800-38A, section 6.2.
    private func encryptCBC(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, iv: Block) {
        var previous = iv
        for offset in stride(from: 0, to: input.count, by: Block.byteCount) {
            previous = cipher.encrypt(Block(loadingFrom: input, at: offset) ^ previous)
            previous.store(to: output, at: offset)
        }
    }

    /// Oⱼ = CIPH(Tⱼ), Cⱼ = Pⱼ ⊕ Oⱼ; the last block may be partial. Source: NIST SP 800-38A, section 6.5; the counter is
    /// incremented as in appendix B.1 with m = 128.
    private func applyCTR(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, counter: Block) {
        var counter = counter
        let wholeByteCount = input.count / Block.byteCount * Block.byteCount
        for offset in stride(from: 0, to: wholeByteCount, by: Block.byteCount) {
            (Block(loadingFrom: input, at: offset) ^ cipher.encrypt(counter)).store(to: output, at: offset)
            counter = counter.advanced(by: 1)
        }
        guard wholeByteCount < input.count else { return }
        let keyStream = cipher.encrypt(counter).bytes
        for index in wholeByteCount..<input.count {
            output[index] = input[index] ^ keyStream[index - wholeByteCount]
        }
    }
}
