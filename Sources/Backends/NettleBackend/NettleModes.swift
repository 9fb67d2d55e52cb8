import CNettle
import RandomAccess

/// EAX over a `nettle_cipher`, with its masks and its key schedule; each message sets its nonce.
final class NettleEAXContext: CipherContext {
    private let memory: NettleMemory
    private let key: UnsafeMutablePointer<eax_key>
    private let state: UnsafeMutablePointer<eax_ctx>
    private let schedule: UnsafeMutableRawPointer
    private let cipher: nettle_cipher
    private let support: CipherSupport
    private let direction: CipherDirection

    /// The corresponding C functions are `eax_set_key` and those of the `nettle_cipher`.
    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        let cipher = nettle_cipher.aes(keyByteCount: key.byteCount)
        let setKey = try cipher.keySetter(.encrypt)
        (self.cipher, self.support, self.direction) = (cipher, support, direction)
        let (keySize, stateSize) = (MemoryLayout<eax_key>.stride, MemoryLayout<eax_ctx>.stride)
        memory = NettleMemory(byteCount: keySize + stateSize + Int(cipher.context_size))
        self.key = memory.start.bindMemory(to: eax_key.self, capacity: 1)
        state = (memory.start + keySize).bindMemory(to: eax_ctx.self, capacity: 1)
        schedule = memory.start + keySize + stateSize
        key.withUnsafeBytes { setKey(schedule, $0.assumingMemoryBound(to: UInt8.self).baseAddress) }
        nettle_eax_set_key(self.key, schedule, cipher.encrypt)
    }

    /// The corresponding C functions are `eax_set_nonce`, `eax_update`, `eax_encrypt` or `eax_decrypt`, and
    /// `eax_digest`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "nettle")
        let count = try support.textByteCount(of: input, direction)
        func start(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
            bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        }
        nettle_eax_set_nonce(state, key, schedule, cipher.encrypt, nonce.count, start(nonce))
        if associatedData.count > 0 {
            nettle_eax_update(state, key, schedule, cipher.encrypt, associatedData.count, start(associatedData))
        }
        let destination = output.assumingMemoryBound(to: UInt8.self)
        switch direction {
        case _ where count == 0: break
        case .encrypt: nettle_eax_encrypt(state, key, schedule, cipher.encrypt, count, destination, start(input))
        case .decrypt: nettle_eax_decrypt(state, key, schedule, cipher.encrypt, count, destination, start(input))
        }
        let tagByteCount = support.cipher.tagByteCount
        if direction == .encrypt {
            nettle_eax_digest(state, key, schedule, cipher.encrypt, tagByteCount, destination + count)
            return true
        }
        return support.isTag(input, from: count) {
            nettle_eax_digest(state, key, schedule, cipher.encrypt, tagByteCount, $0)
        }
    }
}

/// SIV over a `nettle_cipher`, with its key schedules. The library puts the tag in front of the ciphertext, so that a
/// message has to be moved or copied.
final class NettleSIVContext: CipherContext {
    private let memory: NettleMemory
    private let cipher: UnsafeMutablePointer<nettle_cipher>
    private let support: CipherSupport
    private let direction: CipherDirection

    /// The corresponding C function is `siv_cmac_set_key`.
    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        let cipher = nettle_cipher.aes(keyByteCount: key.byteCount / 2)
        memory = NettleMemory(byteCount: MemoryLayout<cmac128_key>.stride + 2 * Int(cipher.context_size))
        self.cipher = .allocate(capacity: 1)
        self.cipher.initialize(to: cipher)
        (self.support, self.direction) = (support, direction)
        key.withUnsafeBytes {
            nettle_siv_cmac_set_key(
                subkeys, hashSchedule, counterSchedule, self.cipher,
                $0.assumingMemoryBound(to: UInt8.self).baseAddress)
        }
    }

    deinit { cipher.deallocate() }

    private var subkeys: UnsafeMutablePointer<cmac128_key> {
        memory.start.assumingMemoryBound(to: cmac128_key.self)
    }
    private var hashSchedule: UnsafeMutableRawPointer { memory.start + MemoryLayout<cmac128_key>.stride }
    private var counterSchedule: UnsafeMutableRawPointer { hashSchedule + Int(cipher.pointee.context_size) }

    /// The corresponding C functions are `siv_cmac_encrypt_message` and `siv_cmac_decrypt_message`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "nettle")
        let (count, tagByteCount) = (try support.textByteCount(of: input, direction), support.cipher.tagByteCount)
        let (nonceStart, associatedStart) = (
            nonce.assumingMemoryBound(to: UInt8.self).baseAddress,
            associatedData.assumingMemoryBound(to: UInt8.self).baseAddress
        )
        let destination = output.assumingMemoryBound(to: UInt8.self)
        if direction == .encrypt {
            nettle_siv_cmac_encrypt_message(
                subkeys, hashSchedule, cipher, counterSchedule, nonce.count, nonceStart, associatedData.count,
                associatedStart, count + tagByteCount, destination,
                input.assumingMemoryBound(to: UInt8.self).baseAddress)
            let tag = Block(loadingFrom: UnsafeRawBufferPointer(start: output, count: tagByteCount))
            output.copyMemory(from: output + tagByteCount, byteCount: count)
            tag.store(to: UnsafeMutableRawBufferPointer(start: output + count, count: tagByteCount))
            return true
        }
        let stored = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: input.count)
        defer { stored.deallocate() }
        UnsafeMutableRawBufferPointer(rebasing: stored[..<tagByteCount]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: input[count...]))
        UnsafeMutableRawBufferPointer(rebasing: stored[tagByteCount...]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: input[..<count]))
        return nettle_siv_cmac_decrypt_message(
            subkeys, hashSchedule, cipher, counterSchedule, nonce.count, nonceStart, associatedData.count,
            associatedStart, count, destination, stored.assumingMemoryBound(to: UInt8.self).baseAddress) == 1
    }
}
