internal import CGcrypt
internal import RandomAccess

/// A `gcry_cipher_hd_t` for AES-GCM whose key schedule is made once; each chunk sets its nonce.
final class GcryptChunkContext: ChunkContext {
    private let handle: gcry_cipher_hd_t
    private let direction: CipherDirection

    init(direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        self.handle = try GcryptContext.open(GCRY_CIPHER_MODE_GCM, key: key)
        self.direction = direction
    }

    deinit {
        // Erases the key schedule, too.
        gcry_cipher_close(handle)
    }

    /// The corresponding C functions are `gcry_cipher_setiv`, `gcry_cipher_decrypt` and `gcry_cipher_checktag`, or
    /// `gcry_cipher_encrypt` and `gcry_cipher_gettag`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
    ) throws(DecryptionError) -> Bool {
        try checkGcrypt(
            start.withUnsafeBytes { gcry_cipher_setiv(handle, $0.baseAddress, Self.nonceByteCount) },
            in: "gcry_cipher_setiv")
        let tagByteCount = ChunkFormat.tagByteCount
        if direction == .encrypt {
            if input.count > 0 {
                try checkGcrypt(
                    gcry_cipher_encrypt(handle, output, input.count, input.baseAddress, input.count),
                    in: "gcry_cipher_encrypt")
            }
            try checkGcrypt(gcry_cipher_gettag(handle, output + input.count, tagByteCount), in: "gcry_cipher_gettag")
            return true
        }
        let count = input.count - tagByteCount
        guard count >= 0, let bytes = input.baseAddress else {
            throw .backend(
                name: "libgcrypt", operation: "gcry_cipher_decrypt", reason: "a chunk of \(input.count) bytes")
        }
        if count > 0 {
            try checkGcrypt(gcry_cipher_decrypt(handle, output, count, bytes, count), in: "gcry_cipher_decrypt")
        }
        let code = gcry_cipher_checktag(handle, bytes + count, tagByteCount)
        // The code without the part of the library that says so. The corresponding C function is `gcry_err_code`.
        if code & 0xffff == GPG_ERR_CHECKSUM.rawValue { return false }
        try checkGcrypt(code, in: "gcry_cipher_checktag")
        return true
    }

    private static let nonceByteCount = 12
}
