import OpenSSLBackend
package import RandomAccess
import Support

/// The master key of a gocryptfs file system.
///
/// - Source: gocryptfs, `internal/configfile` and `internal/cryptocore`; gocryptfs(1), `-masterkey` and `-zerokey`.
package enum GocryptfsKey {
    private static let byteCount = 32

    /// Returns the key of `-zerokey`, for tests.
    package static func zero() throws(DecryptionError) -> SecretKey {
        try SecretKey(Array(repeating: 0, count: byteCount))
    }

    /// Parses a master key as gocryptfs prints it: 64 hexadecimal digits, mixed with hyphens and white space.
    ///
    /// - Throws: `FormatKeyError` for any other text.
    package static func key(in text: UnsafeRawBufferPointer) throws(DecryptionError) -> SecretKey {
        let alphabets = ["0123456789abcdef", "0123456789ABCDEF"].map { Array($0.utf8) }
        let digits = text.lazy.filter { !"- \t\r\n".utf8.contains($0) }
        for alphabet in alphabets {
            var isKey = false
            let key = try SecretKey(byteCount: byteCount) { isKey = Digits.decode(digits, alphabet, into: $0) }
            if isKey { return key }
        }
        throw .noKey("the master key", "is not one", expected: "64 hexadecimal digits, with or without hyphens")
    }

    /// Unwraps the master key in a configuration file.
    ///
    /// - Parameters:
    ///   - configuration: The content of `gocryptfs.conf`.
    ///   - password: The password.
    ///   - maxWork: The max product of N, r and p for scrypt.
    /// - Returns: The master key.
    /// - Throws: `FormatKeyError` if the configuration is invalid, if scrypt would cost too much, or if the password is
    ///   wrong; `DecryptionError.unsupported` for a key that depends on a device; `.backend`.
    package static func key(
        configuration: [UInt8], password: SecretKey, maxWork: UInt64 = ScryptCost.maxWork
    ) throws(DecryptionError) -> SecretKey {
        guard let json = JSONValue.parse(configuration), let scrypt = json["ScryptObject"],
            let wrapped = bytes(json["EncryptedKey"]), let salt = bytes(scrypt["Salt"]),
            let n = scrypt["N"]?.integer, let r = scrypt["R"]?.integer, let p = scrypt["P"]?.integer,
            scrypt["KeyLen"]?.integer == UInt64(byteCount)
        else {
            throw .noKey(
                "the configuration", "is not one of gocryptfs",
                expected: "EncryptedKey, and a ScryptObject with Salt, N, R, P and a KeyLen of 32")
        }
        let flags = (json["FeatureFlags"]?.array ?? []).compactMap(\.string)
        guard !flags.contains("FIDO2") else {
            throw .unsupported("a master key that depends on a FIDO2 device: expected one of a password alone")
        }
        let isDerived = flags.contains("HKDF")
        let nonceByteCount = isDerived ? 16 : 12
        guard wrapped.count == nonceByteCount + byteCount + Cipher.aesGCM.tagByteCount else {
            throw .noKey(
                "EncryptedKey", "has \(wrapped.count) bytes", expected: "a nonce of \(nonceByteCount), a key and a tag")
        }
        let cost = try ScryptCost(n: n, r: r, p: p, maxWork: maxWork)
        var wrapKey = try password.scrypt(salt: salt, cost, byteCount: byteCount)
        if isDerived {
            wrapKey = try wrapKey.derived(salt: [], info: "AES-GCM file content encryption", byteCount: byteCount)
        }
        let key = try wrapKey.unwrapped(
            Array(wrapped[nonceByteCount...]), by: OpenSSL(), .aesGCM, nonce: Array(wrapped[..<nonceByteCount]),
            associatedData: Array(repeating: 0, count: 8))
        guard let key else {
            throw .noKey("the password", "does not open EncryptedKey", expected: "that of the file system, unchanged")
        }
        return key
    }

    /// Decodes Base64 with padding, for values that are not secret.
    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        guard let text = value?.string, text.utf8.count % 4 == 0 else { return nil }
        let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        return text.utf8.count - digits.count < 3 ? Digits.bytes(Array(digits)) : nil
    }
}
