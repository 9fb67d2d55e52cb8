/// A cipher that a backend may offer, in its mode of operation.
public enum Cipher: String, CaseIterable, Hashable, Sendable {
    /// AES in cipher block chaining, without padding. Source: FIPS 197; NIST SP 800-38A, section 6.2.
    case aesCBC = "aes-cbc"
    /// AES in counter mode; the counter is the whole block, big-endian, modulo 2¹²⁸. Source: FIPS 197; NIST SP 800-38A,
    /// section 6.5.
    case aesCTR = "aes-ctr"
    /// AES in Galois/Counter Mode, with tags of 16 bytes. Source: FIPS 197; NIST SP 800-38D.
    case aesGCM = "aes-gcm"
    /// ChaCha20 and Poly1305, with nonces of 12 bytes. Source: RFC 8439, section 2.8.
    case chaCha20Poly1305 = "chacha20-poly1305"
    /// XChaCha20 and Poly1305, with nonces of 24 bytes. Source: draft-irtf-cfrg-xchacha-03, section 2.
    case xChaCha20Poly1305 = "xchacha20-poly1305"
    /// XSalsa20 and Poly1305, without associated data: NaCl's `secretbox`, but with the tag behind the ciphertext, as
    /// elsewhere. Source: Bernstein, "Cryptography in NaCl", 2009, sections 9 and 10.
    case xSalsa20Poly1305 = "xsalsa20-poly1305"
    /// AES in XTS, without ciphertext stealing. A message is one data unit; its nonce is the tweak as it is encrypted.
    /// Source: IEEE 1619-2007, section 5; NIST SP 800-38E.
    case aesXTS = "aes-xts"
    /// AES in OCB3, with tags of 16 bytes. Source: RFC 7253, `AEAD_AES_*_OCB_TAGLEN128`.
    case aesOCB = "aes-ocb"
    /// AES in EAX, with tags of 16 bytes. Source: Bellare, Rogaway and Wagner, "The EAX Mode of Operation", 2004.
    case aesEAX = "aes-eax"
    /// AES in GCM-SIV, whose tag is made of the plaintext, and is what the encryption starts from. Source: RFC 8452.
    case aesGCMSIV = "aes-gcm-siv"
    /// AES in SIV over the associated data, even of no bytes, and the nonce. The synthetic IV is the tag: it stands in
    /// front of the ciphertext in the RFC, and behind it here, as elsewhere. Source: RFC 5297, section 6.
    case aesSIV = "aes-siv"

    /// The ciphers that process a stretch from any block on.
    public static let streaming: [Cipher] = allCases.filter(\.isStreaming)

    /// The length in bytes of the tag behind a ciphertext; 0 where nothing is authenticated.
    @inlinable
    public var tagByteCount: Int { isAuthenticated ? 16 : 0 }

    /// Says whether a changed ciphertext is noticed.
    @inlinable
    public var isAuthenticated: Bool {
        switch self {
        case .aesCBC, .aesCTR, .aesXTS: false
        case .aesGCM, .chaCha20Poly1305, .xChaCha20Poly1305, .xSalsa20Poly1305: true
        case .aesOCB, .aesEAX, .aesGCMSIV, .aesSIV: true
        }
    }

    /// Says whether a stretch can be processed from any block on. What is authenticated cannot, nor can a data unit of
    /// XTS.
    @inlinable
    public var isStreaming: Bool { self == .aesCBC || self == .aesCTR }

    /// Says whether the tag is made of the plaintext, and the encryption starts from the tag.
    package var hasSyntheticIV: Bool { self == .aesGCMSIV || self == .aesSIV }

    /// Says whether only whole blocks of 16 bytes are processed.
    public var takesWholeBlocks: Bool { self == .aesCBC || self == .aesXTS }

    /// The lengths that keys can have, in bytes. Those of XTS and SIV are two keys of AES.
    public var keyByteCounts: [Int] {
        switch self {
        case .aesCBC, .aesCTR, .aesGCM, .aesOCB, .aesEAX: [16, 24, 32]
        case .chaCha20Poly1305, .xChaCha20Poly1305, .xSalsa20Poly1305: [32]
        case .aesXTS: [32, 64]
        case .aesGCMSIV: [16, 32]
        case .aesSIV: [32, 48, 64]
        }
    }

    /// Says whether a key is two of AES, each half as long.
    package var hasTwoKeys: Bool { self == .aesXTS || self == .aesSIV }

    /// The name, or `nil` of AES in a mode whose key is one of AES.
    package var nameBesideAES: String? { keyByteCounts.contains(16) ? nil : rawValue }

