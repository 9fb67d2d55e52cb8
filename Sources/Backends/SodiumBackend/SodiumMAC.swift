internal import CSodium
internal import RandomAccess

/// The states of libsodium's HMAC under a key.
final class SodiumMAC: MACContext {
    /// The states of the key, and of a message.
    private let short: UnsafeMutableBufferPointer<crypto_auth_hmacsha256_state>
    private let long: UnsafeMutableBufferPointer<crypto_auth_hmacsha512_state>

    /// The corresponding C functions are `crypto_auth_hmacsha256_init` and `crypto_auth_hmacsha512_init`.
    init(_ function: HashFunction, key: SecretKey) {
        short = .allocate(capacity: function == .sha256 ? 2 : 0)
        long = .allocate(capacity: function == .sha256 ? 0 : 2)
        short.initialize(repeating: crypto_auth_hmacsha256_state())
        long.initialize(repeating: crypto_auth_hmacsha512_state())
        key.withUnsafeBytes { bytes in
            guard let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
            if let state = short.baseAddress, !short.isEmpty { crypto_auth_hmacsha256_init(state, start, bytes.count) }
            if let state = long.baseAddress, !long.isEmpty { crypto_auth_hmacsha512_init(state, start, bytes.count) }
        }
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(short))
        eraseBytes(UnsafeMutableRawBufferPointer(long))
        short.deallocate()
        long.deallocate()
        eraseStack()
    }

    /// The corresponding C functions are `crypto_auth_hmacsha256_update` and `crypto_auth_hmacsha256_final`, and those
    /// of SHA-512.
    func makeCode(
        of before: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer, _ behind: UnsafeRawBufferPointer,
        into code: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        guard let output = code.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
        let pieces = (before, data, behind)
        if short.isEmpty {
            long[1] = long[0]
            guard let state = long.baseAddress.map({ $0 + 1 }) else { return }
            Self.each(pieces) { crypto_auth_hmacsha512_update(state, $0, UInt64($1)) }
            crypto_auth_hmacsha512_final(state, output)
        } else {
            short[1] = short[0]
            guard let state = short.baseAddress.map({ $0 + 1 }) else { return }
            Self.each(pieces) { crypto_auth_hmacsha256_update(state, $0, UInt64($1)) }
            crypto_auth_hmacsha256_final(state, output)
        }
    }

    private static func each(
        _ pieces: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer),
        _ update: (UnsafePointer<UInt8>?, Int) -> Int32
    ) {
        func add(_ piece: UnsafeRawBufferPointer) {
            guard piece.count > 0 else { return }
            _ = update(piece.assumingMemoryBound(to: UInt8.self).baseAddress, piece.count)
        }
        add(pieces.0)
        add(pieces.1)
        add(pieces.2)
    }
}
