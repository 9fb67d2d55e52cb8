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
    /// in the other ciphers. Source: Bernstein, "Cryptography in NaCl", 2009, sections 9 and 10.
    case xSalsa20Poly1305 = "xsalsa20-poly1305"
    /// AES in XTS, without ciphertext stealing. A message is one data unit; its nonce is the tweak before encryption.
    /// Source: IEEE 1619-2007, section 5; NIST SP 800-38E.
    case aesXTS = "aes-xts"
    /// AES in OCB3, with tags of 16 bytes. Source: RFC 7253, `AEAD_AES_*_OCB_TAGLEN128`.
    case aesOCB = "aes-ocb"
    /// AES in EAX, with tags of 16 bytes. Source: Bellare, Rogaway and Wagner, "The EAX Mode of Operation", 2004.
    case aesEAX = "aes-eax"
    /// AES in GCM-SIV. The tag is computed from the plaintext, and encryption starts from the tag. Source: RFC 8452.
    case aesGCMSIV = "aes-gcm-siv"
    /// AES in SIV over the associated data, even if empty, and the nonce. The synthetic IV is the tag. It stands in
    /// front of the ciphertext in the RFC, and behind it here, as in the other ciphers. Source: RFC 5297, section 6.
    case aesSIV = "aes-siv"

    /// The ciphers that can process a stretch from any block on.
    public static let streaming: [Cipher] = allCases.filter(\.isStreaming)

    /// The length in bytes of the tag behind a ciphertext; 0 without authentication.
    @inlinable
    public var tagByteCount: Int { isAuthenticated ? 16 : 0 }

    /// True if the cipher detects changes of the ciphertext.
    @inlinable
    public var isAuthenticated: Bool {
        switch self {
        case .aesCBC, .aesCTR, .aesXTS: false
        case .aesGCM, .chaCha20Poly1305, .xChaCha20Poly1305, .xSalsa20Poly1305: true
        case .aesOCB, .aesEAX, .aesGCMSIV, .aesSIV: true
        }
    }

    /// True if a stretch can be processed from any block on. Authenticated messages cannot, and neither can data units
    /// of XTS.
    @inlinable
    public var isStreaming: Bool { self == .aesCBC || self == .aesCTR }

    /// True if the tag is computed from the plaintext, and encryption starts from the tag.
    package var hasSyntheticIV: Bool { self == .aesGCMSIV || self == .aesSIV }

    /// True if the cipher processes whole blocks of 16 bytes only.
    public var takesWholeBlocks: Bool { self == .aesCBC || self == .aesXTS }

    /// The valid key lengths in bytes. Those of XTS and SIV are two AES keys.
    public var keyByteCounts: [Int] {
        switch self {
        case .aesCBC, .aesCTR, .aesGCM, .aesOCB, .aesEAX: [16, 24, 32]
        case .chaCha20Poly1305, .xChaCha20Poly1305, .xSalsa20Poly1305: [32]
        case .aesXTS: [32, 64]
        case .aesGCMSIV: [16, 32]
        case .aesSIV: [32, 48, 64]
        }
    }

    /// True if a key consists of two AES keys of half its length.
    package var hasTwoKeys: Bool { self == .aesXTS || self == .aesSIV }

    /// The cipher's name; `nil` for AES in a mode with a single AES key.
    package var nameBesideAES: String? { keyByteCounts.contains(16) ? nil : rawValue }

    /// The usual nonce length in bytes; 16 for an IV, a counter block or a tweak.
    public var nonceByteCount: Int {
        switch self {
        case .aesCBC, .aesCTR, .aesXTS, .aesEAX, .aesSIV: 16
        case .aesOCB: 15
        case .aesGCM, .chaCha20Poly1305, .aesGCMSIV: 12
        case .xChaCha20Poly1305, .xSalsa20Poly1305: 24
        }
    }

    /// The valid nonce lengths in bytes.
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

    /// True if two messages with one key and nonce reveal plaintext, or allow forgeries, as in counter modes. With a
    /// synthetic IV, they only reveal whether they are equal.
    /// Source: NIST SP 800-38A, appendix B; SP 800-38D, appendix A; RFC 8439, section 4; RFC 7253, section 5.1.
    package var needsNoncesOnce: Bool { isAuthenticated && !hasSyntheticIV || self == .aesCTR }

    /// Returns whether a nonce length in bytes is valid.
    package func takes(nonceByteCount count: Int) -> Bool { nonceByteCounts.contains(count) }

    /// True if the cipher authenticates associated data with a message.
    package var takesAssociatedData: Bool { isAuthenticated && self != .xSalsa20Poly1305 }

    /// The name of the mode alone, such as `cbc`; the cipher's own name if it is not AES.
    package var mode: String { String(rawValue.trimmingPrefix("aes-")) }

    /// Returns the IV for the bytes that follow a piece of a stretch.
    ///
    /// - Parameters:
    ///   - iv: The piece's IV.
    ///   - blockCount: The number of its whole blocks.
    ///   - lastCiphertext: Its last block of ciphertext, which CBC chains on; other modes do not use it.
    /// - Returns: The last block of ciphertext in CBC, the next counter block in any other mode.
    /// - Source: NIST SP 800-38A, sections 6.2 (CBC) and 6.5 (CTR).
    package func iv(after iv: Block, blockCount: Int, lastCiphertext: @autoclosure () -> Block) -> Block {
        self == .aesCBC ? lastCiphertext() : iv.advanced(by: UInt64(blockCount))
    }
}