    /// The usual length of nonces in bytes; 16 of an IV, a counter block or a tweak.
    public var nonceByteCount: Int {
        switch self {
        case .aesCBC, .aesCTR, .aesXTS, .aesEAX, .aesSIV: 16
        case .aesOCB: 15
        case .aesGCM, .chaCha20Poly1305, .aesGCMSIV: 12
        case .xChaCha20Poly1305, .xSalsa20Poly1305: 24
        }
    }

    /// The lengths that nonces can have, in bytes.
    package var nonceByteCounts: ClosedRange<Int> {
        switch self {
        case .aesGCM, .aesEAX, .aesSIV: 1...Int.max
        case .aesOCB: 1...15
        default: nonceByteCount...nonceByteCount
        }
    }

    /// The max length of a message in bytes. Source: RFC 8439, section 2.8; NIST SP 800-38D, section 5.2.1.1; NIST SP
    /// 800-38E, section 4; RFC 8452, section 6.
    package var maxMessageByteCount: UInt64 {
        switch self {
        case .aesCBC, .aesCTR, .xSalsa20Poly1305, .aesOCB, .aesEAX, .aesSIV: .max
        case .aesGCM: (1 << 36) - 32
        case .aesGCMSIV: 1 << 36
        case .chaCha20Poly1305, .xChaCha20Poly1305: (1 << 38) - 64
        case .aesXTS: 1 << 24
        }
    }

    /// Says whether two messages with one key and nonce give away plaintext, or let others forge: of counter modes.
    /// With a synthetic IV, they only show whether they are the same.
    /// Source: NIST SP 800-38A, appendix B; SP 800-38D, appendix A; RFC 8439, section 4; RFC 7253, section 5.1.
    package var needsNoncesOnce: Bool { isAuthenticated && !hasSyntheticIV || self == .aesCTR }

    /// Says whether a nonce can have a length in bytes.
    package func takes(nonceByteCount count: Int) -> Bool { nonceByteCounts.contains(count) }

    /// Says whether associated data can be authenticated with a message.
    package var takesAssociatedData: Bool { isAuthenticated && self != .xSalsa20Poly1305 }

    /// The name of the mode alone, such as `cbc`; of a cipher that is not AES, its own.
    package var mode: String { String(rawValue.trimmingPrefix("aes-")) }

    /// The IV of what follows a piece of a stretch.
    ///
    /// - Parameters:
    ///   - iv: The piece's own.
    ///   - blockCount: How many whole blocks it has.
    ///   - lastCiphertext: Its last block of ciphertext, which CBC chains on; not asked for in another mode.
    /// - Returns: The last block of ciphertext in CBC, the next counter block in another mode.
    /// - Source: NIST SP 800-38A, sections 6.2 (CBC) and 6.5 (CTR).
    package func iv(after iv: Block, blockCount: Int, lastCiphertext: @autoclosure () -> Block) -> Block {
        self == .aesCBC ? lastCiphertext() : iv.advanced(by: UInt64(blockCount))
    }
}

/// Whether a context turns plaintext into ciphertext or back.
public enum CipherDirection: String, CaseIterable, Hashable, Sendable {
    /// Plaintext to ciphertext.
    case encrypt
    /// Ciphertext to plaintext.
    case decrypt
}

/// A cipher that a backend offers, and what it takes for it.
public struct CipherSupport: Hashable, Sendable {
    /// The cipher.
    public let cipher: Cipher
    /// The lengths of keys in bytes.
    public let keyByteCounts: [Int]
    /// The lengths of nonces in bytes; 16, a block, of an IV, a counter block or a tweak.
    public let nonceByteCounts: ClosedRange<Int>

    /// Creates the description of a cipher: all keys that it can have, and the usual nonce, unless it says otherwise.
    public init(_ cipher: Cipher, keyByteCounts: [Int]? = nil, nonceByteCounts: ClosedRange<Int>? = nil) {
        self.cipher = cipher
        self.keyByteCounts = keyByteCounts ?? cipher.keyByteCounts
        self.nonceByteCounts = nonceByteCounts ?? cipher.nonceByteCount...cipher.nonceByteCount
    }

    /// AES with all keys: CBC, CTR, and GCM with nonces of some lengths in bytes.
    public static func aes(gcmNonceByteCounts: ClosedRange<Int>) -> [CipherSupport] {
        [CipherSupport(.aesCBC), CipherSupport(.aesCTR), CipherSupport(.aesGCM, nonceByteCounts: gcmNonceByteCounts)]
    }

    /// Some ciphers, each with all keys and nonces that it can have.
    package static func whole(_ ciphers: Cipher...) -> [CipherSupport] {
        ciphers.map { CipherSupport($0, nonceByteCounts: $0.nonceByteCounts) }
    }

