import Foundation
import TestSupport
import Testing

@Suite("IVs that encrypt draws")
struct DrawnIVTests {
    private static let plaintext = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }

    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file("key", Chunkwise.keyHex + "\n", isSecret: true)
        try folder.file("plain", Self.plaintext)
        return folder
    }

    private func run(_ command: String, _ options: [String], _ folder: TemporaryFolder) throws -> CommandRun {
        try Chunkwise.run([command, "--key-file", "key"] + options, in: folder.path)
    }

    @Test("two encryptions of one file differ, and each is read with its own IV", arguments: strategyOptions)
    func roundTrip(options: [String]) throws {
        let folder = try folder()
        for name in ["a", "b"] {
            #expect(try run("encrypt", options + ["plain", name], folder).status == 0)
            let whole = try run("decrypt", options + [name, "-"], folder)
            #expect(whole.status == 0 && whole.output == Self.plaintext, "\(whole.errorLines)")
            let part = try run("decrypt", options + [name, "-", "--range", "1000-2999"], folder)
            #expect(part.output == Array(Self.plaintext[1000...2999]))
        }
        let ciphertexts = (folder.bytes("a"), folder.bytes("b"))
        #expect(ciphertexts.0?.prefix(16) != ciphertexts.1?.prefix(16))
        #expect(folder.names == ["a", "a.iv", "b", "b.iv", "key", "plain"])
        #expect(try permissions("a.iv", folder) == permissions("a", folder))
    }

    private func permissions(_ name: String, _ folder: TemporaryFolder) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.path(name))[.posixPermissions] as? Int
    }

    @Test("an encrypted file is replaced with its IV, and --iv overrides it")
    func replaced() throws {
        let folder = try folder()
        for text in ["one, some more text", "other"] {
            try folder.file("plain", text)
            #expect(try run("encrypt", ["--strategy", "ctr", "plain", "a"], folder).status == 0)
            #expect(try run("decrypt", ["--strategy", "ctr", "a", "-"], folder).text == text)
        }
        let other = try run("decrypt", ["--strategy", "ctr", "--iv", Chunkwise.ivHex, "a", "-"], folder)
        #expect(other.status == 0 && other.text != "other")
    }

    @Test("an IV is not taken for another file", arguments: [[], ["--strategy", "ctr"]])
    func moved(options: [String]) throws {
        let folder = try folder()
        for name in ["a", "b"] { #expect(try run("encrypt", options + ["plain", name], folder).status == 0) }
        try folder.file("a", try #require(folder.bytes("b")))
        for command in [["decrypt", "a", "-"], ["measure", "--input", "a"], ["serve", "--port", "0", "a"]] {
            let result = try run(command[0], options + command.dropFirst(), folder)
            #expect(result.status != 0 && result.output.isEmpty)
            #expect(result.errorLines.contains { $0.contains("a.iv") && $0.contains("expected") })
        }
    }

    @Test("an IV replaces nothing but an IV")
    func place() throws {
        let folder = try folder()
        try folder.file("key.iv", Chunkwise.keyHex + "\n", isSecret: true)
        try folder.file("plain.iv", Chunkwise.ivHex)
        try folder.file("film.iv", "subtitles")
        for (arguments, word) in [
            (["--key-file", "key.iv", "plain", "key"], "key.iv"),
            (["--key-file", "key", "plain.iv", "plain"], "plain.iv"),
            (["--key-file", "key", "plain", "film"], "film.iv"),
        ] {
            let before = folder.names.map { folder.bytes($0) }
            let result = try Chunkwise.run(["encrypt"] + arguments, in: folder.path)
            #expect(result.status != 0 && result.errorLines.contains { $0.contains(word) && $0.contains("expected") })
            #expect(folder.names.map { folder.bytes($0) } == before)
        }
        Chunkwise.expectFailure(try run("encrypt", ["plain", "-"], folder), 64, "--iv")
    }
}
