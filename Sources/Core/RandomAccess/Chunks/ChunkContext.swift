/// AES-GCM on whole chunks: a key schedule and the state that a library needs to use it; belongs to one thread at a time.
public protocol ChunkContext: AnyObject {
    /// Seals or opens one chunk, as the context's direction says; nothing is carried over from earlier calls.
    ///
    /// - Parameters:
    ///   - input: The plaintext to seal, of any length; or the ciphertext to open and behind it the tag of 16 bytes,
    ///     at least these.
    ///   - output: Room that does not overlap `input`, for the ciphertext and the tag (`input.count + 16` bytes) or the
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
        let room = UnsafeMutableRawBufferPointer(
            start: output, count: max(0, input.count - ChunkFormat.tagByteCount))
        let isAuthentic: Bool
        do {
            isAuthentic = try process(input, into: output, start: start)
        } catch {
            eraseBytes(room)
            throw error
        }
        guard isAuthentic else {
            eraseBytes(room)
            throw .authenticationFailed(chunk: number)
        }
    }
}
