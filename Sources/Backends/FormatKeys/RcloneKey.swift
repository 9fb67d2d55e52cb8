import OpenSSLBackend
package import RandomAccess

/// The key of a remote of type `crypt` in rclone.
///
/// - Source: rclone.org/crypt, "Key derivation"; rclone, `backend/crypt/cipher.go` and `fs/config/obscure`.
package enum RcloneKey {
    private static let salt: [UInt8] = [
        0xA8, 0x0D, 0xF4, 0x3A, 0x8F, 0xBD, 0x03, 0x08, 0xA7, 0xCA, 0xB8, 0x3E, 0x58, 0x1F, 0x86, 0xB1,
    ]
    /// The public key with which rclone obscures passwords.
    private static let obscuringKey: [UInt8] = [
        0x9C, 0x93, 0x5B, 0x48, 0x73, 0x0A, 0x55, 0x4D, 0x6B, 0xFD, 0x7C, 0x63, 0xC8, 0x86, 0xA9, 0x2B,
        0xD3, 0x90, 0x19, 0x8E, 0xB8, 0x12, 0x8A, 0xFB, 0xF4, 0xDE, 0x16, 0x2B, 0x8B, 0x95, 0xF6, 0x38,
    ]

    /// Derives the key of the files' content: the first 32 of 80 bytes; the others are for file names.
    ///
    /// - Parameters:
    ///   - password: The remote's `password`.
    ///   - secondPassword: Its `password2`; `nil` for rclone's own salt.
    /// - Returns: The key.
    /// - Throws: `DecryptionError.backend`.
    package static func key(password: SecretKey, secondPassword: SecretKey?) throws(DecryptionError) -> SecretKey {
        let cost = try ScryptCost(n: 1 << 14, r: 8, p: 1)
        guard let secondPassword else { return try password.scrypt(salt: salt, cost, byteCount: 32) }
        return try secondPassword.withUnsafeBytes { (salt) throws(DecryptionError) in
            try password.scrypt(salt: salt, cost, byteCount: 32)
        }
    }

    /// Decodes an obscured password of `rclone.conf`: an IV and the password in AES-CTR, in Base64.
    ///
    /// - Throws: `FormatKeyError` for any other text.
    package static func revealed(_ password: SecretKey) throws(DecryptionError) -> SecretKey {
        try password.withUnsafeBytes { (text) throws(DecryptionError) in
            let none = DecryptionError.noKey(
                "the password", "is not obscured", expected: "what rclone obscure prints, at least 22 digits of Base64")
            guard let count = Digits.byteCount(of: text.count, Digits.base64URL), count > Block.byteCount else {
                throw none
            }
            let decoded = try SecretKey(byteCount: count) { (output) throws(DecryptionError) in
                guard Digits.decode(text, Digits.base64URL, into: output) else { throw none }
            }
            let context = try OpenSSL().makeContext(.aesCTR, .decrypt, key: SecretKey(obscuringKey))
            return try SecretKey(byteCount: count - Block.byteCount) { (output) throws(DecryptionError) in
                try decoded.withUnsafeBytes { (bytes) throws(DecryptionError) in
                    output.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[Block.byteCount...]))
                    let iv = UnsafeRawBufferPointer(rebasing: bytes[..<Block.byteCount])
                    guard let start = output.baseAddress else { return }
                    _ = try context.process(UnsafeRawBufferPointer(output), into: start, nonce: iv)
                }
            }
        }
    }
}
