import OpenSSLBackend
package import RandomAccess

extension AgeHeader {
    /// Unwraps the file key.
    ///
    /// - Parameter identities: X25519 keys, each of which may match any stanza.
    /// - Returns: The file key.
    /// - Throws: `FormatKeyError` if no identity opens a stanza; `.backend`.
    package func fileKey(identities: [SecretKey]) throws(DecryptionError) -> SecretKey {
        try requireScryptAlone()
        let backend = try OpenSSL()
        let publicKeys = identities.map(X25519.publicKey(of:))
        for stanza in stanzas where stanza.type == "X25519" {
            guard stanza.arguments.count == 2, let share = Digits.bytes(stanza.arguments[1].utf8),
                share.count == X25519.byteCount
            else { throw Self.malformed(stanza, expected: "43 digits of Base64 behind it") }
            try Self.checkBody(stanza)
            for (identity, publicKey) in zip(identities, publicKeys) {
                guard let secret = try X25519.secret(of: identity, with: share) else {
                    throw Self.malformed(stanza, expected: "a public key that makes a secret")
                }
                let wrapKey = try secret.derived(
                    salt: share + publicKey, info: "age-encryption.org/v1/X25519", byteCount: 32)
                if let fileKey = try Self.fileKey(in: stanza, wrapKey, backend) { return fileKey }
            }
        }
        let count = "\(identities.count) \(identities.count == 1 ? "identity" : "identities")"
        throw .noKey(
            "no stanza", "of \(stanzas.count) (\(types)) is opened by \(count)",
            expected: "the identity of a recipient"
                + (stanzas.contains { $0.type == "scrypt" } ? "; of scrypt, the passphrase in --password-file" : ""))
    }

    /// Refuses a stanza of scrypt beside others: the file could be by anyone who knows the passphrase.
    ///
    /// - Source: age-encryption.org/v1, "The scrypt recipient type".
    private func requireScryptAlone() throws(DecryptionError) {
        guard stanzas.count == 1 || !stanzas.contains(where: { $0.type == "scrypt" }) else {
            throw .noKey("a stanza", "of scrypt is not the only one (\(types))", expected: "no other beside it")
        }
    }

    /// Unwraps the file key.
    ///
    /// - Parameters:
    ///   - passphrase: The passphrase.
    ///   - maxWork: The max product of N, r and p for scrypt.
    /// - Returns: The file key.
    /// - Throws: `FormatKeyError` if the passphrase is wrong, if scrypt would cost too much, or if the header was
    ///   changed; `.backend`.
    package func fileKey(
        passphrase: SecretKey, maxWork: UInt64 = ScryptCost.maxWork
    ) throws(DecryptionError) -> SecretKey {
        guard let stanza = stanzas.first(where: { $0.type == "scrypt" }) else {
            throw .noKey(
                "no stanza", "of \(stanzas.count) (\(types)) has a passphrase",
                expected: "scrypt, or, for X25519, --identity")
        }
        try requireScryptAlone()
        guard stanza.arguments.count == 3, let salt = Digits.bytes(stanza.arguments[1].utf8), salt.count == 16 else {
            throw Self.malformed(stanza, expected: "22 digits of Base64 and a number behind it")
        }
        try Self.checkBody(stanza)
        // Written without a sign or leading zeros; a longer number would cost too much.
        let logarithm = stanza.arguments[2]
        guard logarithm.count <= 2, let exponent = UInt64(logarithm), "\(exponent)" == logarithm, 1...22 ~= exponent
        else {
            throw .noKey(
                "the work factor", "of scrypt is 2^\(logarithm.prefix(20))",
                expected: "2^1 to 2^22, which takes 4 GiB of memory")
        }
        let wrapKey = try passphrase.scrypt(
            salt: Array("age-encryption.org/v1/scrypt".utf8) + salt,
            ScryptCost(n: 1 << exponent, r: 8, p: 1, maxWork: maxWork), byteCount: 32)
        guard let fileKey = try Self.fileKey(in: stanza, wrapKey, OpenSSL()) else {
            throw .noKey("the passphrase", "does not open the stanza", expected: "that of the file, unchanged")
        }
        return fileKey
    }

