import Foundation
import Support
import TestSupport
import Testing

@Suite("chunkwise key")
struct KeyCommandTests {
    /// A file that a format's own tool made, with what it was encrypted with.
    struct Made: Sendable, CustomTestStringConvertible {
        let folder: String
        let file: String
        let json: JSONValue

        var testDescription: String { "\(folder)/\(file)" }
        var path: String { Project.path("data/interop/\(folder)/\(file)") }
        var key: String { json["key"]?.string ?? "" }

        func parameter(_ name: String) -> String? { json["parameters"]?[name]?.string }

        /// Files of a format which have a parameter.
        static func all(_ folder: String, with parameter: String) -> [Made] {
            let index = FileManager.default.contents(atPath: Project.path("data/interop/\(folder)/index.json"))
            let files = index.flatMap { JSONValue.parse(Array($0)) }?["files"]?.array ?? []
            return files.map { Made(folder: folder, file: $0["file"]?.string ?? "", json: $0) }
                .filter { !($0.parameter(parameter) ?? "").isEmpty }
        }
    }

    /// Derives a key into a file, and expects it to be that of the index and to decrypt the file.
    private func expect(
        _ made: Made, strategy: String, _ arguments: [String], decrypt: [String] = [], in folder: TemporaryFolder
    ) throws {
        let run = try Chunkwise.run(["key"] + arguments + ["--output", "k"], in: folder.path)
        #expect(run.status == 0 && run.output.isEmpty && run.errorLines.isEmpty, "\(made): \(run.errorLines)")
        #expect(Hexadecimal.encode(folder.bytes("k") ?? []) == made.key)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path("k"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        for output in [[], ["--output", "-"]] {
            #expect(try Chunkwise.run(["key"] + arguments + output, in: folder.path).text == made.key + "\n")
        }
        let decrypted = try Chunkwise.run(
            ["decrypt", "--strategy", strategy, "--key-file", "k"] + decrypt + [made.path, "-"], in: folder.path)
        #expect(decrypted.status == 0, "\(made): \(decrypted.errorLines)")
        #expect(Hexadecimal.encode(SHAFunction.sha256.hash(decrypted.output)) == made.json["plaintextSHA256"]?.string)
    }

    // Those with a passphrase take 1 GiB, and are left to the tests of the target.
    @Test("age: an identity's file key decrypts the file", arguments: Made.all("age", with: "identity"))
    func age(made: Made) throws {
        let folder = try TemporaryFolder()
        try folder.file("id", "# created\n\(made.parameter("identity") ?? "")\n", isSecret: true)
        try expect(made, strategy: "age", ["age", "--identity", "id", made.path], in: folder)
    }

    @Test("rclone: a password's key decrypts the file", arguments: Made.all("rclone-crypt", with: "password"))
    func rclone(made: Made) throws {
        let folder = try TemporaryFolder()
        try folder.file("pw", (made.parameter("password") ?? "") + "\n", isSecret: true)
        var arguments = ["rclone", "--password-file", "pw"]
        if let second = made.parameter("password2"), !second.isEmpty {
            try folder.file("pw2", second, isSecret: true)
            arguments += ["--salt-file", "pw2"]
        }
        try expect(made, strategy: "rclone-crypt", arguments, in: folder)
    }

    @Test("openssl: a password's key and IV decrypt the file", arguments: Made.all("openssl-enc", with: "password"))
    func openssl(made: Made) throws {
        let folder = try TemporaryFolder()
        try folder.file("pw", (made.parameter("password") ?? "") + "\r\n", isSecret: true)
        let iterations = made.json["parameters"]?["iterations"]?.integer ?? 0
        let arguments =
            ["openssl", "--password-file", "pw", "--digest", made.parameter("digest") ?? ""]
            + (iterations == 0 ? ["--bytes-to-key"] : ["--iterations", "\(iterations)"])
            + ["--bits", "\(made.key.utf8.count * 4)", made.path]
        let iv = try Chunkwise.run(["key"] + arguments + ["--iv"], in: folder.path)
        #expect(iv.text == (made.parameter("iv") ?? "") + "\n")
        try expect(
            made, strategy: made.parameter("description") ?? "", arguments,
            decrypt: ["--iv", iv.text.trimmingCharacters(in: .newlines)], in: folder)
    }

    @Test("gocryptfs: a master key as it is printed decrypts the file", arguments: Made.all("gocryptfs", with: "mode"))
    func gocryptfs(made: Made) throws {
        let folder = try TemporaryFolder()
        let groups = stride(from: 0, to: 64, by: 8).map { made.key.dropFirst($0).prefix(8) }
        try folder.file("printed", groups.joined(separator: "-") + "\n", isSecret: true)
        try expect(
            made, strategy: "gocryptfs:mode=\(made.parameter("mode") ?? "")",
            ["gocryptfs", "--master-key-file", "printed"], in: folder)
    }

    @Test("gocryptfs: the key of zeros, and one that a configuration wraps")
    func gocryptfsKeys() throws {
        let folder = try TemporaryFolder()
        let zero = try Chunkwise.run(["key", "gocryptfs", "--zero", "--output", "k"], in: folder.path)
        #expect(zero.status == 0 && folder.bytes("k") == [UInt8](repeating: 0, count: 32))
        try folder.file("gocryptfs.conf", Self.configuration)
        try folder.file("pw", "correct horse\n", isSecret: true)
        let run = try Chunkwise.run(
            ["key", "gocryptfs", "--configuration", "gocryptfs.conf", "--password-file", "pw"], in: folder.path)
        #expect(run.text == "d53355d8ff6be3f9009867324592ab659ebf318e7c72a1f6274c260ffc506b75\n")
    }

    /// Made by gocryptfs 2.3, with the password `correct horse`.
    private static let configuration = """
        {"EncryptedKey": "Hbswh37bq8fzNRDLX+U3evxwJJACAdOWXOULg0ppT2iy3ZZG7YLBNiNYQ0p4bIP5XNBM/EurK8hz4Rwk5M2tFw==",
        "ScryptObject": {"Salt": "IkkCPg0nulEZ15agLYq6z/yWlxPMTI/yyTfRktUfwmU=", "N": 1024, "R": 8, "P": 1, "KeyLen": 32},
        "Version": 2, "FeatureFlags": ["HKDF", "GCMIV128"]}
        """

    static let failures: [(arguments: [String], status: Int32, word: String)] = [
        (["age", "--identity", "other", "age"], 65, "age: no stanza of 1 (X25519) is opened by 1 identity"),
        (["age", "--identity", "empty", "age"], 65, "identity file empty: no identity is in it"),
        (["age", "--identity", "pw", "age"], 65, "identity file pw: line 1 is no identity"),
        (["age", "--identity", "long", "age"], 65, "identity file long: the key has 65537 bytes"),
        (["age", "--identity", "missing", "age"], 66, "open identity file missing"),
        (["age", "--identity", "other", "missing"], 66, "open missing"),
        (["age", "--identity", "other", "salted"], 65, "salted: the header's line 1"),
        (["age", "--identity", "other", "empty"], 65, "empty: the header's line 1"),
        (["age", "--password-file", "pw", "age"], 65, "has a passphrase: expected scrypt, or, for X25519, --identity"),
        (
            ["age", "--password-file", "pw", "huge"], 65,
            "huge: the work factor of scrypt is 2^40: expected 2^1 to 2^22"
        ),
        (["age", "--password-file", "pw", "damaged"], 65, "damaged: the passphrase does not open the stanza"),
        (["age", "--password-file", "pw", "--identity", "other", "age"], 64, "either --identity or --password-file"),
        (["age", "age"], 64, "either --identity or --password-file"),
        (["age", "--identity", "other", "--output", "taken", "age"], 64, "--output taken exists"),
        (["rclone", "--password-file", "empty"], 65, "password file empty: the password is empty"),
        (["rclone", "--password-file", "lines"], 65, "password file lines: the password has several lines"),
        (["rclone", "--password-file", "pw", "--salt-file", "empty"], 65, "salt file empty: the password is empty"),
        (["rclone", "--password-file", "pw", "--obscured"], 65, "password file pw: the password is not obscured"),
        (["rclone", "--password-file", "missing"], 66, "open password file missing"),
        (["rclone", "--password-file", "pw", "--output", "missing/k"], 74, "create missing/k"),
        (["rclone"], 64, "--password-file"),
        (["openssl", "--password-file", "pw", "age"], 65, "age: the file does not begin with a salt"),
        (["openssl", "--password-file", "pw", "--digest", "none", "salted"], 64, "digest \"none\""),
        (["openssl", "--password-file", "pw", "--bits", "64", "salted"], 64, "--bits 64"),
        (["openssl", "--password-file", "pw", "--iterations", "0", "salted"], 64, "--iterations 0"),
        (["openssl", "--password-file", "pw", "--iterations", "9", "--bytes-to-key", "salted"], 64, "--bytes-to-key"),
        (["openssl", "--password-file", "pw", "--iv", "--output", "k", "salted"], 64, "--iv: expected no --output"),
        (["gocryptfs"], 64, "--configuration with --password-file"),
        (["gocryptfs", "--zero", "--master-key-file", "pw"], 64, "and no other"),
        (["gocryptfs", "--configuration", "conf"], 64, "--configuration with --password-file"),
        (["gocryptfs", "--configuration", "conf", "--password-file", "pw"], 65, "conf: the password does not open"),
        (["gocryptfs", "--configuration", "age", "--password-file", "pw"], 65, "age: the configuration is not one of"),
        (["gocryptfs", "--master-key-file", "pw"], 65, "master key file pw: the master key is not one"),
    ]

    @Test("every way of being wrong has its error, and leaves nothing behind", arguments: failures.indices)
    func wrong(index: Int) throws {
        let (arguments, status, word) = Self.failures[index]
        let folder = try TemporaryFolder()
        let made = try #require(Made.all("age", with: "identity").first)
        try folder.file("age", Array(FileManager.default.contents(atPath: made.path) ?? Data()))
        try folder.file(
            "other", "AGE-SECRET-KEY-1948MJRKCRV3Y3ZZ4HQPVVA2LKD8NDSX7T8X7QJHP6ETN3APKAHXSVPR20P\n", isSecret: true)
        let stanza = "age-encryption.org/v1\n-> scrypt Y0ea1poJCyWCd+yPum+ZQQ 10\n"
        let body = "ZqS1pxFCLgFEMkl0uuacePHawNTfDtl53bUJSC9MYPU\n--- 9wPArrLP9CqRHQpBco8216JrjAIp6GTzauS8NiHqYdU\n"
        try folder.file("huge", (stanza + body).replacing(" 10\n", with: " 40\n"))
        try folder.file("damaged", stanza + body.replacing("ZqS1", with: "ZqS2"))
        for (name, text) in [
            ("empty", ""), ("pw", "5ec2e7 horse\n"), ("lines", "5ec2e7\n5ec2e7\n"), ("taken", "5ec2e7"),
            ("long", String(repeating: "#\n", count: 40_000)), ("salted", "Salted__01234567"),
            ("conf", Self.configuration),
        ] {
            try folder.file(name, text, isSecret: true)
        }
        let names = folder.names
        let run = try Chunkwise.run(["key"] + arguments, in: folder.path)
        Chunkwise.expectFailure(run, status, word, "\(arguments)")
        #expect(!"\(run.errorLines)".contains("948MJRK"))
        #expect(folder.names == names && folder.bytes("taken") == Array("5ec2e7".utf8))
    }

    @Test("a file with a secret that others can read is a warning, and an error with --strict")
    func strict() throws {
        let folder = try TemporaryFolder()
        try folder.file("pw", "correct horse")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path("pw"))
        let arguments = ["key", "rclone", "--password-file", "pw"]
        let run = try Chunkwise.run(arguments, in: folder.path)
        #expect(run.status == 0 && run.text.utf8.count == 65)
        #expect(
            run.errorLines == [
                "chunkwise: warning: password file pw can be read by others (permissions 644): expected 600"
            ])
        Chunkwise.expectFailure(
            try Chunkwise.run(arguments + ["--strict"], in: folder.path), 65,
            "password file pw is open to others (permissions 644): expected 600")
    }
}
