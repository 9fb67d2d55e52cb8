import RandomAccess
import Support
import Testing

@testable import FormatKeys

private func secret(_ text: String) throws -> SecretKey { try SecretKey(material: Array(text.utf8)) }

private func hex(_ key: SecretKey) -> String { key.withUnsafeBytes { Hexadecimal.encode($0) } }

/// The message of the error that a step ends with.
private func message<Value>(of body: () throws -> Value) -> String {
    do {
        return "no error: \(try body())"
    } catch {
        return "\(error)"
    }
}

@Suite("keys from passwords")
struct PasswordKeyTests {
    @Test(
        "scrypt is that of RFC 7914, section 12",
        arguments: [
            (
                "password", "NaCl", 1024, 16,
                "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                    + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
            ),
            (
                "pleaseletmein", "SodiumChloride", 16384, 1,
                "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                    + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
            ),
        ] as [(String, String, UInt64, UInt64, String)])
    func scrypt(password: String, salt: String, n: UInt64, p: UInt64, expected: String) throws {
        let key = try secret(password).scrypt(
            salt: Array(salt.utf8), ScryptCost(n: n, r: 8, p: p), byteCount: expected.utf8.count / 2)
        #expect(hex(key) == expected)
    }

    @Test("a cost that is none, or takes more than 4 GiB, is refused before any work")
    func cost() throws {
        _ = try ScryptCost(n: 1 << 22, r: 8, p: 1)
        let costs: [(UInt64, UInt64, UInt64)] = [
            (1 << 23, 8, 1), (1 << 22, 9, 1), (1 << 22, 8, 2), (1 << 63, 1 << 63, 2), (0, 8, 1), (1, 8, 1),
            (1000, 8, 1),
            (1024, 0, 1), (1024, 8, 0),
        ]
        for (n, r, p) in costs {
            let text = message { try ScryptCost(n: n, r: r, p: p) }
            #expect(
                text == "scrypt with N \(n), r \(r), p \(p): expected N a power of 2, and N · r · p at most 33554432 "
                    + "(4GiB of memory)")
        }
    }

    @Test("less work than that is refused where a caller asks for it")
    func maxWork() throws {
        _ = try ScryptCost(n: 1 << 10, r: 8, p: 1, maxWork: 1 << 13)
        for n: UInt64 in [1 << 11, 1 << 22] {
            let text = message { try ScryptCost(n: n, r: 8, p: 1, maxWork: 1 << 13) }
            #expect(text.hasPrefix("scrypt with N \(n)") && text.hasSuffix("at most 8192 (1MiB of memory)"), "\(text)")
        }
        let file = try #require(GocryptfsFile.all.first)
        #expect(
            message {
                try GocryptfsKey.key(
                    configuration: Array(file.text.utf8), password: secret("correct horse"), maxWork: 1 << 12)
            }.hasPrefix("scrypt with N 1024"))
    }

    /// Source: the password by `rclone obscure`, version 1.60.1.
    @Test("a password is revealed that rclone obscured, and nothing else")
    func obscured() throws {
        let key = try RcloneKey.revealed(secret("zAiiZzcZ0oJbTOT_zYDQ5Z_G0KmYqidPs226JBc"))
        #expect(key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == "correct horse")
        for text in ["correct horse", "zAiiZzcZ0oJbTOT_zYDQ5Q", "zAii", "zAiiZzcZ0oJbTOT/zYDQ5Z/G0KmYqidPs226JBc"] {
            let message = message { try RcloneKey.revealed(secret(text)) }
            #expect(message.contains("is not obscured: expected") && !message.contains(text), "\(message)")
        }
    }

    /// Source: made by gocryptfs 2.3 (`-init -scryptn 10`), the keys shown by its `gocryptfs-xray -dumpmasterkey`.
    @Test(
        "a master key is opened that gocryptfs wrapped, and by no other password",
        arguments: GocryptfsFile.all)
    func gocryptfs(file: GocryptfsFile) throws {
        let text = Array(file.text.utf8)
        #expect(hex(try GocryptfsKey.key(configuration: text, password: secret("correct horse"))) == file.key)
        #expect(
            message { try GocryptfsKey.key(configuration: text, password: secret("correct house")) }
                == "the password does not open EncryptedKey: expected that of the file system, unchanged")
        let changes = [
            ("\"N\": 1024", "\"N\": 1073741824", "scrypt with N 1073741824, r 8, p 1"),
            ("\"N\": 1024", "\"N\": -1", "not one of"),
            ("\"KeyLen\": 32", "\"KeyLen\": 16", "KeyLen of 32"), ("\"HKDF\"", "\"FIDO2\"", "FIDO2"),
            ("\"HKDF\"", "\"None\"", "EncryptedKey has 64 bytes: expected a nonce of 12"),
            ("{", "", "not one of gocryptfs"),
            ("==", "", "not one of gocryptfs"), ("=", "!", "not one of gocryptfs"),
        ]
        for (old, new, expected) in changes {
            let changed = Array(file.text.replacing(old, with: new).utf8)
            let message = message { try GocryptfsKey.key(configuration: changed, password: secret("correct horse")) }
            #expect(message.contains(expected) && message.contains("expected"), "\(new): \(message)")
        }
    }

    @Test("a master key is read as gocryptfs prints it")
    func masterKey() throws {
        func key(_ text: String) throws -> String {
            try Array(text.utf8).withUnsafeBytes { hex(try GocryptfsKey.key(in: $0)) }
        }
        let digits = "5bd97737a25d4b29d9df4ccea6cd8ada7b357a36631f02f40d167d5dd2c94f24"
        #expect(try key(digits) == digits)
        #expect(try key("5BD97737-A25D4B29-D9DF4CCE-A6CD8ADA-\n  7B357A36-631F02F4-0D167D5D-D2C94F24\n") == digits)
        for text in ["", digits + "00", String(digits.dropLast()), digits.dropLast() + "g"] {
            #expect(message { try key(text) }.contains("expected 64 hexadecimal digits"))
        }
    }

    @Test("a file's only line is the password, whatever ends it")
    func password() throws {
        func key(_ text: String) throws -> SecretKey {
            try Array(text.utf8).withUnsafeBytes { try Password.key(in: $0) }
        }
        for text in ["correct horse", "correct horse\n", "correct horse\r\n"] {
            #expect(hex(try key(text)) == hex(try secret("correct horse")))
        }
        #expect(hex(try key(" correct horse \n")) == hex(try secret(" correct horse ")))
        for text in ["", "\n", "\r\n"] {
            #expect(message { try key(text) } == "the password is empty: expected a line of text")
        }
        for text in ["a\nb", "a\n\n"] {
            #expect(message { try key(text) }.contains("has several lines: expected one line"))
        }
    }
}

