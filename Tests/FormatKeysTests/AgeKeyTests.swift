import RandomAccess
import Support
import Testing

@testable import FormatKeys

@Suite("file keys of age")
struct AgeKeyTests {
    /// Made for this test with Python's hashlib and cryptography; age 1.1.1 opens it.
    private static let scrypt = """
        age-encryption.org/v1
        -> scrypt Y0ea1poJCyWCd+yPum+ZQQ 10
        ZqS1pxFCLgFEMkl0uuacePHawNTfDtl53bUJSC9MYPU
        --- 9wPArrLP9CqRHQpBco8216JrjAIp6GTzauS8NiHqYdU

        """
    private static let identity = "AGE-SECRET-KEY-1948MJRKCRV3Y3ZZ4HQPVVA2LKD8NDSX7T8X7QJHP6ETN3APKAHXSVPR20P"
    /// By `age -r` with the public keys of two other identities and of this one, version 1.1.1. The file key is what Python's
    /// cryptography makes of it.
    private static let recipients = """
        age-encryption.org/v1
        -> X25519 Av93+fcXOuY/6jNC+tzmoubUyr1z/nJq5n8hX/yQzWI
        sfvYZLZ9khplDNyc7Cl8dgFQKkBVhDtIuhTtg6aCp9Y
        -> X25519 qacH437030FKfNCRQIT4ikN1VJ0MndjRxsgde09oqjE
        aPtdGkFzJS0m3U6+MMGqjaQ44TGKEzby4rpkgGp75Jk
        -> X25519 0ZAoaz0lPApqARQTn2O7uWdI+oTVpOKpZkwiNopqilk
        r1LAaHIg1uxUNiaQEmTajmrpV0KfHHYz/a8zLSLVC90
        --- FIu/wzBSndnha9H1Gwsr0K3pOJcQtYVKsh53UDuP+c8

        """

    private func key(_ header: String, password: String) throws -> String {
        let header = try AgeHeader(Array(header.utf8))
        return try header.fileKey(passphrase: SecretKey(material: Array(password.utf8)))
            .withUnsafeBytes { Hexadecimal.encode($0) }
    }

    private func key(_ header: String, identities: String) throws -> String {
        let identities = try Array(identities.utf8).withUnsafeBytes { try AgeIdentities.keys(in: $0) }
        return try AgeHeader(Array(header.utf8)).fileKey(identities: identities)
            .withUnsafeBytes { Hexadecimal.encode($0) }
    }

    /// Expects that no key comes, for a reason which shows no secret.
    private func expectFailure(_ words: String, _ body: () throws -> String) {
        do {
            Issue.record("a key where \"\(words)\" was to be said: \(try body())")
        } catch {
            let text = "\(error)"
            #expect(text.contains(words) && text.contains("expected"), "\(text): no \"\(words)\"")
            #expect(!text.contains("948MJRK") && !text.contains("correct"), "\(text)")
        }
    }

    @Test("a passphrase opens the only stanza")
    func passphrase() throws {
        #expect(try key(Self.scrypt, password: "correct horse") == "065d0cf7490bb9ecd14a36328492e9ca")
        expectFailure("the passphrase does not open") { try key(Self.scrypt, password: "correct house") }
        expectFailure("scrypt, or, for X25519, --identity") { try key(Self.recipients, password: "correct horse") }
    }