    /// Refuses a nonce that the cipher does not take here.
    ///
    /// - Throws: `DecryptionError.invalidIV` for an IV, a counter block or a tweak; `.unsupported` for another nonce.
    @inlinable @inline(__always)
    public func check(nonce: UnsafeRawBufferPointer, in backend: String) throws(DecryptionError) {
        guard nonceByteCounts.contains(nonce.count) else { throw refusal(ofNonce: nonce.count, in: backend) }
    }

    @inline(never) @usableFromInline
    func refusal(ofNonce byteCount: Int, in backend: String) -> DecryptionError {
        cipher.isAuthenticated
            ? .unsupported("\(cipher.rawValue) with a nonce of \(byteCount) bytes in \(backend)")
            : .invalidIV(byteCount: byteCount)
    }

    /// Refuses what is no data unit of XTS here: one block at least, and whole ones.
    ///
    /// - Throws: `DecryptionError.backend`.
    public func check(dataUnit: UnsafeRawBufferPointer, in backend: String) throws(DecryptionError) {
        guard dataUnit.count >= Block.byteCount, dataUnit.count % Block.byteCount == 0 else {
            throw .backend(
                name: backend, operation: cipher.rawValue,
                reason: "\(dataUnit.count) bytes: expected a multiple of 16, and 16 at least")
        }
    }

    /// Refuses associated data of a cipher that has none.
    ///
    /// - Throws: `DecryptionError.unsupported`.
    public func check(associatedData: UnsafeRawBufferPointer, in backend: String) throws(DecryptionError) {
        guard associatedData.isEmpty || cipher != .xSalsa20Poly1305 else {
            throw .unsupported("\(cipher.rawValue) with associated data in \(backend)")
        }
    }
}

/// A crypto library behind one interface: it knows ciphers, not files.
///
/// To add a backend, conform a type in a target of its own and add one line to the registry.
public protocol CipherBackend: Sendable {
    /// The name that selects the backend on the command line, such as `openssl`.
    var name: String { get }

    /// The library's version, as the library itself gives it.
    var version: String { get }

    /// The ciphers that the backend offers, each of them once.
    var ciphers: [CipherSupport] { get }

    /// The hash functions that the backend has HMAC with.
    var hmacFunctions: [HashFunction] { get }

    /// The CPU features that the library found and uses for AES, or for its ciphers if AES is none of them, by their
    /// usual lower-case names; empty for portable code.
    var cpuFeatures: [String] { get }

    /// How many buffers of a call's length the library allocates during the call; 0 for one that works in place.
    var copyCountPerCall: Int { get }

    /// Makes a context for one cipher, direction and key.
    ///
    /// - Throws: `DecryptionError.unsupported` for a cipher, direction or key length that the backend lacks; `.backend`
    ///   if the library fails.
    func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext

    /// Makes a context for HMAC with a hash function, under a key of any length.
    ///
    /// - Throws: `DecryptionError.unsupported` for a function that the backend lacks; `.backend` if the library fails.
    func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext
}

extension CipherBackend {
    /// Works in place.
    public var copyCountPerCall: Int { 0 }

    /// Says whether the backend offers a cipher, with a key and a nonce of so many bytes, and HMAC with a hash function
    /// beside it, if these are given.
    public func supports(
        _ cipher: Cipher, keyByteCount: Int? = nil, nonceByteCount: Int? = nil, hmac: HashFunction? = nil
    ) -> Bool {
        ciphers.contains {
            $0.cipher == cipher && (keyByteCount.map($0.keyByteCounts.contains) ?? true)
                && (nonceByteCount.map($0.nonceByteCounts.contains) ?? true)
        } && (hmac.map(hmacFunctions.contains) ?? true)
    }

    /// Finds what the backend offers of a cipher, for a key.
    ///
    /// - Throws: `DecryptionError.unsupported` if it lacks the cipher, or keys of that length.
    public func support(of cipher: Cipher, key: SecretKey) throws(DecryptionError) -> CipherSupport {
        guard let support = ciphers.first(where: { $0.cipher == cipher }) else {
            throw .unsupported("\(cipher.rawValue) in \(name)")
        }
        guard support.keyByteCounts.contains(key.byteCount) else {
            throw .unsupported("\(cipher.rawValue) with a key of \(key.byteCount) bytes in \(name)")
        }
        return support
    }

    /// The backend's ciphers with a single key of AES, of any length.
    package var aesCiphers: [CipherSupport] {
        ciphers.filter { $0.cipher.keyByteCounts == Cipher.aesCBC.keyByteCounts }
    }

