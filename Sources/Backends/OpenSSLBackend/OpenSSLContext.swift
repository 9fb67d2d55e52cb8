import COpenSSL
import RandomAccess

/// An `EVP_CIPHER_CTX` with its key schedule; each message sets its nonce, and its tag to be opened. SIV has no way to
/// restart other than setting the key again.
///
/// Setting an IV looks up parameters by name, and costs as much as decrypting 1 KiB. CBC decryption needs it once only.
/// The IV is merely added to the first block (NIST SP 800-38A, section 6.2), and the library's own addend is known: it
/// is the last ciphertext block of the call before. In all other modes, each stretch sets its IV.
final class OpenSSLContext: CipherContext {
    private let handle: OpaquePointer
    private let support: CipherSupport
    private let direction: CipherDirection
    private let largestCallByteCount: Int
    /// The block that the library will add to the next call's first block in CBC decryption, its last ciphertext block;
    /// `nil` if unknown.
    private var chainedBlock: Block?
    private let canCorrectIV: Bool
    private let tagByteCount: Int
    /// The nonce length that was set for messages; 12 by default.
    private var nonceByteCount = 12
    /// The key of SIV, with which each message restarts; `nil` for other ciphers.
    private let restartKey: SecretKey?

    // EVP's lengths are `int`: one call processes at most `largestCallByteCount`, in whole blocks. The default is the
    // largest power of two in that range, which also keeps pages whole.
    init(
        _ cipher: OpaquePointer, _ support: CipherSupport, _ direction: CipherDirection, key: SecretKey,
        largestCallByteCount: Int = 1 << 30
    ) throws(DecryptionError) {
        self.support = support
        self.tagByteCount = support.cipher.tagByteCount
        self.direction = direction
        self.canCorrectIV = support.cipher == .aesCBC && direction == .decrypt
        self.largestCallByteCount = largestCallByteCount
        self.restartKey = support.cipher == .aesSIV ? key : nil
        guard let handle = EVP_CIPHER_CTX_new() else { throw OpenSSLFailure.error(in: "EVP_CIPHER_CTX_new") }
        self.handle = handle
        try start(cipher, key)
        // With padding on, EVP holds the last block back and needs space for one more. Once off, it is switched off
        // again with each nonce, which makes a message of 4 KiB 2 % slower.
        if support.cipher == .aesCBC {
            try OpenSSLFailure.check(EVP_CIPHER_CTX_set_padding(handle, 0), in: "EVP_CIPHER_CTX_set_padding")
        }
    }

    deinit {
        // It erases the key schedule, too.
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
            guard tagByteCount > 0 else { return try processUnit(input, into: output, tweak: nonce) }
            return try processMessage(input, into: output, nonce: nonce, associatedData: associatedData)
        }
        guard let start = input.baseAddress, input.count > 0 else { return true }
        let chained = chainedBlock
        // Unknown until this call succeeds.
        chainedBlock = nil
        guard canCorrectIV, input.count >= 16 else {
            try setNonce(nonce)
            try update(start, into: output, count: input.count)
            return true
        }
        // In place, the call overwrites the last ciphertext block.
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

    private func start(_ cipher: OpaquePointer?, _ key: SecretKey) throws(DecryptionError) {
        let isEncrypting: Int32 = direction == .encrypt ? 1 : 0
        try key.withUnsafeBytes { (bytes) throws(DecryptionError) in
            let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            try OpenSSLFailure.check(
                EVP_CipherInit_ex2(handle, cipher, start, nil, isEncrypting, nil), in: "EVP_CipherInit_ex2")
        }
    }

    /// Sets the nonce; -1 keeps the direction.
    private func setNonce(_ nonce: UnsafeRawBufferPointer) throws(DecryptionError) {
        try OpenSSLFailure.check(
            EVP_CipherInit_ex2(handle, nil, nil, nonce.assumingMemoryBound(to: UInt8.self).baseAddress, -1, nil),
            in: "EVP_CipherInit_ex2")
    }

    /// Returns the number of output bytes; OCB holds back the last block unless it is whole.
    @discardableResult
    private func update(
        _ input: UnsafeRawPointer, into output: UnsafeMutableRawPointer, count whole: Int
    ) throws(DecryptionError) -> Int {
        var (done, writtenCount) = (0, 0)
        while done < whole {
            let count = min(whole - done, largestCallByteCount)
            var written: Int32 = 0
            try OpenSSLFailure.check(
                EVP_CipherUpdate(
                    handle, (output + done).assumingMemoryBound(to: UInt8.self), &written,
                    (input + done).assumingMemoryBound(to: UInt8.self), Int32(count)),
                in: "EVP_CipherUpdate")
            guard Int(written) == count || support.cipher == .aesOCB else {
                throw .backend(
                    name: "openssl", operation: "EVP_CipherUpdate", reason: "\(written) of \(count) bytes written")
            }
            done += count
            writtenCount += Int(written)
        }
        return writtenCount
    }

    /// Processes a data unit of XTS, which the library accepts only in one call.
    private func processUnit(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, tweak: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(dataUnit: input, in: "openssl")
        try setNonce(tweak)
        if let start = input.baseAddress { try update(start, into: output, count: input.count) }
        return true
    }

