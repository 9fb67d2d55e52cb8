import COpenSSL
import CSodium
import OpenSSLBackend
package import RandomAccess
import SodiumBackend
import Support

/// The cost of scrypt. Source: RFC 7914, section 2.
package struct ScryptCost: Hashable, Sendable {
    /// N, r and p.
    let blockCount: UInt64, blockSize: UInt64, parallelization: UInt64

    /// The max work: 2²² blocks of 1 KiB, 4 GiB. Untrusted files choose the cost of reading them.
    package static let maxWork: UInt64 = (1 << 22) * 8

    /// A cost with the parameters of scrypt.
    ///
    /// - Parameters:
    ///   - n: The cost N, a power of 2.
    ///   - r: The size of a block, in 128 bytes.
    ///   - p: The parallelization.
    ///   - maxWork: The max product of N, r and p, up to ``maxWork``.
    /// - Throws: `FormatKeyError` for an invalid or excessive cost.
    package init(
        n: UInt64, r: UInt64, p: UInt64, maxWork: UInt64 = Self.maxWork
    ) throws(DecryptionError) {
        let isPossible = n > 1 && n & (n - 1) == 0 && r > 0 && p > 0
        let (first, overflows) = n.multipliedReportingOverflow(by: r)
        let (work, overflowsAgain) = first.multipliedReportingOverflow(by: p)
        let limit = min(maxWork, Self.maxWork)
        guard isPossible, !overflows, !overflowsAgain, work <= limit else {
            throw .noKey(
                "scrypt", "with N \(n), r \(r), p \(p)",
                expected: "N a power of 2, and N · r · p at most \(limit) (\(ByteSize(128 * limit)) of memory)")
        }
        (blockCount, blockSize, parallelization) = (n, r, p)
    }
}

/// Keys from passwords: scrypt by libsodium, since OpenSSL's libcrypto leaves the salt in memory, which may be a
/// password; the others by libcrypto.
extension SecretKey {
    /// Derives a key from this password by scrypt.
    package func scrypt(salt: [UInt8], _ cost: ScryptCost, byteCount: Int) throws(DecryptionError) -> SecretKey {
        try ByteString(salt).withUnsafeBytes { (salt) throws(DecryptionError) in
            try scrypt(salt: salt, cost, byteCount: byteCount)
        }
    }

    /// Derives a key from this password by scrypt, with a salt that may be secret, too. The corresponding C function is
    /// `crypto_pwhash_scryptsalsa208sha256_ll`.
    func scrypt(
        salt: UnsafeRawBufferPointer, _ cost: ScryptCost, byteCount: Int
    ) throws(DecryptionError) -> SecretKey {
        // Without the initialisation, libsodium does not know the processor, and takes its slowest code.
        _ = try Sodium()
        return try SecretKey(byteCount: byteCount) { (output) throws(DecryptionError) in
            let result = withUnsafeBytes { password -> Int32 in
                guard let saltStart = salt.assumingMemoryBound(to: UInt8.self).baseAddress,
                    let password = password.assumingMemoryBound(to: UInt8.self).baseAddress,
                    let start = output.assumingMemoryBound(to: UInt8.self).baseAddress
                else { return -1 }
                return crypto_pwhash_scryptsalsa208sha256_ll(
                    password, self.byteCount, saltStart, salt.count, cost.blockCount, UInt32(clamping: cost.blockSize),
                    UInt32(clamping: cost.parallelization), start, output.count)
            }
            guard result == 0 else {
                throw .backend(
                    name: "sodium", operation: "crypto_pwhash_scryptsalsa208sha256_ll",
                    reason: "it returned \(result): expected 0; there may be no memory")
            }
        }
    }

    /// Derives a key from this password by PBKDF2. The corresponding C function is `PKCS5_PBKDF2_HMAC`.
    func pbkdf2(
        _ digest: OpaquePointer, salt: [UInt8], iterationCount: Int32, byteCount: Int
    ) throws(DecryptionError) -> SecretKey {
        try derived(byteCount: byteCount, "PKCS5_PBKDF2_HMAC") { password, output in
            PKCS5_PBKDF2_HMAC(
                password.assumingMemoryBound(to: CChar.self).baseAddress, Int32(password.count), salt,
                Int32(salt.count), iterationCount, digest, Int32(output.count), output.baseAddress)
        }
    }

    /// Derives an AES key, followed by an IV, from this password with one iteration. The corresponding C function is
    /// `EVP_BytesToKey`.
    ///
    /// - Precondition: `keyByteCount` is 16, 24 or 32.
    func bytesToKey(_ digest: OpaquePointer, salt: [UInt8], keyByteCount: Int) throws(DecryptionError) -> SecretKey {
        precondition(salt.count == PKCS5_SALT_LEN, "a salt of \(salt.count) bytes")
        let ciphers = [16: EVP_aes_128_cbc(), 24: EVP_aes_192_cbc(), 32: EVP_aes_256_cbc()]
        guard let cipher = ciphers[keyByteCount] else { preconditionFailure("a key of \(keyByteCount) bytes") }
        return try derived(byteCount: keyByteCount + Block.byteCount, "EVP_BytesToKey") { password, output in
            let iv = output.baseAddress.map { $0 + keyByteCount }
            let count = EVP_BytesToKey(
                cipher, digest, salt, password.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(password.count),
                1,
                output.baseAddress, iv)
            return count == keyByteCount ? 1 : 0
        }
    }

    /// Derives a key with a C function that returns 1 for success.
    private func derived(
        byteCount: Int, _ function: String,
        _ body: (UnsafeRawBufferPointer, UnsafeMutableBufferPointer<UInt8>) -> Int32
    ) throws(DecryptionError) -> SecretKey {
        try SecretKey(byteCount: byteCount) { (output) throws(DecryptionError) in
            let result = withUnsafeBytes { body($0, output.assumingMemoryBound(to: UInt8.self)) }
            try OpenSSLFailure.check(result, in: function)
        }
    }
}
