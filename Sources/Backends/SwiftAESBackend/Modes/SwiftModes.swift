import RandomAccess

/// An authenticated mode of operation under a key, over one of the AES ciphers here, or a stream cipher with its code.
protocol SealingMode {
    /// Encrypts a message, and returns its tag.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Block

    /// Decrypts a message with a tag, and returns the tag that it should have.
    func open(
        _ ciphertext: UnsafeRawBufferPointer, tag: Block, into output: UnsafeMutableRawPointer,
        nonce: UnsafeRawBufferPointer, associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Block
}

/// Messages in an authenticated mode, with the tag behind the ciphertext.
final class SwiftSealedContext<Mode: SealingMode>: CipherContext {
    private let mode: Mode
    private let support: CipherSupport
    private let direction: CipherDirection
    private let backend: String

    init(_ mode: Mode, _ support: CipherSupport, _ direction: CipherDirection, backend: String) {
        (self.mode, self.support, self.direction, self.backend) = (mode, support, direction, backend)
    }

    deinit { eraseStack() }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: backend)
        try support.check(associatedData: associatedData, in: backend)
        let (cipher, tagByteCount) = (support.cipher, support.cipher.tagByteCount)
        let count = direction == .encrypt ? input.count : input.count - tagByteCount
        guard count >= 0, UInt64(count) <= cipher.maxMessageByteCount else {
            throw .backend(name: backend, operation: cipher.rawValue, reason: "a message of \(input.count) bytes")
        }
        if direction == .encrypt {
            let tag = try mode.seal(input, into: output, nonce: nonce, associatedData: associatedData)
            tag.store(to: UnsafeMutableRawBufferPointer(start: output + count, count: tagByteCount))
            return true
        }
        let found = UnsafeRawBufferPointer(rebasing: input[count...])
        let tag = try mode.open(
            UnsafeRawBufferPointer(rebasing: input[..<count]), tag: Block(loadingFrom: found), into: output,
            nonce: nonce, associatedData: associatedData)
        return tag.withUnsafeBytes { isEqualInConstantTime($0, found) }
    }
}

/// XTS over one of the AES ciphers here, without ciphertext stealing. Source: IEEE 1619-2007, section 5.
final class SwiftXTSContext<Blocks: AESBlocks>: CipherContext {
    private let blocks: Blocks
    private let tweaks: Blocks
    private let support: CipherSupport
    private let direction: CipherDirection
    private let backend: String

    init(
        _ blocks: Blocks, tweaks: Blocks, _ support: CipherSupport, _ direction: CipherDirection, backend: String
    ) {
        (self.blocks, self.tweaks) = (blocks, tweaks)
        (self.support, self.direction, self.backend) = (support, direction, backend)
    }

    deinit { eraseStack() }

    /// Tⱼ = E(K₂, i) ⊗ αʲ, Cⱼ = E(K₁, Pⱼ ⊕ Tⱼ) ⊕ Tⱼ. Source: section 5.3.2.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: backend)
        try support.check(dataUnit: input, in: backend)
        // The first byte of a tweak holds the lowest coefficients of the polynomial. Source: section 5.2.
        var tweak = tweaks.encrypted(Block(loadingFrom: nonce)).reversed
        blocks.processMasked(input, into: output, direction) {
            defer { tweak = tweak.doubled }
            return tweak.reversed
        }
        return true
    }
}

/// Returns a context for a cipher. `streaming` makes one for CBC or CTR, and `blocks` makes AES for the other ciphers
/// that are based on it.
func makeSwiftContext<Blocks: AESBlocks>(
    _ support: CipherSupport, _ direction: CipherDirection, backend: String, key: SecretKey,
    streaming: (CipherSupport, CipherDirection) -> some CipherContext, blocks: @escaping (SecretKey) -> Blocks
) throws(DecryptionError) -> any CipherContext {
    func sealed(_ mode: some SealingMode) -> any CipherContext {
        SwiftSealedContext(mode, support, direction, backend: backend)
    }
    func half(_ isSecond: Bool) throws(DecryptionError) -> Blocks {
        try key.withUnsafeBytes { (key) throws(DecryptionError) in
            let middle = key.count / 2
            return blocks(try SecretKey(material: isSecond ? key[middle...] : key[..<middle]))
        }
    }
    switch support.cipher {
    case .aesCBC, .aesCTR: return streaming(support, direction)
    case .aesGCM:
        let counters = streaming(CipherSupport(.aesCTR), .encrypt)
        return try SwiftGCMContext(support, direction, backend: backend, counters: counters)
    case .aesXTS:
        return SwiftXTSContext(try half(false), tweaks: try half(true), support, direction, backend: backend)
    case .aesOCB: return sealed(OCB(blocks(key)))
    case .aesEAX: return sealed(EAX(blocks(key)))
    case .aesGCMSIV: return sealed(GCMSIV(blocks(key), keyByteCount: key.byteCount, blocks))
    case .aesSIV: return sealed(SIV(try half(false), counters: try half(true)))
    case .chaCha20Poly1305, .xChaCha20Poly1305: return sealed(StreamSealing<ChaCha20>(key))
    case .xSalsa20Poly1305: return sealed(StreamSealing<Salsa20>(key))
    }
}

extension CipherSupport {
    /// The ciphers of both Swift backends.
    static let ofSwift =
        aes(gcmNonceByteCounts: 1...Int.max) + whole(.aesXTS, .aesOCB, .aesEAX, .aesGCMSIV, .aesSIV)
        + whole(.chaCha20Poly1305, .xChaCha20Poly1305, .xSalsa20Poly1305)
}
