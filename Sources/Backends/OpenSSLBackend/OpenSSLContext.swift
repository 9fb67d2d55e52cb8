import COpenSSL
import RandomAccess

/// An `EVP_CIPHER_CTX` whose key schedule is made once.
///
/// Setting an IV looks through parameters by name and costs as much as decrypting 1 KiB. CBC decryption needs it once
/// only: the IV is nothing but an addend of the first block (NIST SP 800-38A, section 6.2), and the library's own addend
/// is known, since it is the last ciphertext block of the call before. Elsewhere each stretch sets its IV.
final class OpenSSLContext: CipherContext {
    private let handle: OpaquePointer
    private let largestCallByteCount: Int
    /// In CBC decryption: what the library will add to the next call's first block, its last ciphertext block; `nil` if
    /// that is not known.
    private var chainedBlock: Block?
    private let canCorrectIV: Bool

    // EVP's lengths are `int`: one call gets `largestCallByteCount` at most, whole blocks. The default is the largest
    // power of two among them, so that pages stay whole, too.
    init(
        cipher: OpaquePointer, mode: CipherMode, direction: CipherDirection, key: SecretKey,
        largestCallByteCount: Int = 1 << 30
    ) throws(DecryptionError) {
        self.canCorrectIV = mode == .cbc && direction == .decrypt
        self.largestCallByteCount = largestCallByteCount
        guard let handle = EVP_CIPHER_CTX_new() else { throw OpenSSLFailure.error(in: "EVP_CIPHER_CTX_new") }
        self.handle = handle
        let isEncrypting: Int32 = direction == .encrypt ? 1 : 0
        try key.withUnsafeBytes { (bytes) throws(DecryptionError) in
            let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            try OpenSSLFailure.check(
                EVP_CipherInit_ex2(handle, cipher, start, nil, isEncrypting, nil), in: "EVP_CipherInit_ex2")
        }
        // With padding on, EVP holds the last block back and wants space for one more.
        try OpenSSLFailure.check(EVP_CIPHER_CTX_set_padding(handle, 0), in: "EVP_CIPHER_CTX_set_padding")
    }

    deinit {
        // Erases the key schedule, too.
        EVP_CIPHER_CTX_free(handle)
        eraseStack()
    }

    /// The corresponding C functions are `EVP_CipherInit_ex2` and `EVP_CipherUpdate`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        guard let start = input.baseAddress, input.count > 0 else { return }
        let chained = chainedBlock
        // Until this call has gone well.
        chainedBlock = nil
        guard canCorrectIV, input.count >= 16 else {
            try setIV(iv)
            return try update(start, into: output, count: input.count)
        }
        // In place, the last ciphertext block is gone afterwards.
        let last = Block(loadingFrom: input, at: input.count - 16)
        if chained == nil { try setIV(iv) }
        try update(start, into: output, count: input.count)
        chainedBlock = last
        if let chained {
            let first = UnsafeMutableRawBufferPointer(start: output, count: 16)
            (Block(loadingFrom: UnsafeRawBufferPointer(first)) ^ chained ^ iv).store(to: first)
        }
    }

    /// -1: the direction stays what it is.
    private func setIV(_ iv: Block) throws(DecryptionError) {
        let isReady = iv.withUnsafeBytes {
            EVP_CipherInit_ex2(handle, nil, nil, $0.assumingMemoryBound(to: UInt8.self).baseAddress, -1, nil)
        }
        try OpenSSLFailure.check(isReady, in: "EVP_CipherInit_ex2")
    }

    private func update(
        _ input: UnsafeRawPointer, into output: UnsafeMutableRawPointer, count whole: Int
    ) throws(DecryptionError) {
        var done = 0
        while done < whole {
            let count = min(whole - done, largestCallByteCount)
            var written: Int32 = 0
            try OpenSSLFailure.check(
                EVP_CipherUpdate(
                    handle, (output + done).assumingMemoryBound(to: UInt8.self), &written,
                    (input + done).assumingMemoryBound(to: UInt8.self), Int32(count)),
                in: "EVP_CipherUpdate")
            guard Int(written) == count else {
                throw .backend(
                    name: "openssl", operation: "EVP_CipherUpdate", reason: "\(written) of \(count) bytes written")
            }
            done += count
        }
    }
}