    /// The key lengths in bytes that all of the backend's AES ciphers take, or all ciphers of a backend without AES;
    /// those of AES if there is none.
    package var keyByteCounts: [Int] {
        let all = [16, 24, 32]
        let ciphers = aesCiphers.isEmpty ? ciphers : aesCiphers
        let common = all.filter { count in ciphers.allSatisfy { $0.keyByteCounts.contains(count) } }
        return common.isEmpty ? all : common
    }

    /// The names of the strategies whose cipher the backend has.
    package var strategyNames: [String] {
        Format.names.filter { name in
            guard let strategy = (try? Format.named(name)).map({ Strategy(sampling: $0) }) else { return false }
            return supports(strategy)
        }
    }

    /// Says whether the backend has what chunks of a strategy take, as a writer makes them, and the encrypted fields
    /// around them.
    package func supports(_ strategy: Strategy) -> Bool {
        supports(strategy.cipher, hmac: strategy.hmac)
            && strategy.format.rules.sealedCiphers.allSatisfy { supports($0) }
    }
}

/// A key schedule and the state that a library needs to use it; belongs to one thread at a time.
public protocol CipherContext: AnyObject {
    /// Encrypts or decrypts one stretch, or one message with its tag; nothing is carried over from earlier calls.
    ///
    /// - Parameters:
    ///   - input: Of a streaming cipher, a stretch: a multiple of 16 bytes in CBC, any number in CTR, from a block's
    ///     first byte on. In XTS, a data unit: a multiple of 16 bytes, and 16 at least. Of an authenticated cipher,
    ///     the plaintext to seal, of any length; or the ciphertext to open, and its tag.
    ///   - output: Space for exactly what comes out. Of an authenticated cipher, it does not overlap `input`. Of
    ///     another one, it is the same memory (in place) or does not overlap it.
    ///   - nonce: A nonce whose length the cipher's ``CipherSupport`` has: the IV of the first block in CBC, its
    ///     counter block in CTR, the tweak in XTS.
    ///   - associatedData: What is authenticated beside the message, of any length; none of XSalsa20. A cipher that is
    ///     not authenticated ignores it.
    /// - Returns: `true` for a message that is authentic or was sealed, and of a cipher that is not authenticated.
    ///   After `false` or an error, `output` may hold what must not be seen: see
    ///   ``open(_:chunk:into:nonce:associatedData:)``.
    /// - Throws: `DecryptionError.invalidIV` or `.unsupported` for a nonce of another length; `.unsupported` for
    ///   associated data of XSalsa20; `.backend` if the library fails, as OpenSSL does where both keys of XTS are the
    ///   same one and it is to encrypt.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool
}

extension CipherContext {
    /// Processes one stretch or message without associated data; see ``process(_:into:nonce:associatedData:)``.
    @inlinable
    public func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try process(input, into: output, nonce: nonce, associatedData: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Encrypts or decrypts one stretch from an IV or a counter block, by a streaming cipher.
    @inlinable
    public func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        _ = try iv.withUnsafeBytes { (nonce) throws(DecryptionError) in
            try process(input, into: output, nonce: nonce)
        }
    }

    /// Encrypts or decrypts one stretch in place, by a streaming cipher.
    @inlinable
    public func process(inPlace bytes: UnsafeMutableRawBufferPointer, iv: Block) throws(DecryptionError) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        try process(UnsafeRawBufferPointer(bytes), into: start, iv: iv)
    }

    /// Opens one message, and leaves nothing of one that is not authentic.
    ///
    /// - Parameters:
    ///   - input: Ciphertext and tag; see ``process(_:into:nonce:associatedData:)``.
    ///   - number: The message's number among the chunks of an object, for the error.
    ///   - output: Space for `input.count - 16` bytes, which is erased if the message is not opened.
    ///   - nonce: The nonce.
    ///   - associatedData: What is authenticated beside the message.
    /// - Throws: `DecryptionError.authenticationFailed`, `.unsupported`, `.backend`.
    public func open(
        _ input: UnsafeRawBufferPointer, chunk number: UInt64, into output: UnsafeMutableRawPointer,
        nonce: UnsafeRawBufferPointer, associatedData: UnsafeRawBufferPointer = .init(start: nil, count: 0)
    ) throws(DecryptionError) {
        let plaintext = UnsafeMutableRawBufferPointer(
            start: output, count: max(0, input.count - Cipher.aesGCM.tagByteCount))
        let isAuthentic: Bool
        do {
            isAuthentic = try process(input, into: output, nonce: nonce, associatedData: associatedData)
        } catch {
            eraseBytes(plaintext)
            throw error
        }
        guard isAuthentic else {
            eraseBytes(plaintext)
            throw .authenticationFailed(chunk: number)
        }
    }
}
