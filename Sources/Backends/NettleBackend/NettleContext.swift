import CNettle
import RandomAccess

extension nettle_cipher {
    /// Returns AES for a key length.
    static func aes(keyByteCount: Int) -> nettle_cipher {
        switch keyByteCount {
        case 16: nettle_aes128
        case 24: nettle_aes192
        default: nettle_aes256
        }
    }

    /// Returns the function that sets a key, such as `aes128_set_decrypt_key`, after checking that none is missing.
    func keySetter(_ direction: CipherDirection) throws(DecryptionError) -> nettle_set_key_func {
        guard encrypt != nil, decrypt != nil, let set = direction == .encrypt ? set_encrypt_key : set_decrypt_key else {
            throw .backend(name: "nettle", operation: "nettle_cipher", reason: "no functions for AES")
        }
        return set
    }
}

/// Memory for the library's data derived from a key, erased when it is freed.
final class NettleMemory {
    let start: UnsafeMutableRawPointer
    private let byteCount: Int

    init(byteCount: Int) {
        (start, self.byteCount) = (.allocate(byteCount: byteCount, alignment: 16), byteCount)
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(start: start, count: byteCount))
        start.deallocate()
        eraseStack()
    }
}

extension CipherSupport {
    /// Returns the length of a message without its tag.
    func textByteCount(
        of input: UnsafeRawBufferPointer, _ direction: CipherDirection
    ) throws(DecryptionError) -> Int {
        let count = direction == .encrypt ? input.count : input.count - cipher.tagByteCount
        guard count >= 0 else {
            throw .backend(name: "nettle", operation: cipher.rawValue, reason: "only \(input.count) bytes")
        }
        return count
    }

    /// Returns whether a message ends with the tag that `write` writes; the tag starts at an offset.
    func isTag(
        _ input: UnsafeRawBufferPointer, from offset: Int, write: (UnsafeMutablePointer<UInt8>?) -> Void
    ) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: cipher.tagByteCount, alignment: 16) { tag in
            write(tag.assumingMemoryBound(to: UInt8.self).baseAddress)
            return isEqualInConstantTime(
                UnsafeRawBufferPointer(tag), UnsafeRawBufferPointer(rebasing: input[offset...]))
        }
    }
}

/// A `nettle_cipher` with its key schedule; each stretch has its own copy of the IV or counter.
final class NettleContext: CipherContext {
    private let schedule: NettleMemory
    private let cipher: nettle_cipher
    private let support: CipherSupport
    private let direction: CipherDirection

    /// The corresponding C functions are those of `nettle_aes128`, `nettle_aes192` and `nettle_aes256`, such as
    /// `aes128_set_decrypt_key`.
    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        cipher = .aes(keyByteCount: key.byteCount)
        (self.support, self.direction) = (support, direction)
        // In counter mode, both directions encrypt the counters.
        let setKey = try cipher.keySetter(support.cipher == .aesCBC ? direction : .encrypt)
        schedule = NettleMemory(byteCount: Int(cipher.context_size))
        key.withUnsafeBytes { setKey(schedule.start, $0.assumingMemoryBound(to: UInt8.self).baseAddress) }
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
            let context = UnsafeRawPointer(schedule.start)
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
    private let schedules: NettleMemory
    private let cipher: nettle_cipher
    private let support: CipherSupport
    private let direction: CipherDirection

    /// The corresponding C functions are those of `nettle_aes128` and `nettle_aes256`. Source: IEEE 1619-2007, section
    /// 5.1, for the halves of the key.
    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        cipher = .aes(keyByteCount: key.byteCount / 2)
        (self.support, self.direction) = (support, direction)
        let (setKey, setTweakKey) = (try cipher.keySetter(direction), try cipher.keySetter(.encrypt))
        let byteCount = Int(cipher.context_size)
        schedules = NettleMemory(byteCount: 2 * byteCount)
        key.withUnsafeBytes {
            let start = $0.assumingMemoryBound(to: UInt8.self).baseAddress
            setKey(schedules.start, start)
            setTweakKey(schedules.start + byteCount, start.map { $0 + key.byteCount / 2 })
        }
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
        let blocks = UnsafeRawPointer(schedules.start)
        let tweaks = blocks + Int(cipher.context_size)
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
    private let state: NettleMemory
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
        (self.cipher, self.support, self.direction) = (cipher, support, direction)
        state = NettleMemory(byteCount: Int(cipher.context_size))
        key.withUnsafeBytes { setKey(state.start, $0.assumingMemoryBound(to: UInt8.self).baseAddress) }
    }

    /// The corresponding C functions are `gcm_aes128_set_iv` or `chacha_poly1305_set_nonce`, and those of the
    /// `nettle_aead`, such as `gcm_aes128_update`, `gcm_aes128_decrypt`, `gcm_aes128_encrypt` and `gcm_aes128_digest`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "nettle")
        let count = try support.textByteCount(of: input, direction)
        let start = nonce.assumingMemoryBound(to: UInt8.self).baseAddress
        if support.cipher == .aesGCM {
            // Valid for any key length: the members that it sets come before the key schedule. Source: `GCM_CTX` of
            // nettle/gcm.h.
            nettle_gcm_aes128_set_iv(
                state.start.assumingMemoryBound(to: gcm_aes128_ctx.self), nonce.count, start)
        } else {
            nettle_chacha_poly1305_set_nonce(
                state.start.assumingMemoryBound(to: chacha_poly1305_ctx.self), start)
        }
        if associatedData.count > 0 {
            cipher.update(
                state.start, associatedData.count,
                associatedData.assumingMemoryBound(to: UInt8.self).baseAddress)
        }
        if count > 0, let source = input.assumingMemoryBound(to: UInt8.self).baseAddress {
            let crypt = direction == .encrypt ? cipher.encrypt : cipher.decrypt
            crypt?(state.start, count, output.assumingMemoryBound(to: UInt8.self), source)
        }
        func writeTag(to tag: UnsafeMutablePointer<UInt8>?) {
            cipher.digest(state.start, support.cipher.tagByteCount, tag)
        }
        guard direction == .decrypt else {
            writeTag(to: output.assumingMemoryBound(to: UInt8.self) + count)
            return true
        }
        return support.isTag(input, from: count, write: writeTag)
    }
}
