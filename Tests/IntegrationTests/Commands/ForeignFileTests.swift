import Support
import TestSupport
import Testing

/// Files that others write, made with OpenSSL and the Python library `cryptography`.
@Suite("files of other programs")
struct ForeignFileTests {
    private let folder: TemporaryFolder
    private static let iv = ["--iv", "f0e1d2c3b4a5968778695a4b3c2d1e0f"]

    init() throws {
        folder = try TemporaryFolder()
        try folder.file("key", Array(0...15), isSecret: true)
    }

    private func file(_ name: String, _ digits: String) throws {
        try folder.file(name, try #require(Hexadecimal.decode(digits)))
    }

    private func run(_ command: String, _ arguments: [String]) throws -> CommandRun {
        try Chunkwise.run([command] + Self.iv + arguments, in: folder.path)
    }

    @Test("a file of openssl enc with a password is refused by all readers, and read as the refusal says")
    func salted() throws {
        try file(
            "salted",
            "53616c7465645f5f0102030405060708f1fdc1decd1a14c9f1554429ae3d3f33b6f1c96c816a35cb9eb6685f31df9b77")
        try folder.file(
            "plan", "rounds: 1\ntime: 1ms\ncells:\n- {backend: openssl, window: 16KiB}\n")
        let key = ["--key-file", "key"]
        for arguments in [
            ["decrypt", "salted", "-"], ["decrypt", "salted", "-", "--range", "0-9"],
            ["decrypt", "--strategy", "ctr", "salted", "-"], ["measure", "--input", "salted"],
            ["sweep", "--plan", "plan", "--output", "o", "--input", "salted"], ["serve", "--port", "0", "salted"],
        ] {
            let refusal = try run(arguments[0], key + arguments.dropFirst())
            #expect(refusal.status == 65 && refusal.output.isEmpty, "\(arguments): \(refusal.errorLines)")
            #expect(refusal.errorLines.contains { $0.contains("Salted__") && $0.contains("--as-is") }, "\(arguments)")
        }
        // The user of a password does not know the IV.
        try folder.file("bare", folder.bytes("salted") ?? [])
        Chunkwise.expectFailure(try run("decrypt", key + ["bare", "-"]), 65, "Salted__")
        let rest = try Chunkwise.shell(
            "tail -c +17 salted > rest && chunkwise decrypt --key-file key \(Self.iv.joined(separator: " ")) rest -",
            in: folder)
        #expect(rest.text == "sixteen bytes ok and then some", "\(rest.errorLines)")
        let asIs = try run("decrypt", key + ["--as-is", "salted", "-"])
        #expect(asIs.output.count == 46 && Hexadecimal.encode(Array(asIs.output.prefix(4))) == "373a3bcc")
    }

    /// The bytes of the reports' texts: (7 i + 13 ⌊i/256⌋ + 1) mod 251.
    private static let text = (0..<1000).map { (index: Int) -> UInt8 in
        let sum: Int = index * 7 + (index >> 8) * 13 + 1
        return UInt8(sum % 251)
    }

    private func encrypted(_ options: [String]) throws -> [UInt8] {
        try folder.file("plain", Self.text)
        return try run("encrypt", ["--key-file", "key"] + options + ["plain", "-"]).output
    }

    @Test(
        "a file with its IV in front is refused, and the way that the refusal names reads it",
        arguments: [[], ["--strategy", "ctr"]])
    func ivInFront(options: [String]) throws {
        let iv = try #require(Hexadecimal.decode(Self.iv[1]))
        try folder.file("sealed", iv + (try encrypted(options)))
        let refusal = try run("decrypt", ["--key-file", "key"] + options + ["sealed", "-"])
        Chunkwise.expectFailure(refusal, 65, "begins with its IV")
        let other = try #require(refusal.errorLines[0].firstMatch(of: /--range 16- with --iv ([0-9a-f]{32})/)).1
        let past =
            ["decrypt", "--key-file", "key", "--iv", String(other), "--range", "16-"] + options + ["sealed", "-"]
        let read = try Chunkwise.run(past, in: folder.path)
        #expect(read.status == 0 && read.output == Self.text, "\(read.errorLines)")
    }

    @Test("a MAC behind is named by the error, and what the error names cuts it off", arguments: [10, 32])
    func macBehind(count: Int) throws {
        try folder.file("sealed", try encrypted([]) + Samples.bytes(count))
        let refusal = try run("decrypt", ["--key-file", "key", "sealed", "-"])
        Chunkwise.expectFailure(refusal, 65, "head -c -\(count)")
        let options = "--key-file key \(Self.iv.joined(separator: " "))"
        let rest = try Chunkwise.shell(
            "head -c -\(count) sealed > rest && chunkwise decrypt \(options) rest -", in: folder)
        #expect(rest.output == Self.text, "\(rest.errorLines)")
    }

    @Test("a padding of zeros is named, and read")
    func padding() throws {
        let padded = Self.text + [UInt8](repeating: 0, count: 8)
        try folder.file("zeros", padded)
        let none = ["--key-file", "key", "--strategy", "cbc-continuous:padding=none"]
        #expect(try run("encrypt", none + ["zeros", "enc"]).status == 0)
        Chunkwise.expectFailure(try run("decrypt", ["--key-file", "key", "enc", "-"]), 65, "padding=none")
        #expect(try run("decrypt", none + ["enc", "-"]).output == padded)
    }

    @Test(
        "a short IV is told what it is filled up with",
        arguments: [
            (12, "00000002 for the data of GCM"), (8, "0000000000000000"), (4, "zeros at the end"), (17, "expected 16"),
        ])
    func shortIV(count: Int, words: String) throws {
        let arguments = ["decrypt", "--key-file", "key", "--iv", String(repeating: "5a", count: count), "enc", "-"]
        Chunkwise.expectFailure(try Chunkwise.run(arguments, in: folder.path), 64, words)
    }

    @Test("32 digits in a key file are two keys, each with its bytes")
    func keyEncoding() throws {
        try folder.file("digits", "01234567890123456789012345678901", isSecret: true)
        try file("enc", "b33dadc92690efdaf41840914c2518c7")
        let options = ["--strategy", "ctr", "--key-file", "digits", "enc", "-"]
        Chunkwise.expectFailure(try run("decrypt", options), 65, "--key-encoding hex or raw")
        #expect(try run("decrypt", options + ["--key-encoding", "raw"]).text == "sixteen bytes ok")
        let hex = try run("decrypt", options + ["--key-encoding", "hex"])
        #expect(Hexadecimal.encode(Array(hex.output.prefix(4))) == "caba6e76")
        for command in ["encrypt", "measure", "serve"] {
            let files = ["encrypt": ["enc", "x"], "measure": ["--input", "enc"]][command] ?? ["--port", "0", "enc"]
            let refusal = try run(command, ["--strategy", "ctr", "--key-file", "digits"] + files)
            #expect(refusal.status == 65 && refusal.errorLines.contains { $0.contains("AES-256") }, "\(command)")
        }
        // A strategy that takes keys of one length says which it is.
        #expect(
            try Chunkwise.run(
                ["encrypt", "--strategy", "cobblestone-128:context=", "--key-file", "digits", "enc", "x"],
                in: folder.path
            ).status == 0)
        Chunkwise.expectFailure(
            try run("decrypt", ["--key-hex", "00", "--key-encoding", "hex", "enc", "-"]), 64, "--key-file")
    }
}