/// A configuration file.
struct GocryptfsFile {
    let key: String
    let text: String

    static let all = [
        GocryptfsFile(
            key: "d53355d8ff6be3f9009867324592ab659ebf318e7c72a1f6274c260ffc506b75",
            text: """
                {
                    "Creator": "gocryptfs 2.3",
                    "EncryptedKey": "Hbswh37bq8fzNRDLX+U3evxwJJACAdOWXOULg0ppT2iy3ZZG7YLBNiNYQ0p4bIP5XNBM/EurK8hz4Rwk5M2tFw==",
                    "ScryptObject": {
                        "Salt": "IkkCPg0nulEZ15agLYq6z/yWlxPMTI/yyTfRktUfwmU=",
                        "N": 1024,
                        "R": 8,
                        "P": 1,
                        "KeyLen": 32
                    },
                    "Version": 2,
                    "FeatureFlags": [
                        "HKDF",
                        "GCMIV128",
                        "PlaintextNames"
                    ]
                }
                """),
        GocryptfsFile(
            key: "598385365b68bc82e552d447bbf5ba5feee593ef9dd6b5656a28e39dda7b07c3",
            text: """
                {
                    "Creator": "gocryptfs 2.3",
                    "EncryptedKey": "JBQmxBcnE5lJsNpfnSlXW3ozKRWS0vXsaOZ8kf8YsO8woZlZk6wr4sQtl3HQOwxfkiRpmQnTbnuS9emSypYfPg==",
                    "ScryptObject": {
                        "Salt": "C8FEt1F9qqZf3uATfpiuH74Jt/IhRxXWpR22E/wihCQ=",
                        "N": 1024,
                        "R": 8,
                        "P": 1,
                        "KeyLen": 32
                    },
                    "Version": 2,
                    "FeatureFlags": [
                        "HKDF",
                        "XChaCha20Poly1305",
                        "PlaintextNames"
                    ]
                }
                """),
    ]
}
