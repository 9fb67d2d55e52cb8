import CGcrypt
import RandomAccess

/// A `gcry_cipher_hd_t` with its key schedule; each call sets only its IV, counter or nonce.
final class GcryptContext: CipherContext {
    private let handle: gcry_cipher_hd_t
    private let support: CipherSupport
    private let direction: CipherDirection
    private let tagByteCount: Int

    /// The corresponding C functions are `gcry_cipher_open` and `gcry_cipher_setkey`.
    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        let aes =
            switch support.cipher.hasTwoKeys ? key.byteCount / 2 : key.byteCount {
            case 16: GCRY_CIPHER_AES
            case 24: GCRY_CIPHER_AES192
            default: GCRY_CIPHER_AES256
            }
        let (algorithm, mode) =
            switch support.cipher {
            case .aesCBC: (aes, GCRY_CIPHER_MODE_CBC)
            case .aesCTR: (aes, GCRY_CIPHER_MODE_CTR)
            case .aesGCM: (aes, GCRY_CIPHER_MODE_GCM)
            case .aesXTS: (aes, GCRY_CIPHER_MODE_XTS)
            case .aesOCB: (aes, GCRY_CIPHER_MODE_OCB)
            case .aesEAX: (aes, GCRY_CIPHER_MODE_EAX)
            case .aesGCMSIV: (aes, GCRY_CIPHER_MODE_GCM_SIV)
            case .aesSIV: (aes, GCRY_CIPHER_MODE_SIV)
            case .chaCha20Poly1305: (GCRY_CIPHER_CHACHA20, GCRY_CIPHER_MODE_POLY1305)
            case .xChaCha20Poly1305, .xSalsa20Poly1305:
                throw .unsupported("\(support.cipher.rawValue) in libgcrypt")
            }
        var opened: gcry_cipher_hd_t?
        try checkGcrypt(
            gcry_cipher_open(&opened, Int32(algorithm.rawValue), Int32(mode.rawValue), 0), in: "gcry_cipher_open")
        guard let opened else {
            throw .backend(name: "libgcrypt", operation: "gcry_cipher_open", reason: "no handle")
        }
        (self.handle, self.support, self.direction) = (opened, support, direction)
        self.tagByteCount = support.cipher.tagByteCount
        try checkGcrypt(
            key.withUnsafeBytes { gcry_cipher_setkey(opened, $0.baseAddress, $0.count) }, in: "gcry_cipher_setkey")
    }

    deinit {
        // It erases the key schedule, too.
        gcry_cipher_close(handle)
        eraseStack()
    }

    /// The corresponding C functions are `gcry_cipher_setiv` or `gcry_cipher_setctr`, `gcry_cipher_authenticate`,
    /// `gcry_cipher_decrypt` or `gcry_cipher_encrypt`, and `gcry_cipher_checktag` or `gcry_cipher_gettag`; for some
    /// ciphers also `gcry_cipher_reset`, `gcry_cipher_final` and `gcry_cipher_set_decryption_tag`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "libgcrypt")
        guard support.cipher.isAuthenticated else {
            if support.cipher == .aesCTR {
                try checkGcrypt(gcry_cipher_setctr(handle, nonce.baseAddress, nonce.count), in: "gcry_cipher_setctr")
            } else {
                if support.cipher == .aesXTS { try support.check(dataUnit: input, in: "libgcrypt") }
                try checkGcrypt(gcry_cipher_setiv(handle, nonce.baseAddress, nonce.count), in: "gcry_cipher_setiv")
            }
            if input.count > 0 { try checkGcrypt(process(input, input.count, into: output), in: operation) }
            return true
        }
        let count = direction == .encrypt ? input.count : input.count - tagByteCount
        guard count >= 0 else {
            throw .backend(name: "libgcrypt", operation: operation, reason: "only \(input.count) bytes")
        }
        try start(nonce, associatedData)
        if direction == .decrypt, support.cipher.hasSyntheticIV {
            try control(GCRYCTL_SET_DECRYPTION_TAG, UnsafeRawBufferPointer(rebasing: input[count...]))
        }
        if support.cipher == .aesOCB { try control(GCRYCTL_FINALIZE) }
        // These ciphers make their tag at the end of a message, even of an empty one.
        if count > 0 || support.cipher.hasSyntheticIV || support.cipher == .aesOCB {
            let code = process(input, count, into: output)
            // With a synthetic IV, this call checks the tag.
            if direction == .decrypt, isWrongTag(code) { return false }
            try checkGcrypt(code, in: operation)
        }
        if direction == .encrypt {
            try checkGcrypt(gcry_cipher_gettag(handle, output + count, tagByteCount), in: "gcry_cipher_gettag")
            return true
        }
        let code = gcry_cipher_checktag(handle, input.baseAddress.map { $0 + count }, tagByteCount)
        if isWrongTag(code) { return false }
        try checkGcrypt(code, in: "gcry_cipher_checktag")
        return true
    }

    /// Sets the nonce and the associated data; in SIV, these are strings of one list that ends with the nonce.
    private func start(
        _ nonce: UnsafeRawBufferPointer, _ associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) {
        let isSIV = support.cipher == .aesSIV
        // In these modes, setting a nonce alone keeps some state of the previous message.
        if support.cipher == .aesEAX || support.cipher.hasSyntheticIV { try control(GCRYCTL_RESET) }
        if !isSIV {
            try checkGcrypt(gcry_cipher_setiv(handle, nonce.baseAddress, nonce.count), in: "gcry_cipher_setiv")
        }
        if associatedData.count > 0 || isSIV {
            try checkGcrypt(
                // Even empty data needs a valid pointer.
                gcry_cipher_authenticate(handle, associatedData.baseAddress ?? nonce.baseAddress, associatedData.count),
                in: "gcry_cipher_authenticate")
        }
        if isSIV {
            try checkGcrypt(gcry_cipher_setiv(handle, nonce.baseAddress, nonce.count), in: "gcry_cipher_setiv")
        }
    }

    private var operation: String { direction == .decrypt ? "gcry_cipher_decrypt" : "gcry_cipher_encrypt" }

    /// Returns whether a code means a wrong tag, without linking libgpg-error. The corresponding C function is
    /// `gcry_err_code`.
    private func isWrongTag(_ code: gcry_error_t) -> Bool { code & 0xffff == GPG_ERR_CHECKSUM.rawValue }

    private func control(
        _ command: gcry_ctl_cmds, _ bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0)
    ) throws(DecryptionError) {
        let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        try checkGcrypt(
            gcry_cipher_ctl(handle, Int32(command.rawValue), start, bytes.count), in: "gcry_cipher_ctl")
    }

    private func process(
        _ input: UnsafeRawBufferPointer, _ count: Int, into output: UnsafeMutableRawPointer
    ) -> gcry_error_t {
        // Without an input, libgcrypt works in place.
        let isInPlace = input.baseAddress == nil || input.baseAddress == UnsafeRawPointer(output)
        let source = isInPlace ? nil : input.baseAddress
        let sourceCount = isInPlace ? 0 : count
        return direction == .decrypt
            ? gcry_cipher_decrypt(handle, output, count, source, sourceCount)
            : gcry_cipher_encrypt(handle, output, count, source, sourceCount)
    }
}
