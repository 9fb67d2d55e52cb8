internal import CNettle
internal import RandomAccess

/// A `nettle_aead` for AES-GCM with its key schedule and its tables of the hash key, which are made once; each chunk sets
/// its nonce.
final class NettleChunkContext: ChunkContext {
    private let state: UnsafeMutableRawBufferPointer
    private let cipher: nettle_aead
    private let direction: CipherDirection

    /// The corresponding C functions are those of `nettle_gcm_aes128`, `nettle_gcm_aes192` and `nettle_gcm_aes256`,
    /// such as `gcm_aes128_set_key`.
    init(direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        let cipher =
            switch key.byteCount {
            case 16: nettle_gcm_aes128
            case 24: nettle_gcm_aes192
            default: nettle_gcm_aes256
            }
        guard let setKey = cipher.set_encrypt_key, cipher.set_nonce != nil, cipher.encrypt != nil,
            cipher.decrypt != nil, cipher.digest != nil
        else {
            throw .backend(name: "nettle", operation: "nettle_aead", reason: "no functions for AES-GCM")
        }
        self.cipher = cipher
        self.direction = direction
        self.state = .allocate(byteCount: Int(cipher.context_size), alignment: 16)
        key.withUnsafeBytes { setKey(state.baseAddress, $0.assumingMemoryBound(to: UInt8.self).baseAddress) }
    }

    deinit {
        eraseBytes(state)
        state.deallocate()
    }

    /// The corresponding C functions are `gcm_aes128_set_iv`, `gcm_aes128_decrypt` or `gcm_aes128_encrypt`, and
    /// `gcm_aes128_digest`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
    ) throws(DecryptionError) -> Bool {
        let count = direction == .encrypt ? input.count : input.count - ChunkFormat.tagByteCount
        guard count >= 0 else {
            throw .backend(name: "nettle", operation: "gcm_decrypt", reason: "a chunk of \(input.count) bytes")
        }
        start.withUnsafeBytes {
            cipher.set_nonce(state.baseAddress, $0.assumingMemoryBound(to: UInt8.self).baseAddress)
        }
        if count > 0, let source = input.assumingMemoryBound(to: UInt8.self).baseAddress {
            let crypt = direction == .encrypt ? cipher.encrypt : cipher.decrypt
            crypt?(state.baseAddress, count, output.assumingMemoryBound(to: UInt8.self), source)
        }
        guard direction == .decrypt else {
            writeTag(to: output + count)
            return true
        }
        return withUnsafeTemporaryAllocation(byteCount: ChunkFormat.tagByteCount, alignment: 16) { tag in
            tag.baseAddress.map(writeTag)
            return isEqualInConstantTime(
                UnsafeRawBufferPointer(tag), UnsafeRawBufferPointer(rebasing: input[count...]))
        }
    }

    private func writeTag(to tag: UnsafeMutableRawPointer) {
        cipher.digest(state.baseAddress, ChunkFormat.tagByteCount, tag.assumingMemoryBound(to: UInt8.self))
    }
}
