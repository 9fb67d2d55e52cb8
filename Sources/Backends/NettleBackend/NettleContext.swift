import CNettle
import RandomAccess

/// A `nettle_cipher` with its key schedule, which is made once; each stretch has its own copy of the IV or counter.
final class NettleContext: CipherContext {
    private let schedule: UnsafeMutableRawBufferPointer
    private let cipher: nettle_cipher
    private let support: CipherSupport
    private let direction: CipherDirection

    /// The corresponding C functions are those of `nettle_aes128`, `nettle_aes192` and `nettle_aes256`, such as
    /// `aes128_set_decrypt_key`.
    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        let cipher =
            switch key.byteCount {
            case 16: nettle_aes128
            case 24: nettle_aes192
            default: nettle_aes256
            }
        // In counter mode, both directions encrypt the counters.
        let isInverse = support.cipher == .aesCBC && direction == .decrypt
        guard cipher.encrypt != nil, cipher.decrypt != nil,
            let setKey = isInverse ? cipher.set_decrypt_key : cipher.set_encrypt_key
        else {
            throw .backend(name: "nettle", operation: "nettle_cipher", reason: "no functions for AES")
        }
        self.cipher = cipher
        self.support = support
        self.direction = direction
        self.schedule = .allocate(byteCount: Int(cipher.context_size), alignment: 16)
        key.withUnsafeBytes { setKey(schedule.baseAddress, $0.assumingMemoryBound(to: UInt8.self).baseAddress) }
    }

    deinit {
        eraseBytes(schedule)
        schedule.deallocate()
        eraseStack()
    }

    /// The corresponding C functions are `cbc_decrypt`, `cbc_encrypt` and `ctr_crypt`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "nettle")
        guard input.count > 0, let source = input.assumingMemoryBound(to: UInt8.self).baseAddress else { return true }
        let destination = output.assumingMemoryBound(to: UInt8.self)
        // The library ends the process over a part of a block.
        guard support.cipher != .aesCBC || input.count % Block.byteCount == 0 else {
            throw .backend(
                name: "nettle", operation: "nettle_cbc_\(direction.rawValue)",
                reason: "\(input.count) bytes: expected a multiple of 16")
        }
        var chained = nonce.loadUnaligned(as: UInt128.self)
        withUnsafeMutableBytes(of: &chained) { chained in
            let chained = chained.assumingMemoryBound(to: UInt8.self).baseAddress
            let context = UnsafeRawPointer(schedule.baseAddress)
            switch (support.cipher, direction) {
            case (.aesCBC, .decrypt):
                nettle_cbc_decrypt(
                    context, cipher.decrypt, Block.byteCount, chained, input.count, destination, source)
            case (.aesCBC, .encrypt):
                nettle_cbc_encrypt(
                    context, cipher.encrypt, Block.byteCount, chained, input.count, destination, source)
            case (.aesCTR, _), (.aesGCM, _):
                nettle_ctr_crypt(context, cipher.encrypt, Block.byteCount, chained, input.count, destination, source)
            }
        }
        return true
    }
}

/// A `nettle_aead` for AES-GCM with its key schedule and its tables of the hash key, which are made once; each message
/// sets its nonce.
final class NettleGCMContext: CipherContext {
    private let state: UnsafeMutableRawBufferPointer
    private let cipher: nettle_aead
    private let support: CipherSupport
    private let direction: CipherDirection

    /// The corresponding C functions are those of `nettle_gcm_aes128`, `nettle_gcm_aes192` and `nettle_gcm_aes256`,
    /// such as `gcm_aes128_set_key`.
    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        let cipher =
            switch key.byteCount {
            case 16: nettle_gcm_aes128
            case 24: nettle_gcm_aes192
            default: nettle_gcm_aes256
            }
        guard let setKey = cipher.set_encrypt_key, cipher.update != nil, cipher.encrypt != nil,
            cipher.decrypt != nil, cipher.digest != nil
        else {
            throw .backend(name: "nettle", operation: "nettle_aead", reason: "no functions for AES-GCM")
        }
        self.cipher = cipher
        self.support = support
        self.direction = direction
        self.state = .allocate(byteCount: Int(cipher.context_size), alignment: 16)
        key.withUnsafeBytes { setKey(state.baseAddress, $0.assumingMemoryBound(to: UInt8.self).baseAddress) }
    }

    deinit {
        eraseBytes(state)
        state.deallocate()
        eraseStack()
    }

    /// The corresponding C functions are `gcm_aes128_set_iv`, `gcm_aes128_update`, `gcm_aes128_decrypt` or
    /// `gcm_aes128_encrypt`, and `gcm_aes128_digest`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "nettle")
        let count = direction == .encrypt ? input.count : input.count - support.cipher.tagByteCount
        guard count >= 0 else {
            throw .backend(name: "nettle", operation: "gcm_decrypt", reason: "only \(input.count) bytes")
        }
        // Of any key length: what it sets stands before the key schedule. Source: `GCM_CTX` of nettle/gcm.h.
        nettle_gcm_aes128_set_iv(
            state.assumingMemoryBound(to: gcm_aes128_ctx.self).baseAddress, nonce.count,
            nonce.assumingMemoryBound(to: UInt8.self).baseAddress)
        if associatedData.count > 0 {
            cipher.update(
                state.baseAddress, associatedData.count,
                associatedData.assumingMemoryBound(to: UInt8.self).baseAddress)
        }
        if count > 0, let source = input.assumingMemoryBound(to: UInt8.self).baseAddress {
            let crypt = direction == .encrypt ? cipher.encrypt : cipher.decrypt
            crypt?(state.baseAddress, count, output.assumingMemoryBound(to: UInt8.self), source)
        }
        guard direction == .decrypt else {
            writeTag(to: output + count)
            return true
        }
        return withUnsafeTemporaryAllocation(byteCount: support.cipher.tagByteCount, alignment: 16) { tag in
            tag.baseAddress.map(writeTag)
            return isEqualInConstantTime(
                UnsafeRawBufferPointer(tag), UnsafeRawBufferPointer(rebasing: input[count...]))
        }
    }

    private func writeTag(to tag: UnsafeMutableRawPointer) {
        cipher.digest(state.baseAddress, support.cipher.tagByteCount, tag.assumingMemoryBound(to: UInt8.self))
    }
}
