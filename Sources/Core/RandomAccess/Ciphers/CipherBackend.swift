/// A mode of operation that a backend may offer.
public enum CipherMode: String, CaseIterable, Hashable, Sendable {
    /// Cipher block chaining, without padding. Source: NIST SP 800-38A, section 6.2.
    case cbc
    /// Counter mode; the counter is the whole block, big-endian, modulo 2¹²⁸. Source: NIST SP 800-38A, section 6.5.
    case ctr
    /// Galois/Counter Mode with nonces of 12 and tags of 16 bytes. Source: NIST SP 800-38D.
    case gcm

    /// The modes that process a stretch from any IV: those of ``CipherContext``. GCM opens and seals whole chunks, see
    /// ``ChunkContext``.
    public static let streaming: [CipherMode] = [.cbc, .ctr]
}

/// Whether a context turns plaintext into ciphertext or back.
public enum CipherDirection: String, CaseIterable, Hashable, Sendable {
    /// Plaintext to ciphertext.
    case encrypt
    /// Ciphertext to plaintext.
    case decrypt
}

/// A crypto library behind one interface: it knows ciphers, not files.
///
/// To add a backend, conform a type in a target of its own and add one line to the registry.
public protocol CipherBackend: Sendable {
    /// The name that selects the backend on the command line, such as `openssl`.
    var name: String { get }

    /// The library's version, as the library itself gives it.
    var version: String { get }

    /// The AES key lengths in bytes that the backend can use.
    var keyByteCounts: [Int] { get }

    /// The modes that the backend offers.
    var modes: [CipherMode] { get }

    /// The CPU features that the library found and uses for AES, by their usual lower-case names; empty for portable
    /// code.
    var cpuFeatures: [String] { get }

    /// How many buffers of a call's length the library allocates during the call; 0 for one that works in place.
    var copyCountPerCall: Int { get }

    /// Makes a context for one key, mode and direction.
    ///
    /// - Throws: `DecryptionError.unsupported` for a mode or key length that the backend lacks, and for GCM; `.backend` if
    ///   the library fails.
    func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext

    /// Makes a context that opens or seals chunks with AES-GCM, for one key and direction.
    ///
    /// - Throws: `DecryptionError.unsupported` if the backend lacks GCM or the key length, `.backend` if the library
    ///   fails.
    func makeChunkContext(direction: CipherDirection, key: SecretKey) throws(DecryptionError) -> any ChunkContext
}

/// A key schedule and the state that a library needs to use it; belongs to one thread at a time.
public protocol CipherContext: AnyObject {
    /// Encrypts or decrypts one stretch that starts from its own IV; nothing is carried over from earlier calls.
    ///
    /// - Parameters:
    ///   - input: The bytes to process. A multiple of 16 in CBC, any length in CTR, whose stretch starts at a block's
    ///     first byte.
    ///   - output: Space for exactly `input.count` bytes: either the same memory as `input` (in place), or memory that
    ///     does not overlap it.
    ///   - iv: The IV of the first block in CBC, the counter block of the first block in CTR.
    /// - Throws: `DecryptionError.backend` if the library fails.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError)
}

extension CipherBackend {
    /// Works in place.
    public var copyCountPerCall: Int { 0 }

    /// Has no GCM.
    public func makeChunkContext(
        direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any ChunkContext {
        throw .unsupported("AES-GCM in \(name)")
    }
}

extension CipherMode {
    /// The IV of what follows a piece of a stretch.
    ///
    /// - Parameters:
    ///   - iv: The piece's own.
    ///   - blockCount: How many whole blocks it has.
    ///   - lastCiphertext: Its last block of ciphertext, which CBC chains on; not asked for in another mode.
    /// - Returns: The last block of ciphertext in CBC, the next counter block in another mode.
    /// - Source: NIST SP 800-38A, sections 6.2 (CBC) and 6.5 (CTR).
    package func iv(after iv: Block, blockCount: Int, lastCiphertext: @autoclosure () -> Block) -> Block {
        self == .cbc ? lastCiphertext() : iv.advanced(by: UInt64(blockCount))
    }
}

extension CipherContext {
    /// Encrypts or decrypts one stretch in place. See ``process(_:into:iv:)``.
    public func process(inPlace bytes: UnsafeMutableRawBufferPointer, iv: Block) throws(DecryptionError) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        try process(UnsafeRawBufferPointer(bytes), into: start, iv: iv)
    }
}

/// AES-GCM on whole chunks: a key schedule and the state that a library needs to use it; belongs to one thread at a time.
public protocol ChunkContext: AnyObject {
    /// Seals or opens one chunk, as the context's direction says; nothing is carried over from earlier calls.
    ///
    /// - Parameters:
    ///   - input: The plaintext to seal, of any length; or the ciphertext to open and behind it the tag of 16 bytes,
    ///     at least these.
    ///   - output: Memory that does not overlap `input`, for the ciphertext and the tag (`input.count + 16` bytes) or the
    ///     plaintext (`input.count - 16`).
    ///   - start: The nonce in its first 12 bytes and the number 1 behind it. Source: NIST SP 800-38D, section 7.1, J₀.
    /// - Returns: Whether the chunk is authentic; always `true` for one that was sealed. If not, or if it throws, `output`
    ///   may hold what must not be seen: see ``open(_:chunk:into:start:)``.
    /// - Throws: `DecryptionError.backend` if the library fails.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
    ) throws(DecryptionError) -> Bool
}

extension ChunkContext {
    /// Opens one chunk, and leaves nothing of one that is not authentic.
    ///
    /// - Parameters:
    ///   - input: Ciphertext and tag; see ``process(_:into:start:)``.
    ///   - number: The chunk's number, for the error.
    ///   - output: Space for `input.count - 16` bytes, which is erased if the chunk is not opened.
    ///   - start: The nonce and the number 1.
    /// - Throws: `DecryptionError.authenticationFailed`, `.backend`.
    public func open(
        _ input: UnsafeRawBufferPointer, chunk number: UInt64, into output: UnsafeMutableRawPointer, start: Block
    ) throws(DecryptionError) {
        let plaintext = UnsafeMutableRawBufferPointer(
            start: output, count: max(0, input.count - ChunkFormat.tagByteCount))
        let isAuthentic: Bool
        do {
            isAuthentic = try process(input, into: output, start: start)
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
