import COpenSSL
import RandomAccess

/// An `HMAC_CTX` with its states under the key.
final class OpenSSLMAC: MACContext {
    private let handle: OpaquePointer

    /// The corresponding C functions are `HMAC_CTX_new` and `HMAC_Init_ex`.
    init(_ function: HashFunction, key: SecretKey) throws(DecryptionError) {
        guard let handle = HMAC_CTX_new() else { throw OpenSSLFailure.error(in: "HMAC_CTX_new") }
        self.handle = handle
        let digest =
            switch function {
            case .sha1: EVP_sha1()
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        let result = key.withUnsafeBytes { HMAC_Init_ex(handle, $0.baseAddress, Int32($0.count), digest, nil) }
        try OpenSSLFailure.check(result, in: "HMAC_Init_ex")
    }

    deinit {
        // It erases the states, too.
        HMAC_CTX_free(handle)
        eraseStack()
    }

    /// The corresponding C functions are `HMAC_Init_ex`, `HMAC_Update` and `HMAC_Final`.
    func makeCode(
        of before: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer, _ behind: UnsafeRawBufferPointer,
        into code: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        try OpenSSLFailure.check(HMAC_Init_ex(handle, nil, 0, nil, nil), in: "HMAC_Init_ex")
        try update(before)
        try update(data)
        try update(behind)
        try OpenSSLFailure.check(
            HMAC_Final(handle, code.assumingMemoryBound(to: UInt8.self).baseAddress, nil), in: "HMAC_Final")
    }

    private func update(_ piece: UnsafeRawBufferPointer) throws(DecryptionError) {
        guard let start = piece.assumingMemoryBound(to: UInt8.self).baseAddress, piece.count > 0 else { return }
        try OpenSSLFailure.check(HMAC_Update(handle, start, piece.count), in: "HMAC_Update")
    }
}
