internal import CNettle
internal import RandomAccess

/// The states of Nettle's HMAC under a key.
final class NettleMAC: MACContext {
    private let function: HashFunction
    /// SHA-384 has the states of SHA-512.
    private let short: UnsafeMutablePointer<hmac_sha256_ctx>?
    private let long: UnsafeMutablePointer<hmac_sha512_ctx>?

    /// The corresponding C functions are `hmac_sha256_set_key`, `hmac_sha384_set_key` and `hmac_sha512_set_key`.
    init(_ function: HashFunction, key: SecretKey) {
        self.function = function
        short = function == .sha256 ? .allocate(capacity: 1) : nil
        long = function == .sha256 ? nil : .allocate(capacity: 1)
        short?.initialize(to: hmac_sha256_ctx())
        long?.initialize(to: hmac_sha512_ctx())
        key.withUnsafeBytes { bytes in
            let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            switch function {
            case .sha256: nettle_hmac_sha256_set_key(short, bytes.count, start)
            case .sha384: nettle_hmac_sha384_set_key(long, bytes.count, start)
            case .sha512: nettle_hmac_sha512_set_key(long, bytes.count, start)
            }
        }
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(start: short, count: short == nil ? 0 : 1)))
        eraseBytes(UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(start: long, count: long == nil ? 0 : 1)))
        short?.deallocate()
        long?.deallocate()
        eraseStack()
    }

    /// The corresponding C functions are `hmac_sha256_update` and `hmac_sha256_digest`, and those of the other
    /// functions. A digest sets the state back to the key's.
    func makeCode(
        of before: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer, _ behind: UnsafeRawBufferPointer,
        into code: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        update(before)
        update(data)
        update(behind)
        let (count, output) = (function.digestByteCount, code.assumingMemoryBound(to: UInt8.self).baseAddress)
        switch function {
        case .sha256: nettle_hmac_sha256_digest(short, count, output)
        case .sha384: nettle_hmac_sha384_digest(long, count, output)
        case .sha512: nettle_hmac_sha512_digest(long, count, output)
        }
    }

    private func update(_ piece: UnsafeRawBufferPointer) {
        guard let start = piece.assumingMemoryBound(to: UInt8.self).baseAddress, piece.count > 0 else { return }
        if function == .sha256 {
            nettle_hmac_sha256_update(short, piece.count, start)
        } else {
            nettle_hmac_sha512_update(long, piece.count, start)
        }
    }
}
