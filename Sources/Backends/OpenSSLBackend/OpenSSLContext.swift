import COpenSSL
import RandomAccess

/// An `EVP_CIPHER_CTX` whose key schedule is made once; each message of GCM sets its nonce, and its tag to open it.
///
/// Setting an IV looks through parameters by name and costs as much as decrypting 1 KiB. CBC decryption needs it once
/// only: the IV is nothing but an addend of the first block (NIST SP 800-38A, section 6.2), and the library's own addend
/// is known, since it is the last ciphertext block of the call before. Elsewhere each stretch sets its IV.
final class OpenSSLContext: CipherContext {
    private let handle: OpaquePointer
    private let support: CipherSupport
    private let direction: CipherDirection
    private let largestCallByteCount: Int
    /// In CBC decryption: what the library will add to the next call's first block, its last ciphertext block; `nil` if
    /// that is not known.
    private var chainedBlock: Block?
    private let canCorrectIV: Bool
    /// In GCM: the length of nonces that the library has been told, 12 unless told otherwise.
    private var nonceByteCount = 12

    // EVP's lengths are `int`: one call gets `largestCallByteCount` at most, whole blocks. The default is the largest
    // power of two among them, so that pages stay whole, too.
    init(
        _ cipher: OpaquePointer, _ support: CipherSupport, _ direction: CipherDirection, key: SecretKey,
        largestCallByteCount: Int = 1 << 30
    ) throws(DecryptionError) {
        self.support = support
        self.direction = direction
        self.canCorrectIV = support.cipher == .aesCBC && direction == .decrypt
        self.largestCallByteCount = largestCallByteCount
        guard let handle = EVP_CIPHER_CTX_new() else { throw OpenSSLFailure.error(in: "EVP_CIPHER_CTX_new") }
        self.handle = handle
        let isEncrypting: Int32 = direction == .encrypt ? 1 : 0
        try key.withUnsafeBytes { (bytes) throws(DecryptionError) in
            let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            try OpenSSLFailure.check(
                EVP_CipherInit_ex2(handle, cipher, start, nil, isEncrypting, nil), in: "EVP_CipherInit_ex2")
        }
        // With padding on, EVP holds the last block back and wants space for one more. Once off, it is switched off again
        // with each nonce, which takes a message of 4 KiB 2 % longer.
        if support.cipher == .aesCBC {
            try OpenSSLFailure.check(EVP_CIPHER_CTX_set_padding(handle, 0), in: "EVP_CIPHER_CTX_set_padding")
        }
    }

    deinit {
        // Erases the key schedule, too.
        EVP_CIPHER_CTX_free(handle)
        eraseStack()
    }

    /// The corresponding C functions are `EVP_CipherInit_ex2` and `EVP_CipherUpdate`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "openssl")
        guard support.cipher.isStreaming else {
            return try processMessage(input, into: output, nonce: nonce, associatedData: associatedData)
        }
        guard let start = input.baseAddress, input.count > 0 else { return true }
        let chained = chainedBlock
        // Until this call has gone well.
        chainedBlock = nil
        guard canCorrectIV, input.count >= 16 else {
            try setNonce(nonce)
            try update(start, into: output, count: input.count)
            return true
        }
        // In place, the last ciphertext block is gone afterwards.
        let (iv, last) = (Block(loadingFrom: nonce), Block(loadingFrom: input, at: input.count - 16))
        if chained == nil { try setNonce(nonce) }
        try update(start, into: output, count: input.count)
        chainedBlock = last
        if let chained {
            let first = UnsafeMutableRawBufferPointer(start: output, count: 16)
            (Block(loadingFrom: UnsafeRawBufferPointer(first)) ^ chained ^ iv).store(to: first)
        }
        return true
    }

    /// -1: the direction stays what it is.
    private func setNonce(_ nonce: UnsafeRawBufferPointer) throws(DecryptionError) {
        try OpenSSLFailure.check(
            EVP_CipherInit_ex2(handle, nil, nil, nonce.assumingMemoryBound(to: UInt8.self).baseAddress, -1, nil),
            in: "EVP_CipherInit_ex2")
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

    /// Seals or opens a message. The corresponding C functions are `EVP_CIPHER_CTX_ctrl`, `EVP_CipherInit_ex2`,
    /// `EVP_CipherUpdate` and `EVP_CipherFinal_ex`.
    private func processMessage(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        let textByteCount = direction == .encrypt ? input.count : input.count - support.cipher.tagByteCount
        guard textByteCount >= 0, let associatedByteCount = Int32(exactly: associatedData.count) else {
            throw .backend(
                name: "openssl", operation: "EVP_CipherUpdate",
                reason: "\(input.count) bytes, and \(associatedData.count) of associated data")
        }
        if nonce.count != nonceByteCount {
            try control(EVP_CTRL_AEAD_SET_IVLEN, nonce.count, nil)
            nonceByteCount = nonce.count
        }
        try setNonce(nonce)
        if direction == .decrypt, let bytes = input.baseAddress {
            let tag = UnsafeMutableRawPointer(mutating: bytes + textByteCount)
            try control(EVP_CTRL_AEAD_SET_TAG, support.cipher.tagByteCount, tag)
        }
        var written: Int32 = 0
        if associatedByteCount > 0 {
            let bytes = associatedData.assumingMemoryBound(to: UInt8.self).baseAddress
            try OpenSSLFailure.check(
                EVP_CipherUpdate(handle, nil, &written, bytes, associatedByteCount), in: "EVP_CipherUpdate")
        }
        if let bytes = input.baseAddress { try update(bytes, into: output, count: textByteCount) }
        var nothing: UInt8 = 0
        guard EVP_CipherFinal_ex(handle, &nothing, &written) == 1 else {
            if direction == .encrypt { throw OpenSSLFailure.error(in: "EVP_CipherFinal_ex") }
            // The one thing that can fail here is the tag.
            ERR_clear_error()
            return false
        }
        if direction == .encrypt {
            try control(EVP_CTRL_AEAD_GET_TAG, support.cipher.tagByteCount, output + textByteCount)
        }
        return true
    }

    private func control(
        _ command: Int32, _ count: Int, _ bytes: UnsafeMutableRawPointer?
    ) throws(DecryptionError) {
        try OpenSSLFailure.check(
            EVP_CIPHER_CTX_ctrl(handle, command, Int32(count), bytes), in: "EVP_CIPHER_CTX_ctrl")
    }
}
