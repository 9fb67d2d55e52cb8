import Foundation
import Glibc
import TestSupport
import Testing

@Suite("decrypt with the strategy pieces")
struct PieceTests {
    private let folder: TemporaryFolder
    private let plaintext = Samples.bytes(5000)
    private static let otherKeyHex = "5ec2e70f0e0d0c0b0a09080706050403"
    private static let document = """
        pieces:
        - {file: parts/ctr.enc, strategy: ctr, iv: \(Chunkwise.ivHex)}
        - {file: tink.enc, range: 3-, strategy: "tink-aes-gcm-hkdf:segment=1KiB", key: other}
        - {file: plain, range: 10-1009, strategy: none}
        - {file: cbc.enc, strategy: cbc-continuous, iv: \(Chunkwise.ivHex)}

        """

    /// 2000 bytes in CTR, 1500 in segments with a key of their own behind three bytes, 1000 as they are, 500 in CBC.
    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("parts"), withIntermediateDirectories: true)
        try folder.file("key", Chunkwise.keyHex + "\n", isSecret: true)
        try folder.file("other", Self.otherKeyHex + "\n", isSecret: true)
        try encrypt(plaintext[..<2000], "ctr", "parts/ctr.enc", ["--iv", Chunkwise.ivHex])
        try encrypt(plaintext[2000..<3500], "tink-aes-gcm-hkdf:segment=1KiB", "whole.enc", [], key: "other")
        try folder.file("tink.enc", [1, 2, 3] + (folder.bytes("whole.enc") ?? []))
        try folder.file("plain", [UInt8](repeating: 7, count: 10) + plaintext[3500..<4500] + [8])
        try encrypt(plaintext[4500...], "cbc-continuous", "cbc.enc", ["--iv", Chunkwise.ivHex])
        try folder.file("film.yml", Self.document)
    }

    private func encrypt(
        _ plaintext: ArraySlice<UInt8>, _ strategy: String, _ output: String, _ options: [String], key: String = "key"
    ) throws {
        try folder.file("in", Array(plaintext))
        let run = try Chunkwise.run(
            ["encrypt", "--key-file", key, "--strategy", strategy] + options + ["in", output], in: folder.path)
        try #require(run.status == 0, "\(run.errorLines)")
    }

    private func decrypt(_ arguments: [String], key: [String] = ["--key-file", "key"]) throws -> CommandRun {
        try Chunkwise.run(["decrypt", "--strategy", "pieces"] + key + arguments, in: folder.path)
    }

    @Test("the pieces are one plaintext, of which ranges are read over their edges")
    func ranges() throws {
        let whole = try decrypt(["film.yml", "out", "--threads", "3", "--window", "100"])
        #expect(whole.status == 0 && whole.errorLines.isEmpty, "\(whole.errorLines)")
        #expect(Samples.difference(folder.bytes("out") ?? [], plaintext) == nil)
        for (text, range) in [
            ("0-0", 0..<1), ("1990-3600", 1990..<3601), ("-501", 4499..<5000), ("4990-", 4990..<5000),
        ] {
            let run = try decrypt(["film.yml", "-", "--range", text])
            #expect(run.status == 0 && run.output == Array(plaintext[range]), "\(text): \(run.errorLines)")
        }
    }

    @Test("what is wrong is one line with the place in the document or the piece, and nothing is left")
    func failures() throws {
        func failure(
            _ document: String, _ status: Int32, _ word: String, key: [String] = ["--key-file", "key"]
        ) throws {
            try folder.file("bad.yml", document)
            Chunkwise.expectFailure(try decrypt(["bad.yml", "out"], key: key), status, word, document)
        }
        try failure("pieces: [{file: plain}]", 65, "bad.yml: line 1, column 10: no \"strategy\"")
        try failure("pieces: [{file: plain, strategy: rot13}]", 65, "bad.yml: line 1, column 34: ")
        try failure("pieces: [{file: plain, strategy: ctr}]", 65, "column 34: invalid parameter \"iv\" of ctr")
        try failure("pieces: [{file: none, strategy: none}]", 66, "piece 1 (line 1, none): ")
        try failure("pieces: [{file: plain, range: 0-5000, strategy: none}]", 65, "piece 1 (line 1, plain): ")
        try failure(Self.document, 65, "piece 1 (line 2, parts/ctr.enc): the key has 0 bytes", key: [])
        try failure(
            Self.document.replacing("key: other", with: "key: key"), 65, "piece 2 (line 3, tink.enc): ")
        try failure(Self.document.replacing("key: other", with: "key: gone"), 66, "piece 2 (line 3, tink.enc): ")
        for options in [["--iv", Chunkwise.ivHex], ["--keys", "."], ["--root", "."], ["--segment-ranges", "chain"]] {
            Chunkwise.expectFailure(try decrypt(options + ["film.yml", "out"]), 64, options[0])
        }
        Chunkwise.expectFailure(try decrypt(["none.yml", "out"]), 66, "none.yml")
        #expect(folder.bytes("out") == nil)
    }

    @Test("nothing is read but what lies in the document's folder, and nothing that is read is written over")
    func files() throws {
        symlink("../outside", folder.path("parts/link"))
        symlink("ctr.enc", folder.path("parts/inside"))
        try folder.file("outside", [1, 2, 3])
        for (name, status) in [("link", 65), ("inside", 0)] as [(String, Int32)] {
            try folder.file("parts/list.yml", "pieces: [{file: \(name), strategy: none}]")
            let run = try decrypt(["parts/list.yml", "copy"])
            #expect(run.status == status, "\(run.errorLines)")
            #expect(status == 0 || run.errorLines.first?.contains("expected a file in ") == true)
        }
        #expect(folder.bytes("copy")?.count == 2000)
        for output in ["film.yml", "tink.enc", "other"] {
            let before = folder.bytes(output)
            Chunkwise.expectFailure(try decrypt(["film.yml", output]), 64, "belongs to the pieces")
            #expect(folder.bytes(output) == before)
        }
    }

    @Test("with --keep-going the rest is written, and what is missing is named")
    func keepGoing() throws {
        unlink(folder.path("tink.enc"))
        let failed = try decrypt(["film.yml", "out"])
        Chunkwise.expectFailure(failed, 66, "--keep-going writes the rest")
        let run = try decrypt(["film.yml", "out", "--keep-going"])
        #expect(run.status == 1 && run.errorLines.contains { $0.contains("missing: piece 2 (line 3, tink.enc)") })
        #expect(folder.bytes("out") == Array(plaintext[..<2000] + plaintext[3500...]))
    }

    @Test("a document's object is served under its name, range by range")
    func served() throws {
        try folder.file("film.mp4.yml", Self.document)
        let server = try ServerProcess(
            folder, ["film.mp4.yml"], options: ["--strategy", "pieces", "--port", "0", "--key-file", "key"])
        let response = try server.get("/\(server.token)/film.mp4", ["Range: bytes=1990-3600"])
        #expect(response.status == 206 && response.body == Array(plaintext[1990...3600]))
        #expect(response["content-type"] == "video/mp4")
        #expect(try server.get("/\(server.token)/film.mp4").body == plaintext)
        let tag = try #require(response["etag"])
        #expect(try server.get("/\(server.token)/film.mp4")["etag"] == tag && !tag.hasPrefix("W/"))
        // Another plaintext has another tag.
        try folder.file("plain", [UInt8](repeating: 9, count: 2000))
        folder.settle()
        #expect(try server.get("/\(server.token)/film.mp4")["etag"] != tag)
        unlink(folder.path("plain"))
        #expect(try server.get("/\(server.token)/film.mp4").status >= 400)
        #expect(try server.get("/\(server.token)/plain").status == 404)
    }
}