/// The direction of a context.
public enum CipherDirection: String, CaseIterable, Hashable, Sendable {
    /// Plaintext to ciphertext.
    case encrypt
    /// Ciphertext to plaintext.
    case decrypt
}

/// A cipher that a backend offers, with the keys and nonces that it accepts.
public struct CipherSupport: Hashable, Sendable {
    /// The cipher.
    public let cipher: Cipher
    /// The accepted key lengths in bytes.
    public let keyByteCounts: [Int]
    /// The accepted nonce lengths in bytes; 16, a block, for an IV, a counter block or a tweak.
    public let nonceByteCounts: ClosedRange<Int>

    /// A cipher with the given key and nonce lengths; by default, all of its key lengths and its usual nonce length.
    public init(_ cipher: Cipher, keyByteCounts: [Int]? = nil, nonceByteCounts: ClosedRange<Int>? = nil) {
        self.cipher = cipher
        self.keyByteCounts = keyByteCounts ?? cipher.keyByteCounts
        self.nonceByteCounts = nonceByteCounts ?? cipher.nonceByteCount...cipher.nonceByteCount
    }

    /// Returns AES with all keys: CBC, CTR, and GCM with nonces of the given lengths in bytes.
    public static func aes(gcmNonceByteCounts: ClosedRange<Int>) -> [CipherSupport] {
        [CipherSupport(.aesCBC), CipherSupport(.aesCTR), CipherSupport(.aesGCM, nonceByteCounts: gcmNonceByteCounts)]
    }

    /// Returns ciphers with all keys and nonces that are valid for each.
    package static func whole(_ ciphers: Cipher...) -> [CipherSupport] {
        ciphers.map { CipherSupport($0, nonceByteCounts: $0.nonceByteCounts) }
    }

    /// Refuses a nonce that the backend does not accept.
    ///
    /// - Throws: `DecryptionError.invalidIV` for an IV, a counter block or a tweak; `.unsupported` for any other nonce.
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

    /// Refuses anything but whole blocks, at least one, as a data unit of XTS.
    ///
    /// - Throws: `DecryptionError.backend`.
    public func check(dataUnit: UnsafeRawBufferPointer, in backend: String) throws(DecryptionError) {
        guard dataUnit.count >= Block.byteCount, dataUnit.count % Block.byteCount == 0 else {
            throw .backend(
                name: backend, operation: cipher.rawValue,
                reason: "\(dataUnit.count) bytes: expected a multiple of 16, and 16 at least")
        }
    }

    /// Refuses associated data for a cipher without it.
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

    /// The library's version, as the library reports it.
    var version: String { get }

    /// The name and the version in errors about what the library lacks: another version may have it.
    var nameAndVersion: String { get }

    /// The ciphers that the backend offers, each once.
    var ciphers: [CipherSupport] { get }

    /// The hash functions for which the backend offers HMAC.
    var hmacFunctions: [HashFunction] { get }

    /// The CPU features that the library detected and uses for AES, or for its ciphers if it has no AES, by their usual
    /// lower-case names; empty for portable code.
    var cpuFeatures: [String] { get }

    /// The number of buffers of a call's length that the library allocates during the call; 0 if it works in place.
    var copyCountPerCall: Int { get }

    /// Returns a context for one cipher, direction and key.
    ///
    /// - Throws: `DecryptionError.unsupported` for a cipher, direction or key length that the backend lacks; `.backend`
    ///   if the library fails.
    func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext

    /// Returns a context for HMAC with a hash function, under a key of any length.
    ///
    /// - Throws: `DecryptionError.unsupported` for a function that the backend lacks; `.backend` if the library fails.
    func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext
}

/// A wrapper around another backend, which has the other's properties and codes unless it says otherwise.
package protocol WrappingBackend: CipherBackend {
    /// The wrapped backend.
    var base: any CipherBackend { get }
}

extension WrappingBackend {
    package var name: String { base.name }
    package var version: String { base.version }
    package var nameAndVersion: String { base.nameAndVersion }
    package var ciphers: [CipherSupport] { base.ciphers }
    package var hmacFunctions: [HashFunction] { base.hmacFunctions }
    package var cpuFeatures: [String] { base.cpuFeatures }
    package var copyCountPerCall: Int { base.copyCountPerCall }

    package func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        try base.makeMAC(function, key: key)
    }
}

extension CipherBackend {
    /// 0: the library works in place.
    public var copyCountPerCall: Int { 0 }

    /// The name, and the version unless it is empty.
    public var nameAndVersion: String { version.isEmpty ? name : "\(name) \(version)" }

