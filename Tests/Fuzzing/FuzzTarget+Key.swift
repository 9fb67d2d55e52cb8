import FormatKeys
import RandomAccess

extension FuzzTarget {
    /// The files that keys come from, and secrets beside them: headers of age and `openssl enc`, `gocryptfs.conf`,
    /// identities, passwords, and passwords that rclone obscured. Each input is given to all parsers.
    static let key = FuzzTarget(
        "key", "Sources/Backends/FormatKeys", seeds: ["data/interop/age/*.age", "data/interop/openssl-enc/*.enc"]
    ) { bytes in
        guard let password = try? SecretKey(material: Array("correct horse".utf8)) else { return }
        // scrypt takes as long as its input says: 2 MiB of memory, some milliseconds.
        let maxWork: UInt64 = 1 << 14
        if let header = try? AgeHeader(bytes) {
            let identities = identity.withUnsafeBytes { try? AgeIdentities.keys(in: $0) } ?? []
            expect(identities.count == 1, "an identity is none")
            for key in [
                try? header.fileKey(identities: identities),
                try? header.fileKey(passphrase: password, maxWork: maxWork),
            ] {
                expect(key?.byteCount ?? 16 == 16, "a file key has another length")
            }
        }
        let wrapped = try? GocryptfsKey.key(configuration: bytes, password: password, maxWork: maxWork)
        expect(wrapped?.byteCount ?? 32 == 32, "a master key has another length")
        for (iterationCount, keyByteCount) in [(1, 16), (nil, 24), (nil, 32)] as [(Int32?, Int)] {
            let derived = try? OpenSSLEncKey(
                start: bytes, password: password, digest: "sha256", iterationCount: iterationCount,
                keyByteCount: keyByteCount)
            expect(derived?.key.byteCount ?? keyByteCount == keyByteCount, "a derived key has another length")
        }
        bytes.withUnsafeBytes { text in
            expect((try? GocryptfsKey.key(in: text))?.byteCount ?? 32 == 32, "a master key has another length")
            let identities = (try? AgeIdentities.keys(in: text)) ?? []
            expect(identities.allSatisfy { $0.byteCount == 32 }, "an identity has another length")
            guard let line = try? Password.key(in: text) else { return }
            expect(line.byteCount <= text.count, "a password is longer than its file")
            guard let revealed = try? RcloneKey.revealed(line) else { return }
            expect(revealed.byteCount + 16 == line.byteCount * 6 / 8, "a password is revealed in part")
        }
    }

    /// That of `data/interop/age/age-x25519-0.age`.
    private static let identity = Array(
        "AGE-SECRET-KEY-16C5VNA3RZDE6CPSHSV5NCYCTLDLRA2RUZSHS2HF9Z3A7MZR4ED8Q829G7L".utf8)
}
