internal import CNettle
internal import RandomAccess

/// The states of Nettle's HMAC under a key.
final class NettleMAC: MACContext {
    private let function: HashFunction
    /// An `hmac_sha1_ctx`, `hmac_sha256_ctx` or `hmac_sha512_ctx`; SHA-384 uses that of SHA-512.
    private let state: UnsafeMutableRawBufferPointer

    private var sha1: UnsafeMutablePointer<hmac_sha1_ctx>? { pointer() }
    private var sha256: UnsafeMutablePointer<hmac_sha256_ctx>? { pointer() }
    private var sha512: UnsafeMutablePointer<hmac_sha512_ctx>? { pointer() }

    private func pointer<State>() -> UnsafeMutablePointer<State>? {
        state.baseAddress?.assumingMemoryBound(to: State.self)
    }

    /// The corresponding C functions are `hmac_sha1_set_key` and those of the other functions.
    init(_ function: HashFunction, key: SecretKey) {
        self.function = function
        state = .allocate(byteCount: MemoryLayout<hmac_sha512_ctx>.size, alignment: 16)
        state.initializeMemory(as: UInt8.self, repeating: 0)
        key.withUnsafeBytes { bytes in
            let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            switch function {
            case .sha1: nettle_hmac_sha1_set_key(sha1, bytes.count, start)
            case .sha256: nettle_hmac_sha256_set_key(sha256, bytes.count, start)
            case .sha384: nettle_hmac_sha384_set_key(sha512, bytes.count, start)
            case .sha512: nettle_hmac_sha512_set_key(sha512, bytes.count, start)
            }
        }
    }

    deinit {
        eraseBytes(state)
        state.deallocate()
        eraseStack()
    }

    /// The corresponding C functions are `hmac_sha1_update` and `hmac_sha1_digest`, and those of the other functions. A
    /// digest resets the state to the key's.
    func makeCode(
        of before: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer, _ behind: UnsafeRawBufferPointer,
        into code: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        update(before)
        update(data)
        update(behind)
        let (count, output) = (function.digestByteCount, code.assumingMemoryBound(to: UInt8.self).baseAddress)
        switch function {
        case .sha1: nettle_hmac_sha1_digest(sha1, count, output)
        case .sha256: nettle_hmac_sha256_digest(sha256, count, output)
        case .sha384: nettle_hmac_sha384_digest(sha512, count, output)
        case .sha512: nettle_hmac_sha512_digest(sha512, count, output)
        }
    }

    private func update(_ piece: UnsafeRawBufferPointer) {
        guard let start = piece.assumingMemoryBound(to: UInt8.self).baseAddress, piece.count > 0 else { return }
        switch function {
        case .sha1: nettle_hmac_sha1_update(sha1, piece.count, start)
        case .sha256: nettle_hmac_sha256_update(sha256, piece.count, start)
        case .sha384, .sha512: nettle_hmac_sha512_update(sha512, piece.count, start)
        }
    }
}
