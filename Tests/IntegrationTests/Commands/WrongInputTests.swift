import Foundation
import TestSupport
import Testing

@Suite("every way of being wrong has its error")
struct WrongInputTests {
    /// A folder with a key, a plaintext of 1000 bytes and its ciphertext.
    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file("key", Chunkwise.keyHex + "\n", isSecret: true)
        try folder.file("plain", Samples.bytes(1000))
        try folder.file("enc", Self.ciphertext)
        return folder
    }

    private static let ciphertext: [UInt8] = {
        let folder = try? TemporaryFolder()
        guard let folder else { return [] }
        return (try? Chunkwise.convert("encrypt", folder, ["-", "-"], input: Samples.bytes(1000)).output) ?? []
    }()

    static let decryptions: [(options: [String], status: Int32, word: String)] = [
        (["--strategy", "cbc-continuous:padding=zero", "enc", "out"], 64, "zero"),
        (["--strategy", "ecb", "enc", "out"], 64, "ecb"),
        (["--backend", "none", "enc", "out"], 64, "none"), (["--window", "0", "enc", "out"], 64, "--window"),
        (["--window", "2GiB", "enc", "out"], 64, "--window"), (["--window", "-1", "enc", "out"], 64, ""),
        (["--window", "big", "enc", "out"], 64, "big"), (["--window", "1.3B", "enc", "out"], 64, "1.3B"),
        (["--threads", "0", "enc", "out"], 64, "--threads"), (["--threads", "257", "enc", "out"], 64, "257"),
        (["--window", "1GiB", "--threads", "17", "enc", "out"], 64, "16 GiB"),
        (["--strategy", "cbc-continuous:chunk=1KiB", "enc", "out"], 64, "expected one of iv, padding"),
        (["--strategy", "cbc-chunked", "enc", "out"], 64, "without chunk"),
        (["--strategy", "cbc-chunked:chunk=17", "enc", "out"], 64, "17"),
        (["--strategy", "cbc-chunked:chunk=x", "enc", "out"], 64, "x"),
        (["--strategy", "ctr:padding=none", "enc", "out"], 64, "\"padding\" of ctr"),
        (["--strategy", "./missing.yml", "enc", "out"], 66, "missing.yml"),
        (["--range=5-4", "enc", "out"], 64, "5-4"), (["--range=x", "enc", "out"], 64, "--range"),
        (["--range=1000-", "enc", "out"], 65, "1000"), (["--range=-0", "enc", "out"], 65, ""),
        (["--range=5000-6000", "enc", "out"], 65, "5000"),
        (["missing", "out"], 66, "missing"), ([".", "out"], 66, "."), (["enc/x", "out"], 66, "enc/x"),
        (["enc", "missing/out"], 74, "missing/out"), (["enc", "enc/out"], 74, "enc/out"),
        (["enc", "/proc/self/out"], 74, "/proc/self/out"), (["enc", "."], 74, "."),
        (["enc", "/dev/full"], 74, "/dev/full"),
        (["cut", "out"], 65, "multiple of 16"), (["empty", "out"], 65, "at least 16"),
        (["damaged", "out"], 65, "padding"),
        (["fifo", "out"], 66, "pipe"),
    ]

    @Test("decrypt", arguments: decryptions.indices)
    func decrypt(index: Int) throws {
        let (options, status, word) = Self.decryptions[index]
        let folder = try folder()
        let ciphertext = folder.bytes("enc") ?? []
        try folder.file("cut", Array(ciphertext.dropLast()))
        try folder.file("empty", [])
        // The block before the last one flips bits of the padding.
        var damaged = ciphertext
        damaged[ciphertext.count - 17] ^= 0x80
        try folder.file("damaged", damaged)
        #expect(mkfifo(folder.path("fifo"), 0o600) == 0)
        let names = folder.names
        Chunkwise.expectFailure(try Chunkwise.convert("decrypt", folder, options), status, word, "\(options)")
        #expect(folder.names == names, "\(options) left something behind")
    }

    @Test("an error leaves a file that was there under the output's name as it was")
    func existingOutput() throws {
        let folder = try folder()
        try folder.file("out", [1, 2, 3])
        try folder.file("cut", Array((folder.bytes("enc") ?? []).dropLast()))
        Chunkwise.expectFailure(try Chunkwise.convert("decrypt", folder, ["cut", "out"]), 65)
        #expect(folder.bytes("out") == [1, 2, 3])
    }

    @Test("the wrong key is wrong padding, in every way that a padding can be wrong")
    func wrongKey() throws {
        let folder = try folder()
        var lines: Set<String> = []
        for number in 1...6 {
            try folder.file("key", [UInt8](repeating: UInt8(number), count: 16), isSecret: true)
            let run = try Chunkwise.convert("decrypt", folder, ["enc", "out"])
            // One in 255 wrong keys makes a padding that looks right; none of these does.
            Chunkwise.expectFailure(run, 65, "padding")
            lines.formUnion(run.errorLines)
        }
        #expect(lines.count == 1 && !folder.names.contains("out"))
    }

    @Test(
        "encrypt",
        arguments: [
            (["--threads", "2", "plain", "out"], 64, "--threads"), (["--window", "0", "plain", "out"], 64, "--window"),
            (["--strategy", "cbc-continuous:padding=none", "plain", "out"], 65, "multiple of 16"),
            (["missing", "out"], 66, "missing"),
            ([".", "out"], 66, "."), (["plain", "/proc/self/out"], 74, "/proc/self/out"),
            (["plain", "/dev/full"], 74, "/dev/full"), (["plain", "missing/out"], 74, "missing/out"),
        ] as [([String], Int32, String)])
    func encrypt(options: [String], status: Int32, word: String) throws {
        let folder = try TemporaryFolder()
        try folder.file("plain", Samples.bytes(1000))
        Chunkwise.expectFailure(try Chunkwise.convert("encrypt", folder, options), status, word, "\(options)")
        #expect(folder.names == ["key", "plain"], "\(options) left something behind")
    }

    @Test(
        "key files",
        arguments: [
            ([UInt8](repeating: 0x5E, count: 15), 65, "15 bytes"), ([], 65, "0 bytes"),
            (Array("5ec2e7000102030405060708090a0b".utf8), 65, "30 bytes"),
            (Array("5ec2e70001020304050607080".utf8), 65, "25"),
            (Array("5EC2E7000102030405060708090A0BXX".utf8) + [0x0A], 65, "33 bytes"),
        ] as [([UInt8], Int32, String)])
    func keyFiles(content: [UInt8], status: Int32, word: String) throws {
        let folder = try folder()
        try folder.file("key", content, isSecret: true)
        Chunkwise.expectFailure(try Chunkwise.convert("decrypt", folder, ["enc", "out"]), status, word)
    }

    @Test(
        "key and IV options",
        arguments: [
            (["--key-file", "missing", "--iv", Chunkwise.ivHex], 66, "missing"),
            (["--key-file", ".", "--iv", Chunkwise.ivHex], 66, "."),
            (["--iv", Chunkwise.ivHex], 64, "--key-file"), (["--key-file", "key"], 64, "--iv"),
            (["--key-file", "key", "--iv", "00"], 64, "16"),
            (["--key-file", "key", "--iv", Chunkwise.ivHex + "00"], 64, "16"),
            (["--key-file", "key", "--iv", "xyz"], 64, "32"), (["--key-file", "key", "--iv", ""], 64, "--iv"),
            (["--key-file", "key", "--key-hex", Chunkwise.keyHex, "--iv", Chunkwise.ivHex], 64, "either"),
            (["--key-file", "key", "--iv", Chunkwise.ivHex, "--frobnicate"], 64, "frobnicate"),
        ] as [([String], Int32, String)])
    func options(options: [String], status: Int32, word: String) throws {
        let folder = try folder()
        let run = try Chunkwise.run(["decrypt"] + options + ["enc", "out"], in: folder.path)
        Chunkwise.expectFailure(run, status, word, "\(options)")
        #expect(!folder.names.contains("out"))
    }

    @Test(
        "a key on the command line is warned of, and never repeated",
        arguments: ["5ec2e7", "5ec2e7zz", Chunkwise.keyHex])
    func keyHex(hex: String) throws {
        let folder = try folder()
        let run = try Chunkwise.run(
            ["decrypt", "--key-hex", hex, "--iv", Chunkwise.ivHex, "enc", "out"], in: folder.path)
        #expect(run.errorLines.first?.hasPrefix("chunkwise: warning: ") == true)
        #expect(run.status == (hex == Chunkwise.keyHex ? 0 : hex == "5ec2e7" ? 65 : 64))
        #expect(run.errorLines.allSatisfy { !$0.contains("5ec2e7") }, "\(run.errorLines)")
    }

    @Test(
        "a backend that is there to be compared with warns where it gets a key of the user's", arguments: [true, false])
    func tables(isEncryption: Bool) throws {
        let folder = try folder()
        let (command, input) = isEncryption ? ("encrypt", "plain") : ("decrypt", "enc")
        for (backend, isWarned) in [("swift-reference", true), ("swift-bitsliced", false), ("libgcrypt", false)] {
            let run = try Chunkwise.convert(command, folder, ["--backend", backend, input, "out"])
            #expect(run.status == 0 && run.errorLines.count == (isWarned ? 1 : 0), "\(run.errorLines)")
            if isWarned { #expect(run.errorLines[0].hasPrefix("chunkwise: warning: backend swift-reference looks up")) }
        }
        let verification = try Chunkwise.run(["verify", "--backend", "swift-reference", "--only", "none"])
        #expect(verification.errorLines.allSatisfy { !$0.contains("looks up") })
    }

    @Test(
        "other commands",
        arguments: [
            (["dance"], 64, "dance"), (["decrypt"], 64, ""), (["backends", "--format", "xml"], 64, "xml"),
            (["verify", "--vectors", "missing"], 66, "missing"), (["verify", "--backend", "none"], 64, "none"),
            (["verify", "--vectors", "garbage"], 65, "garbage"), (["verify", "--threads", "0"], 64, "--threads"),
            (["report", "."], 66, "results.jsonl"), (["report", "missing"], 66, "missing"),
            (["sweep", "--plan", "missing", "--output", "o"], 66, "missing"),
            (["sweep", "--plan", "garbage", "--output", "o"], 65, "garbage:"),
            (["sweep", "--plan", "plan", "--output", "garbage"], 74, "there is a file of that name"),
            (["run", "--plan", "plan", "--output", "garbage"], 74, "there is a file of that name"),
            (["decrypt", "--key-file", "k", "-", "out"], 64, "decrypt -: expected a file or a URL"),
            (["sweep", "--plan", "plan", "--output", "/proc/self/o"], 74, "/proc/self/o"),
            (["measure", "--workload", "x"], 64, "--workload"), (["measure", "--rounds", "0"], 64, "--rounds"),
            (["measure", "--window", "257MiB"], 64, "256MiB"), (["measure", "--key-size", "1"], 64, "--key-size"),
            (["measure", "--object-size", "1", "--workload", "random:2"], 64, "random:2"),
            (["measure", "--object-size", "1", "--strategy", "cbc-continuous:padding=none"], 64, "--object-size"),
            (["measure", "--object-size", "0"], 64, "--object-size 0"),
            (["measure", "--backend", "none"], 64, "none"), (["subject", "--window", "0"], 64, "--window"),
            (["subject", "--access", "x"], 64, "x"), (["keys", "scenarios", "garbage"], 65, "garbage"),
            (["measure", "--workload", "trace:./garbage"], 65, "garbage"),
        ] as [([String], Int32, String)])
    func commands(arguments: [String], status: Int32, word: String) throws {
        let folder = try TemporaryFolder()
        try folder.file("garbage", "{")
        try folder.file("plan", "cells:\n- backend: libgcrypt")
        Chunkwise.expectFailure(try Chunkwise.run(arguments, in: folder.path), status, word, "\(arguments)")
    }

    @Test("an empty plaintext has nothing to measure", arguments: [["--strategy", "ctr"], []])
    func emptyPlaintext(options: [String]) throws {
        let folder = try folder()
        try folder.file("nothing", [])
        #expect(try Chunkwise.convert("encrypt", folder, options + ["nothing", "none"]).status == 0)
        try folder.file("plan", "rounds: 1\ntime: 1ms\ncells:\n- {backend: openssl, window: 16KiB}\n")
        for command in [["measure"], ["sweep", "--plan", "plan", "--output", "o"]] {
            let own = ["--input", "none", "--key-file", "key", "--iv", Chunkwise.ivHex]
            Chunkwise.expectFailure(
                try Chunkwise.run(command + own + options, in: folder.path), 65, "its plaintext is empty")
        }
    }

    @Test("a vector file without any vector is bad data, not a pass")
    func noVectors() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("vectors", "{\"schema\":1,\"source\":\"s\",\"groups\":[]}")
        Chunkwise.expectFailure(try Chunkwise.run(["verify", "--vectors", path]), 65)
    }
}