    /// Seals or opens a message. The corresponding C functions are `EVP_CIPHER_CTX_ctrl`, `EVP_CipherInit_ex2`,
    /// `EVP_CipherUpdate` and `EVP_CipherFinal_ex`.
    private func processMessage(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        let textByteCount = direction == .encrypt ? input.count : input.count - tagByteCount
        guard textByteCount >= 0, let associatedByteCount = Int32(exactly: associatedData.count) else {
            throw .backend(
                name: "openssl", operation: "EVP_CipherUpdate",
                reason: "\(input.count) bytes, and \(associatedData.count) of associated data")
        }
        if let restartKey {
            guard textByteCount > 0 else { return try processNothing(input, into: output, nonce, associatedData) }
            try start(nil, restartKey)
        } else {
            if nonce.count != nonceByteCount {
                try control(EVP_CTRL_AEAD_SET_IVLEN, nonce.count, nil)
                nonceByteCount = nonce.count
            }
            try setNonce(nonce)
        }
        if direction == .decrypt, let bytes = input.baseAddress {
            let tag = UnsafeMutableRawPointer(mutating: bytes + textByteCount)
            try control(EVP_CTRL_AEAD_SET_TAG, tagByteCount, tag)
        }
        if associatedByteCount > 0 || restartKey != nil { try authenticate(associatedData, associatedByteCount) }
        // Each call adds one of SIV's strings; the nonce is the last.
        if restartKey != nil { try authenticate(nonce, Int32(nonce.count)) }
        var (done, written): (Int, Int32) = (0, 0)
        if let bytes = input.baseAddress {
            guard restartKey == nil || textByteCount <= largestCallByteCount else {
                throw .backend(name: "openssl", operation: "EVP_CipherUpdate", reason: "\(textByteCount) bytes of SIV")
            }
            do throws(DecryptionError) {
                done = try update(bytes, into: output, count: textByteCount)
            } catch {
                guard restartKey != nil, direction == .decrypt else { throw error }
                // SIV checks the tag here, and nothing else can fail.
                return false
            }
        }
        // OCB returns the rest of the last block here.
        let rest = (output + done).assumingMemoryBound(to: UInt8.self)
        guard EVP_CipherFinal_ex(handle, rest, &written) == 1 else {
            if direction == .encrypt { throw OpenSSLFailure.error(in: "EVP_CipherFinal_ex") }
            // Only a wrong tag can fail here.
            ERR_clear_error()
            return false
        }
        if direction == .encrypt {
            try control(EVP_CTRL_AEAD_GET_TAG, tagByteCount, output + textByteCount)
        }
        return true
    }

    private func authenticate(_ bytes: UnsafeRawBufferPointer, _ count: Int32) throws(DecryptionError) {
        var (nothing, written): (UInt8, Int32) = (0, 0)
        // A null pointer would mean the end of the message.
        let result =
            bytes.assumingMemoryBound(to: UInt8.self).baseAddress.map {
                EVP_CipherUpdate(handle, nil, &written, $0, count)
            } ?? EVP_CipherUpdate(handle, nil, &written, &nothing, 0)
        try OpenSSLFailure.check(result, in: "EVP_CipherUpdate")
    }

    private func control(
        _ command: Int32, _ count: Int, _ bytes: UnsafeMutableRawPointer?
    ) throws(DecryptionError) {
        try OpenSSLFailure.check(
            EVP_CIPHER_CTX_ctrl(handle, command, Int32(count), bytes), in: "EVP_CIPHER_CTX_ctrl")
    }

    /// Seals or opens an empty message in SIV, which the library does not support: S2V, from the library's CMAC.
    ///
    /// The corresponding C function is `EVP_Q_mac`. Source: RFC 5297, section 2.4.
    private func processNothing(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, _ nonce: UnsafeRawBufferPointer,
        _ associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        var sum = try Block(bigEndianValue: 0).withUnsafeBytes(cmac)
        for string in [associatedData, nonce] { sum = sum.doubled ^ (try cmac(string)) }
        let tag = try (sum.doubled ^ Block(bigEndianValue: 1 << 127)).withUnsafeBytes(cmac)
        guard direction == .decrypt else {
            tag.store(to: UnsafeMutableRawBufferPointer(start: output, count: tagByteCount))
            return true
        }
        return tag.withUnsafeBytes { isEqualInConstantTime($0, input) }
    }

    private func cmac(_ bytes: UnsafeRawBufferPointer) throws(DecryptionError) -> Block {
        guard let restartKey else { throw .unsupported("cmac in openssl") }
        // The first half of the key. Source: RFC 5297, section 2.6.
        let keyByteCount = restartKey.byteCount / 2
        var (code, count, nothing): (UInt128, Int, UInt8) = (0, 0, 0)
        let made = restartKey.withUnsafeBytes { key in
            withUnsafeMutableBytes(of: &code) { code in
                let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
                return withUnsafePointer(to: &nothing) { nothing in
                    EVP_Q_mac(
                        nil, "CMAC", nil, "AES-\(8 * keyByteCount)-CBC", nil, key.baseAddress, keyByteCount,
                        start ?? nothing, bytes.count, code.assumingMemoryBound(to: UInt8.self).baseAddress,
                        code.count, &count)
                }
            }
        }
        guard made != nil, count == Block.byteCount else { throw OpenSSLFailure.error(in: "EVP_Q_mac") }
        return Block(bigEndianValue: UInt128(bigEndian: code))
    }
}