/// An `EVP_CIPHER_CTX` for AES-GCM whose key schedule is made once; each chunk sets its nonce, and its tag to open it.
final class OpenSSLChunkContext: ChunkContext {
    private let handle: OpaquePointer
    private let direction: CipherDirection

    init(cipher: OpaquePointer, direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        guard let handle = EVP_CIPHER_CTX_new() else { throw OpenSSLFailure.error(in: "EVP_CIPHER_CTX_new") }
        self.handle = handle
        self.direction = direction
        // EVP's nonces for GCM have 12 bytes unless told otherwise.
        try key.withUnsafeBytes { (bytes) throws(DecryptionError) in
            let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            let result = EVP_CipherInit_ex2(handle, cipher, start, nil, direction == .encrypt ? 1 : 0, nil)
            try OpenSSLFailure.check(result, in: "EVP_CipherInit_ex2")
        }
    }

    deinit {
        // Erases the key schedule, too.
        EVP_CIPHER_CTX_free(handle)
        eraseStack()
    }

    /// The corresponding C functions are `EVP_CipherInit_ex2`, `EVP_CIPHER_CTX_ctrl` with `EVP_CTRL_AEAD_SET_TAG` or
    /// `EVP_CTRL_AEAD_GET_TAG`, `EVP_CipherUpdate` and `EVP_CipherFinal_ex`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
    ) throws(DecryptionError) -> Bool {
        let textByteCount = direction == .encrypt ? input.count : input.count - ChunkFormat.tagByteCount
        guard let length = Int32(exactly: textByteCount), length >= 0 else {
            throw .backend(name: "openssl", operation: "EVP_CipherUpdate", reason: "a chunk of \(input.count) bytes")
        }
        // -1: the direction stays what it is.
        let isReady = start.withUnsafeBytes {
            EVP_CipherInit_ex2(handle, nil, nil, $0.assumingMemoryBound(to: UInt8.self).baseAddress, -1, nil)
        }
        try OpenSSLFailure.check(isReady, in: "EVP_CipherInit_ex2")
        if direction == .decrypt, let bytes = input.baseAddress {
            let tag = UnsafeMutableRawPointer(mutating: bytes + textByteCount)
            try OpenSSLFailure.check(
                EVP_CIPHER_CTX_ctrl(handle, EVP_CTRL_AEAD_SET_TAG, Int32(ChunkFormat.tagByteCount), tag),
                in: "EVP_CIPHER_CTX_ctrl")
        }
        if let bytes = input.baseAddress, length > 0 {
            var written: Int32 = 0
            let result = EVP_CipherUpdate(
                handle, output.assumingMemoryBound(to: UInt8.self), &written, bytes.assumingMemoryBound(to: UInt8.self),
                length)
            try OpenSSLFailure.check(result, in: "EVP_CipherUpdate")
            guard written == length else {
                throw .backend(
                    name: "openssl", operation: "EVP_CipherUpdate", reason: "\(written) of \(length) bytes written")
            }
        }
        return try finish(behind: output + textByteCount)
    }

    /// Compares the tag, or writes it.
    private func finish(behind output: UnsafeMutableRawPointer) throws(DecryptionError) -> Bool {
        var nothing: UInt8 = 0
        var written: Int32 = 0
        guard EVP_CipherFinal_ex(handle, &nothing, &written) == 1 else {
            if direction == .encrypt { throw OpenSSLFailure.error(in: "EVP_CipherFinal_ex") }
            // The one thing that can fail here is the tag.
            ERR_clear_error()
            return false
        }
        if direction == .encrypt {
            try OpenSSLFailure.check(
                EVP_CIPHER_CTX_ctrl(handle, EVP_CTRL_AEAD_GET_TAG, Int32(ChunkFormat.tagByteCount), output),
                in: "EVP_CIPHER_CTX_ctrl")
        }
        return true
    }
}
