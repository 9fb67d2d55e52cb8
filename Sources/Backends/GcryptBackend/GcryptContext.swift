import CGcrypt
import RandomAccess

/// A `gcry_cipher_hd_t` whose key schedule is made once; each stretch sets its IV or counter and nothing else.
final class GcryptContext: CipherContext {
    private let handle: gcry_cipher_hd_t
    private let mode: CipherMode
    private let direction: CipherDirection

    init(mode: CipherMode, direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        self.handle = try Self.open(mode == .cbc ? GCRY_CIPHER_MODE_CBC : GCRY_CIPHER_MODE_CTR, key: key)
        self.mode = mode
        self.direction = direction
    }

    /// Makes a handle for AES in a mode, with its key schedule.
    ///
    /// The corresponding C functions are `gcry_cipher_open` and `gcry_cipher_setkey`.
    static func open(_ mode: gcry_cipher_modes, key: SecretKey) throws(DecryptionError) -> gcry_cipher_hd_t {
        let algorithm: gcry_cipher_algos
        switch key.byteCount {
        case 16: algorithm = GCRY_CIPHER_AES
        case 24: algorithm = GCRY_CIPHER_AES192
        default: algorithm = GCRY_CIPHER_AES256
        }
        var opened: gcry_cipher_hd_t?
        try checkGcrypt(
            gcry_cipher_open(&opened, Int32(algorithm.rawValue), Int32(mode.rawValue), 0), in: "gcry_cipher_open")
        guard let opened else {
            throw .backend(name: "libgcrypt", operation: "gcry_cipher_open", reason: "no handle")
        }
        let code = key.withUnsafeBytes { gcry_cipher_setkey(opened, $0.baseAddress, $0.count) }
        if code != 0 { gcry_cipher_close(opened) }
        try checkGcrypt(code, in: "gcry_cipher_setkey")
        return opened
    }

    deinit {
        // Erases the key schedule, too.
        gcry_cipher_close(handle)
        eraseStack()
    }

    /// The corresponding C functions are `gcry_cipher_setiv` or `gcry_cipher_setctr`, and `gcry_cipher_decrypt` or
    /// `gcry_cipher_encrypt`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        guard let start = input.baseAddress, input.count > 0 else { return }
        switch mode {
        case .cbc:
            try checkGcrypt(
                iv.withUnsafeBytes { gcry_cipher_setiv(handle, $0.baseAddress, $0.count) }, in: "gcry_cipher_setiv")
        case .ctr, .gcm:
            try checkGcrypt(
                iv.withUnsafeBytes { gcry_cipher_setctr(handle, $0.baseAddress, $0.count) }, in: "gcry_cipher_setctr")
        }
        // Without an input, libgcrypt works in place.
        let isInPlace = start == UnsafeRawPointer(output)
        let source = isInPlace ? nil : start
        let sourceCount = isInPlace ? 0 : input.count
        switch direction {
        case .decrypt:
            try checkGcrypt(
                gcry_cipher_decrypt(handle, output, input.count, source, sourceCount), in: "gcry_cipher_decrypt")
        case .encrypt:
            try checkGcrypt(
                gcry_cipher_encrypt(handle, output, input.count, source, sourceCount), in: "gcry_cipher_encrypt")
        }
    }
}

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
        eraseStack()
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