    private static let fileKeyByteCount = 16

    private static func fileKey(
        in stanza: Stanza, _ wrapKey: SecretKey, _ backend: OpenSSL
    ) throws(DecryptionError) -> SecretKey? {
        try wrapKey.unwrapped(stanza.body, by: backend, .chaCha20Poly1305, nonce: Array(repeating: 0, count: 12))
    }

    private static func checkBody(_ stanza: Stanza) throws(DecryptionError) {
        // With another length, one ciphertext could have two keys.
        guard stanza.body.count == fileKeyByteCount + Cipher.chaCha20Poly1305.tagByteCount else {
            throw malformed(stanza, expected: "a body of 32 bytes")
        }
    }

    private static func malformed(_ stanza: Stanza, expected: String) -> DecryptionError {
        .noKey("a stanza", "of \(stanza.type) is malformed", expected: expected)
    }
}

/// Identities of age, in the notation of `age-keygen`.
package enum AgeIdentities {
    private static let prefix = "AGE-SECRET-KEY-1"
    private static let expectation = "\(prefix) and 58 characters behind it, as age-keygen writes it"

    /// Parses the content of an identity file.
    ///
    /// - Parameter text: Lines, each of which is an identity, empty, or a comment behind `#`.
    /// - Returns: The X25519 keys.
    /// - Throws: `FormatKeyError` if there is no identity, or other content.
    package static func keys(in text: UnsafeRawBufferPointer) throws(DecryptionError) -> [SecretKey] {
        var keys: [SecretKey] = []
        for (index, line) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let line = line.last == 0x0D ? line.dropLast() : line
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            guard line.starts(with: prefix.utf8) else {
                let isEncrypted =
                    index == 0
                    && (line.starts(with: "age-encryption.org/".utf8) || line.starts(with: "-----BEGIN AGE".utf8))
                throw .noKey(
                    "line \(index + 1)", isEncrypted ? "is that of an encrypted file" : "is no identity of X25519",
                    expected: isEncrypted ? "identities, as age -d decrypts them" : expectation)
            }
            let digits = line.dropFirst(prefix.utf8.count)
            guard digits.count == 58, digits.allSatisfy(Digits.bech32.contains) else {
                throw .noKey("line \(index + 1)", "is no whole identity", expected: expectation)
            }
            guard checksum(digits) == 1 else {
                throw .noKey("line \(index + 1)", "is an identity with another checksum", expected: expectation)
            }
            keys.append(
                try SecretKey(byteCount: X25519.byteCount) { (output) throws(DecryptionError) in
                    guard Digits.decode(digits.dropLast(6), Digits.bech32, into: output) else {
                        throw .noKey("line \(index + 1)", "is an identity with bits left over", expected: expectation)
                    }
                })
        }
        guard !keys.isEmpty else { throw .noKey("no identity", "is in it", expected: "lines of \(expectation)") }
        return keys
    }

    /// Returns the checksum of Bech32; it is 1 for a valid identity. Source: BIP 173, "Checksum".
    private static func checksum(_ digits: some Collection<UInt8>) -> UInt32 {
        var sum: UInt32 = 1
        func add(_ value: UInt8) {
            let top = sum >> 25
            sum = (sum & 0x1FF_FFFF) << 5 ^ UInt32(value)
            let polynomial: [UInt32] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3]
            for (bit, value) in polynomial.enumerated() where top >> bit & 1 == 1 { sum ^= value }
        }
        let name = Array("age-secret-key-".utf8)
        for character in name { add(character >> 5) }
        add(0)
        for character in name { add(character & 31) }
        for digit in digits { add(UInt8(Digits.bech32.firstIndex(of: digit) ?? 0)) }
        return sum
    }
}
