import CGcrypt
import RandomAccess

/// A `gcry_cipher_hd_t` whose key schedule is made once; each call sets its IV, counter or nonce and nothing else.
final class GcryptContext: CipherContext {
    private let handle: gcry_cipher_hd_t
    private let support: CipherSupport
    private let direction: CipherDirection

    /// The corresponding C functions are `gcry_cipher_open` and `gcry_cipher_setkey`.
    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        let algorithm =
            switch key.byteCount {
            case 16: GCRY_CIPHER_AES
            case 24: GCRY_CIPHER_AES192
            default: GCRY_CIPHER_AES256
            }
        let mode =
            switch support.cipher {
            case .aesCBC: GCRY_CIPHER_MODE_CBC
            case .aesCTR: GCRY_CIPHER_MODE_CTR
            case .aesGCM: GCRY_CIPHER_MODE_GCM
            }
        var opened: gcry_cipher_hd_t?
        try checkGcrypt(
            gcry_cipher_open(&opened, Int32(algorithm.rawValue), Int32(mode.rawValue), 0), in: "gcry_cipher_open")
        guard let opened else {
            throw .backend(name: "libgcrypt", operation: "gcry_cipher_open", reason: "no handle")
        }
        (self.handle, self.support, self.direction) = (opened, support, direction)
        try checkGcrypt(
            key.withUnsafeBytes { gcry_cipher_setkey(opened, $0.baseAddress, $0.count) }, in: "gcry_cipher_setkey")
    }

    deinit {
        // Erases the key schedule, too.
        gcry_cipher_close(handle)
        eraseStack()
    }

    /// The corresponding C functions are `gcry_cipher_setiv` or `gcry_cipher_setctr`, `gcry_cipher_authenticate`,
    /// `gcry_cipher_decrypt` or `gcry_cipher_encrypt`, and `gcry_cipher_checktag` or `gcry_cipher_gettag`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "libgcrypt")
        if support.cipher == .aesCTR {
            try checkGcrypt(gcry_cipher_setctr(handle, nonce.baseAddress, nonce.count), in: "gcry_cipher_setctr")
        } else {
            try checkGcrypt(gcry_cipher_setiv(handle, nonce.baseAddress, nonce.count), in: "gcry_cipher_setiv")
        }
        let tagByteCount = support.cipher.tagByteCount
        if tagByteCount > 0, associatedData.count > 0 {
            try checkGcrypt(
                gcry_cipher_authenticate(handle, associatedData.baseAddress, associatedData.count),
                in: "gcry_cipher_authenticate")
        }
        guard tagByteCount > 0, direction == .decrypt else {
            try process(input, input.count, into: output)
            guard tagByteCount > 0 else { return true }
            try checkGcrypt(gcry_cipher_gettag(handle, output + input.count, tagByteCount), in: "gcry_cipher_gettag")
            return true
        }
        let count = input.count - tagByteCount
        guard count >= 0, let bytes = input.baseAddress else {
            throw .backend(name: "libgcrypt", operation: "gcry_cipher_decrypt", reason: "only \(input.count) bytes")
        }
        try process(input, count, into: output)
        let code = gcry_cipher_checktag(handle, bytes + count, tagByteCount)
        // The code without the part of the library that says so. The corresponding C function is `gcry_err_code`.
        if code & 0xffff == GPG_ERR_CHECKSUM.rawValue { return false }
        try checkGcrypt(code, in: "gcry_cipher_checktag")
        return true
    }

    private func process(
        _ input: UnsafeRawBufferPointer, _ count: Int, into output: UnsafeMutableRawPointer
    ) throws(DecryptionError) {
        guard let start = input.baseAddress, count > 0 else { return }
        // Without an input, libgcrypt works in place.
        let isInPlace = start == UnsafeRawPointer(output)
        let source = isInPlace ? nil : start
        let sourceCount = isInPlace ? 0 : count
        switch direction {
        case .decrypt:
            try checkGcrypt(gcry_cipher_decrypt(handle, output, count, source, sourceCount), in: "gcry_cipher_decrypt")
        case .encrypt:
            try checkGcrypt(gcry_cipher_encrypt(handle, output, count, source, sourceCount), in: "gcry_cipher_encrypt")
        }
    }
}