    /// Returns whether the backend offers a cipher, optionally with a key and a nonce of the given lengths in bytes,
    /// and together with HMAC over a hash function.
    public func supports(
        _ cipher: Cipher, keyByteCount: Int? = nil, nonceByteCount: Int? = nil, hmac: HashFunction? = nil
    ) -> Bool {
        ciphers.contains {
            $0.cipher == cipher && (keyByteCount.map($0.keyByteCounts.contains) ?? true)
                && (nonceByteCount.map($0.nonceByteCounts.contains) ?? true)
        } && (hmac.map(hmacFunctions.contains) ?? true)
    }

    /// Returns the backend's support of a cipher, for a key.
    ///
    /// - Throws: `DecryptionError.unsupported` if the backend lacks the cipher, or keys of that length.
    public func support(of cipher: Cipher, key: SecretKey) throws(DecryptionError) -> CipherSupport {
        guard let support = ciphers.first(where: { $0.cipher == cipher }) else {
            throw .unsupported("\(cipher.rawValue) in \(nameAndVersion)")
        }
        guard support.keyByteCounts.contains(key.byteCount) else {
            throw .unsupported("\(cipher.rawValue) with a key of \(key.byteCount) bytes in \(nameAndVersion)")
        }
        return support
    }

    /// The backend's ciphers with a single AES key of any length.
    package var aesCiphers: [CipherSupport] {
        ciphers.filter { $0.cipher.keyByteCounts == Cipher.aesCBC.keyByteCounts }
    }

    /// The key lengths in bytes that all of the backend's AES ciphers accept, or all its ciphers if it has no AES; the
    /// lengths of AES if no length is common to them.
    package var keyByteCounts: [Int] {
        let all = [16, 24, 32]
        let ciphers = aesCiphers.isEmpty ? ciphers : aesCiphers
        let common = all.filter { count in ciphers.allSatisfy { $0.keyByteCounts.contains(count) } }
        return common.isEmpty ? all : common
    }

    /// The names of the strategies whose cipher the backend offers.
    package var strategyNames: [String] {
        Format.known.filter { supports(Strategy(sampling: $0)) }.map(\.name)
    }

    /// Returns whether the backend offers the ciphers that a writer needs for a strategy: for its chunks, and for the
    /// encrypted fields around them.
    package func supports(_ strategy: Strategy) -> Bool {
        supports(strategy.cipher, hmac: strategy.hmac)
            && strategy.format.rules.sealedCiphers.allSatisfy { supports($0) }
    }
}

/// A key schedule and the library state for using it; belongs to one thread at a time.
public protocol CipherContext: AnyObject {
    /// Encrypts or decrypts one stretch, or one message with its tag; earlier calls have no effect.
    ///
    /// - Parameters:
    ///   - input: For a streaming cipher, a stretch that starts at a block boundary: a multiple of 16 bytes in CBC, any
    ///     number in CTR. For XTS, a data unit: a multiple of 16 bytes, at least 16. For an authenticated cipher, the
    ///     plaintext to seal, of any length, or the ciphertext to open, with its tag.
    ///   - output: Space for exactly the result. For an authenticated cipher, it does not overlap `input`. For any
    ///     other cipher, it is the same memory (in place) or does not overlap it.
    ///   - nonce: A nonce of a length in the cipher's ``CipherSupport``: the IV of the first block in CBC, its counter
    ///     block in CTR, the tweak in XTS.
    ///   - associatedData: Data to authenticate together with the message, of any length; empty for XSalsa20. A cipher
    ///     without authentication ignores it.
    /// - Returns: `true` if the message is authentic or was sealed, and for a cipher without authentication. After
    ///   `false` or an error, `output` may hold bytes that must not be released: see
    ///   ``open(_:chunk:into:nonce:associatedData:)``.
    /// - Throws: `DecryptionError.invalidIV` or `.unsupported` for a nonce of another length; `.unsupported` for
    ///   associated data with XSalsa20; `.backend` if the library fails. OpenSSL fails if both keys of XTS are the same
    ///   when it encrypts.
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

    /// Encrypts or decrypts one stretch with a streaming cipher, from an IV or a counter block.
    @inlinable
    public func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        _ = try iv.withUnsafeBytes { (nonce) throws(DecryptionError) in
            try process(input, into: output, nonce: nonce)
        }
    }

    /// Encrypts or decrypts one stretch in place with a streaming cipher.
    @inlinable
    public func process(inPlace bytes: UnsafeMutableRawBufferPointer, iv: Block) throws(DecryptionError) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        try process(UnsafeRawBufferPointer(bytes), into: start, iv: iv)
    }

    /// Opens one message, and erases the output if it is not authentic.
    ///
    /// - Parameters:
    ///   - input: Ciphertext and tag; see ``process(_:into:nonce:associatedData:)``.
    ///   - number: The number of the message's chunk in the object, for the error.
    ///   - output: Space for `input.count - 16` bytes, which is erased if opening fails.
    ///   - nonce: The nonce.
    ///   - associatedData: The data authenticated together with the message.
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
