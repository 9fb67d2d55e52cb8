import COpenSSL
package import RandomAccess

/// The key and the IV of a file that `openssl enc` encrypted with a password. Source: openssl-enc(1).
package struct OpenSSLEncKey {
    /// The key.
    package let key: SecretKey
    /// The IV, which is derived with it.
    package let iv: [UInt8]

    /// The key and the IV, derived from a password.
    ///
    /// - Parameters:
    ///   - start: The first bytes of the file, at least 16, with the salt.
    ///   - password: The password.
    ///   - digest: The name of a hash function, as for `-md`.
    ///   - iterationCount: The iterations of PBKDF2; `nil` for `EVP_BytesToKey`, as without `-pbkdf2` and `-iter`.
    ///   - keyByteCount: 16, 24 or 32.
    /// - Throws: `FormatKeyError` if the file has no salt; `DecryptionError.unsupported` for a digest that libcrypto
    ///   lacks, `.backend`.
    package init(
        start: [UInt8], password: SecretKey, digest: String, iterationCount: Int32?, keyByteCount: Int
    ) throws(DecryptionError) {
        guard start.count >= 16, start.starts(with: "Salted__".utf8) else {
            throw .noKey("the file", "does not begin with a salt", expected: "Salted__ and 8 bytes")
        }
        guard let method = EVP_get_digestbyname(digest) else {
            throw .unsupported("digest \"\(digest)\" in OpenSSL: expected one that openssl list -digest-commands has")
        }
        let salt = Array(start[8..<16])
        let both =
            if let iterationCount {
                try password.pbkdf2(
                    method, salt: salt, iterationCount: iterationCount, byteCount: keyByteCount + Block.byteCount)
            } else { try password.bytesToKey(method, salt: salt, keyByteCount: keyByteCount) }
        key = try both.withUnsafeBytes { (bytes) throws(DecryptionError) in
            try SecretKey(UnsafeRawBufferPointer(rebasing: bytes[..<keyByteCount]))
        }
        iv = both.withUnsafeBytes { Array($0[keyByteCount...]) }
    }
}
