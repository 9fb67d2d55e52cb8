import CNettle
import RandomAccess

/// A `nettle_cipher` with its key schedule; each stretch has its own copy of the IV or counter.
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
        // The library aborts the process for a partial block.
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
            default:
                nettle_ctr_crypt(context, cipher.encrypt, Block.byteCount, chained, input.count, destination, source)
            }
        }
        return true
    }
}

/// Two `nettle_cipher`s for XTS with their key schedules: that of the blocks, then that of the tweaks.
final class NettleXTSContext: CipherContext {
    private let schedules: UnsafeMutableRawBufferPointer
    private let cipher: nettle_cipher
    private let support: CipherSupport
    private let direction: CipherDirection

    /// The corresponding C functions are those of `nettle_aes128` and `nettle_aes256`. Source: IEEE 1619-2007, section
    /// 5.1, for the halves of the key.
    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        let cipher = key.byteCount == 32 ? nettle_aes128 : nettle_aes256
        guard let setTweakKey = cipher.set_encrypt_key, cipher.encrypt != nil, cipher.decrypt != nil,
            let setKey = direction == .encrypt ? cipher.set_encrypt_key : cipher.set_decrypt_key
        else {
            throw .backend(name: "nettle", operation: "nettle_cipher", reason: "no functions for AES")
        }
        (self.cipher, self.support, self.direction) = (cipher, support, direction)
        let byteCount = Int(cipher.context_size)
        self.schedules = .allocate(byteCount: 2 * byteCount, alignment: 16)
        key.withUnsafeBytes {
            let start = $0.assumingMemoryBound(to: UInt8.self).baseAddress
            setKey(schedules.baseAddress, start)
            setTweakKey(schedules.baseAddress.map { $0 + byteCount }, start.map { $0 + key.byteCount / 2 })
        }
    }

    deinit {
        eraseBytes(schedules)
        schedules.deallocate()
        eraseStack()
    }

    /// The corresponding C functions are `xts_encrypt_message` and `xts_decrypt_message`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "nettle")
        // The library aborts the process for less than a block.
        try support.check(dataUnit: input, in: "nettle")
        let source = input.assumingMemoryBound(to: UInt8.self).baseAddress
        let destination = output.assumingMemoryBound(to: UInt8.self)
        let tweak = nonce.assumingMemoryBound(to: UInt8.self).baseAddress
        let blocks = UnsafeRawPointer(schedules.baseAddress)
        let tweaks = blocks.map { $0 + Int(cipher.context_size) }
        switch direction {
        case .decrypt:
            nettle_xts_decrypt_message(
                blocks, tweaks, cipher.decrypt, cipher.encrypt, tweak, input.count, destination, source)
        case .encrypt:
            nettle_xts_encrypt_message(blocks, tweaks, cipher.encrypt, tweak, input.count, destination, source)
        }
        return true
    }
}

/// A `nettle_aead` with its key schedule and, in GCM, its tables of the hash key; each message sets its nonce.
final class NettleSealedContext: CipherContext {
    private static let tagByteCount = 16

    private let state: UnsafeMutableRawBufferPointer
    private let cipher: nettle_aead
    private let support: CipherSupport
    private let direction: CipherDirection

    /// The corresponding C functions are those of `nettle_gcm_aes128`, `nettle_gcm_aes192`, `nettle_gcm_aes256` and
    /// `nettle_chacha_poly1305`, such as `gcm_aes128_set_key`.
    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        let cipher =
            switch (support.cipher, key.byteCount) {
            case (.chaCha20Poly1305, _): nettle_chacha_poly1305
            case (_, 16): nettle_gcm_aes128
            case (_, 24): nettle_gcm_aes192
            default: nettle_gcm_aes256
            }
        guard let setKey = cipher.set_encrypt_key, cipher.update != nil, cipher.encrypt != nil,
            cipher.decrypt != nil, cipher.digest != nil
        else {
            throw .backend(
                name: "nettle", operation: "nettle_aead", reason: "no functions for \(support.cipher.rawValue)")
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

    /// The corresponding C functions are `gcm_aes128_set_iv` or `chacha_poly1305_set_nonce`, and those of the
    /// `nettle_aead`, such as `gcm_aes128_update`, `gcm_aes128_decrypt`, `gcm_aes128_encrypt` and `gcm_aes128_digest`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "nettle")
        let count = direction == .encrypt ? input.count : input.count - Self.tagByteCount
        guard count >= 0 else {
            throw .backend(
                name: "nettle", operation: support.cipher.rawValue, reason: "only \(input.count) bytes")
        }
        let start = nonce.assumingMemoryBound(to: UInt8.self).baseAddress
        if support.cipher == .aesGCM {
            // Valid for any key length: the members that it sets come before the key schedule. Source: `GCM_CTX` of
            // nettle/gcm.h.
            nettle_gcm_aes128_set_iv(
                state.assumingMemoryBound(to: gcm_aes128_ctx.self).baseAddress, nonce.count, start)
        } else {
            nettle_chacha_poly1305_set_nonce(
                state.assumingMemoryBound(to: chacha_poly1305_ctx.self).baseAddress, start)
        }
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
        return withUnsafeTemporaryAllocation(byteCount: Self.tagByteCount, alignment: 16) { tag in
            tag.baseAddress.map(writeTag)
            return isEqualInConstantTime(
                UnsafeRawBufferPointer(tag), UnsafeRawBufferPointer(rebasing: input[count...]))
        }
    }

    private func writeTag(to tag: UnsafeMutableRawPointer) {
        cipher.digest(state.baseAddress, Self.tagByteCount, tag.assumingMemoryBound(to: UInt8.self))
    }
}
