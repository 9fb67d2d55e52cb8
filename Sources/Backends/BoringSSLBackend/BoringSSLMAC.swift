#if BoringSSL
internal import Crypto
internal import RandomAccess

/// Returns a context for HMAC with a hash function.
func makeBoringSSLMAC(_ function: RandomAccess.HashFunction, key: SecretKey) -> any MACContext {
    switch function {
    case .sha1: BoringSSLMAC<Insecure.SHA1>(key: key)
    case .sha256: BoringSSLMAC<SHA256>(key: key)
    case .sha384: BoringSSLMAC<SHA384>(key: key)
    case .sha512: BoringSSLMAC<SHA512>(key: key)
    }
}

/// A key for swift-crypto's HMAC, with its states under the key.
private final class BoringSSLMAC<Function: Crypto.HashFunction>: MACContext {
    private let start: HMAC<Function>

    /// The corresponding function is `HMAC.init(key:)`.
    init(key: SecretKey) {
        start = HMAC(key: key.withUnsafeBytes { SymmetricKey(data: $0) })
    }

    deinit { eraseStack() }

    /// The corresponding functions are `HMAC.update(data:)` and `HMAC.finalize()`, on a copy of the states.
    func makeCode(
        of before: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer, _ behind: UnsafeRawBufferPointer,
        into code: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        var message = start
        message.update(data: before)
        message.update(data: data)
        message.update(data: behind)
        message.finalize().withUnsafeBytes { code.copyMemory(from: $0) }
    }
}
#endif
