/// A cipher that a backend may offer, in its mode of operation.
public enum Cipher: String, CaseIterable, Hashable, Sendable {
    /// AES in cipher block chaining, without padding. Source: FIPS 197; NIST SP 800-38A, section 6.2.
    case aesCBC = "aes-cbc"
    /// AES in counter mode; the counter is the whole block, big-endian, modulo 2¹²⁸. Source: FIPS 197; NIST SP 800-38A,
    /// section 6.5.
    case aesCTR = "aes-ctr"
    /// AES in Galois/Counter Mode, with tags of 16 bytes. Source: FIPS 197; NIST SP 800-38D.
    case aesGCM = "aes-gcm"

    /// The ciphers that process a stretch from any block on.
    public static let streaming: [Cipher] = allCases.filter(\.isStreaming)

    /// The length in bytes of the tag behind a ciphertext; 0 where nothing is authenticated.
    public var tagByteCount: Int {
        switch self {
        case .aesCBC, .aesCTR: 0
        case .aesGCM: 16
        }
    }

    /// Says whether a stretch can be processed from any block on, since nothing is authenticated.
    public var isStreaming: Bool { tagByteCount == 0 }

    /// The name of the mode alone, such as `cbc`.
    package var mode: String { String(rawValue.dropFirst(4)) }

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
    /// The lengths of nonces in bytes; 16, a block, of an IV or a counter block.
    public let nonceByteCounts: ClosedRange<Int>

    /// Creates the description of a cipher: all keys of AES, and an IV or counter block, unless it says otherwise.
    public init(_ cipher: Cipher, keyByteCounts: [Int] = [16, 24, 32], nonceByteCounts: ClosedRange<Int> = 16...16) {
        self.cipher = cipher
        self.keyByteCounts = keyByteCounts
        self.nonceByteCounts = nonceByteCounts
    }

    /// AES with all keys: CBC, CTR, and GCM with nonces of some lengths in bytes.
    public static func aes(gcmNonceByteCounts: ClosedRange<Int>) -> [CipherSupport] {
        [CipherSupport(.aesCBC), CipherSupport(.aesCTR), CipherSupport(.aesGCM, nonceByteCounts: gcmNonceByteCounts)]
    }

    /// Refuses a nonce that the cipher does not take here.
    ///
    /// - Throws: `DecryptionError.invalidIV` for an IV or a counter block; `.unsupported` for another nonce.
    public func check(nonce: UnsafeRawBufferPointer, in backend: String) throws(DecryptionError) {
        guard nonceByteCounts.contains(nonce.count) else {
            if cipher.isStreaming { throw .invalidIV(byteCount: nonce.count) }
            throw .unsupported("\(cipher.rawValue) with a nonce of \(nonce.count) bytes in \(backend)")
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

    /// The CPU features that the library found and uses for AES, by their usual lower-case names; empty for portable
    /// code.
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
}

extension CipherBackend {
    /// Works in place.
    public var copyCountPerCall: Int { 0 }

    /// Says whether the backend offers a cipher, with a key and a nonce of so many bytes if these are given.
    public func supports(_ cipher: Cipher, keyByteCount: Int? = nil, nonceByteCount: Int? = nil) -> Bool {
        ciphers.contains {
            $0.cipher == cipher && (keyByteCount.map($0.keyByteCounts.contains) ?? true)
                && (nonceByteCount.map($0.nonceByteCounts.contains) ?? true)
        }
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

    /// The key lengths in bytes that all of the backend's ciphers take; those of AES if there is none.
    package var keyByteCounts: [Int] {
        let all = [16, 24, 32]
        let common = all.filter { count in ciphers.allSatisfy { $0.keyByteCounts.contains(count) } }
        return common.isEmpty ? all : common
    }
}

/// A key schedule and the state that a library needs to use it; belongs to one thread at a time.
public protocol CipherContext: AnyObject {
    /// Encrypts or decrypts one stretch, or one message with its tag; nothing is carried over from earlier calls.
    ///
    /// - Parameters:
    ///   - input: Of a streaming cipher, a stretch: a multiple of 16 bytes in CBC, any number in CTR, from a block's
    ///     first byte on. Of another one, the plaintext to seal, of any length; or the ciphertext to open, and its
    ///     tag.
    ///   - output: Space for exactly what comes out. Of a streaming cipher, it is the same memory as `input` (in
    ///     place) or does not overlap it. Of another one, it does not overlap `input`.
    ///   - nonce: A nonce whose length the cipher's ``CipherSupport`` has: the IV of the first block in CBC, its
    ///     counter block in CTR.
    ///   - associatedData: What is authenticated beside the message, of any length; a streaming cipher ignores it.
    /// - Returns: `true` for a message that is authentic or was sealed, and of a streaming cipher. After `false` or an
    ///   error, `output` may hold what must not be seen: see ``open(_:chunk:into:nonce:associatedData:)``.
    /// - Throws: `DecryptionError.invalidIV` or `.unsupported` for a nonce of another length; `.backend` if the library
    ///   fails.
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
