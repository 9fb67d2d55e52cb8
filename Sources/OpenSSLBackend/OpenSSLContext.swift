internal import COpenSSL
internal import RandomAccess

/// An `EVP_CIPHER_CTX` whose key schedule is made once; each stretch sets the IV again and nothing else.
final class OpenSSLContext: CipherContext {
    private let handle: OpaquePointer
    private let largestCallByteCount: Int

    // EVP's lengths are `int`: one call gets `largestCallByteCount` at most, whole blocks. The default is the largest
    // power of two among them, so that pages stay whole, too.
    init(
        cipher: OpaquePointer, direction: CipherDirection, key: SecretKey, largestCallByteCount: Int = 1 << 30
    ) throws(DecryptionError) {
        self.largestCallByteCount = largestCallByteCount
        guard let handle = EVP_CIPHER_CTX_new() else { throw OpenSSLFailure.error(in: "EVP_CIPHER_CTX_new") }
        self.handle = handle
        let isEncrypting: Int32 = direction == .encrypt ? 1 : 0
        try key.withUnsafeBytes { (bytes) throws(DecryptionError) in
            let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            try OpenSSLFailure.check(
                EVP_CipherInit_ex2(handle, cipher, start, nil, isEncrypting, nil), in: "EVP_CipherInit_ex2")
        }
        // With padding on, EVP holds the last block back and wants room for one more.
        try OpenSSLFailure.check(EVP_CIPHER_CTX_set_padding(handle, 0), in: "EVP_CIPHER_CTX_set_padding")
    }

    deinit {
        // Erases the key schedule, too.
        EVP_CIPHER_CTX_free(handle)
    }

    /// The corresponding C functions are `EVP_CipherInit_ex2` and `EVP_CipherUpdate`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        guard let start = input.baseAddress, input.count > 0 else { return }
        // -1: the direction stays what it is.
        let isReady = iv.withUnsafeBytes {
            EVP_CipherInit_ex2(handle, nil, nil, $0.assumingMemoryBound(to: UInt8.self).baseAddress, -1, nil)
        }
        try OpenSSLFailure.check(isReady, in: "EVP_CipherInit_ex2")
        var done = 0
        while done < input.count {
            let count = min(input.count - done, largestCallByteCount)
            var written: Int32 = 0
            try OpenSSLFailure.check(
                EVP_CipherUpdate(
                    handle, (output + done).assumingMemoryBound(to: UInt8.self), &written,
                    (start + done).assumingMemoryBound(to: UInt8.self), Int32(count)),
                in: "EVP_CipherUpdate")
            guard Int(written) == count else {
                throw .backend(
                    name: "openssl", operation: "EVP_CipherUpdate", reason: "\(written) of \(count) bytes written")
            }
            done += count
        }
    }
}
