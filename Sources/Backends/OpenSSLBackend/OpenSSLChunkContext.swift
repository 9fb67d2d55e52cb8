internal import COpenSSL
internal import RandomAccess

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