    static let damages: [(String, String, String)] = [
        (" 10\n", " 11\n", "does not open"), (" 10\n", " 23\n", "work factor of scrypt is 2^23: expected 2^1 to 2^22"),
        (" 10\n", " 999999999999\n", "2^999999999999"), (" 10\n", " 0\n", "2^0"), (" 10\n", " 010\n", "2^010"),
        (" 10\n", " +1\n", "2^+1"), (" 10\n", "\n", "a stanza of scrypt is malformed"),
        ("Y0ea1poJCyWCd+yPum+ZQQ", "Y0ea1poJCyWCd+yPum+Z", "22 digits of Base64"),
        ("ZqS1", "ZqS2", "does not open"), ("YPU\n", "YPV\n", "line 3 is no stanza's body"),
        ("YPU\n", "YPU=\n", "line 3 is no stanza's body"), ("YPU\n", "\n", "a body of 32 bytes"),
        ("v1\n", "v2\n", "line 1 is that of another format"), ("---", "--", "line 4 is no stanza's first"),
        ("-> scrypt", "->  scrypt", "line 2 is no stanza's first"), ("YPU\n", "YPU", "line 3 is no stanza's body"),
        ("age-encryption.org/v1", "-----BEGIN AGE ENCRYPTED FILE-----", "in Base64: expected one without armor"),
        ("-> scrypt", "-> X25519 AAAA\n\n-> scrypt", "not the only one (X25519, scrypt)"),
    ]

    @Test("of a header that is damaged it is said what is wrong", arguments: damages.indices)
    func damaged(index: Int) {
        let (old, new, words) = Self.damages[index]
        expectFailure(words) { try key(Self.scrypt.replacing(old, with: new), password: "correct horse") }
    }

    @Test("a header that breaks off anywhere is none")
    func cut() {
        let bytes = Array(Self.scrypt.utf8)
        for count in 0..<bytes.count - 1 {
            #expect(throws: DecryptionError.self) { try AgeHeader(Array(bytes[..<count])) }
        }
    }

    @Test("an identity opens its stanza among several, and among other identities")
    func identities() throws {
        let other = "AGE-SECRET-KEY-1DXMS69SFWC2RVQA89T68CDTYTX9YDE28HMVC6RQRLPG3GX9NFHJSQLRDPG"
        let expected = "e76aa322adbe90e460dfdd14c00ddc94"
        for text in [Self.identity, "# created\n\(other)\n\n\(Self.identity)\r\n"] {
            #expect(try key(Self.recipients, identities: text) == expected)
            // A stanza of a kind that is not known is passed over.
            let more = Self.recipients.replacing(
                "v1\n-> X", with: "v1\n-> a-grease b c\nAAAA\n-> X", maxReplacements: 1)
            #expect(try key(more, identities: text) == expected)
        }
        expectFailure("no stanza of 3 (X25519, X25519, X25519) is opened by 1 identity") {
            try key(Self.recipients, identities: other)
        }
        expectFailure("passphrase in --password-file") { try key(Self.scrypt, identities: other) }
        let zero = Self.scrypt.replacing(/scrypt .*/, with: "X25519 " + String(repeating: "A", count: 43))
        expectFailure("a public key that makes a secret") { try key(zero, identities: other) }
        expectFailure("43 digits of Base64") {
            try key(Self.scrypt.replacing("scrypt", with: "X25519"), identities: other)
        }
    }

    static let texts: [(String, String)] = [
        ("", "no identity is in it"), ("# nothing\n\n", "no identity is in it"),
        (identity.lowercased(), "line 1 is no identity of X25519"), ("#\n" + identity.dropLast(), "line 2 is no whole"),
        (identity + "Q", "line 1 is no whole"), (identity.dropLast() + "Q", "another checksum"),
        (identity.replacing("948M", with: "B48M"), "line 1 is no whole"), ("age1xyz", "is no identity of X25519"),
        (" " + identity, "is no identity of X25519"), ("age-encryption.org/v1\n", "an encrypted file"),
        ("-----BEGIN AGE ENCRYPTED FILE-----\n", "an encrypted file"), (identity + "\nAGE-PLUGIN-A-1", "line 2 is no"),
    ]

    @Test("of an identity file that is wrong it is said in which line", arguments: texts.indices)
    func identityFiles(index: Int) {
        let (text, words) = Self.texts[index]
        expectFailure(words) { try key(Self.recipients, identities: text) }
    }
}
