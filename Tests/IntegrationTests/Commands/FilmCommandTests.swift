import Foundation
import Support
import TestSupport
import Testing

@Suite("decrypt with the strategy film")
struct FilmCommandTests {
    private let folder: TemporaryFolder
    private let film: [UInt8]
    private static let name = "cenc-video.mp4"

    init() throws {
        folder = try TemporaryFolder()
        let source = Project.folder.appending(path: "data/interop/cenc")
        film = try Array(Data(contentsOf: source.appending(path: Self.name)))
        try folder.file("film.mp4", film)
        let index = JSONValue.parse(try Array(Data(contentsOf: source.appending(path: "index.json"))))
        let entry = try #require(index?["files"]?.array?.first { $0["file"]?.string == Self.name })
        guard case .object(var list)? = entry["parameters"] else { throw CocoaError(.fileReadCorruptFile) }
        list["samples"] = entry["samples"]
        try folder.file("film.json", JSONValue.object(list).text)
        try folder.file("key", "\(entry["key"]?.string ?? "")\n", isSecret: true)
        try folder.file("film.yml", "pieces: [{file: film.mp4, strategy: film, samples: film.json}]\n")
        try folder.file("digest", entry["plaintextSHA256"]?.string ?? "")
    }

    private func decrypt(_ strategy: String, _ arguments: [String], key: String = "key") throws -> CommandRun {
        try Chunkwise.run(["decrypt", "--strategy", strategy, "--key-file", key] + arguments, in: folder.path)
    }

    @Test("by its boxes and by a list of samples, whole and from the middle, a film is the same")
    func ranges() throws {
        for (strategy, file) in [("film", "film.mp4"), ("pieces", "film.yml")] {
            let whole = try decrypt(strategy, [file, "out", "--threads", "2"])
            #expect(whole.status == 0 && whole.errorLines.isEmpty, "\(whole.errorLines)")
            let plaintext = folder.bytes("out") ?? []
            #expect(plaintext.count == film.count)
            let digest = SHAFunction.sha256.hash(plaintext).map {
                String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
            }
            #expect(digest.joined() == folder.bytes("digest").map { String(decoding: $0, as: UTF8.self) })
            for (text, range) in [("4600-4620", 4600..<4621), ("0-10", 0..<11), ("-5", film.count - 5..<film.count)] {
                let run = try decrypt(strategy, [file, "-", "--range", text])
                #expect(run.status == 0 && run.output == Array(plaintext[range]), "\(text): \(run.errorLines)")
            }
        }
    }

    @Test("segments are decrypted behind their initialization segment, with keys by their IDs")
    func segments() throws {
        // The film has moov before its byte 1009.
        _ = try decrypt("film", ["film.mp4", "out"])
        let plaintext = try #require(folder.bytes("out"))
        try folder.file("init.mp4", Array(film[..<1009]))
        try folder.file("7.m4s", Array(film[10_934...]))
        let key = try #require(folder.bytes("key").map { String(decoding: $0, as: UTF8.self) })
        let other = "00000000000000000000000000000001:00000000000000000000000000000002\n"
        try folder.file("keys", other + "f29a1a82-fd14-f355-17cc-9b6beda9285c:\(key)", isSecret: true)
        let run = try decrypt("film", ["--init", "init.mp4", "7.m4s", "part"], key: "keys")
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        #expect(folder.bytes("part") == Array(plaintext[10_934...]))
        try folder.file(
            "both.yml",
            """
            pieces:
            - {file: init.mp4, strategy: none}
            - {file: 7.m4s, strategy: film, init: init.mp4, key: keys}
            """)
        for key in ["key", "keys"] {
            let run = try decrypt("pieces", ["both.yml", "both"], key: key)
            #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
            #expect(folder.bytes("both") == Array(film[..<1009] + plaintext[10_934...]))
        }
        try folder.file("other", other, isSecret: true)
        let id = "f29a1a82fd14f35517cc9b6beda9285c"
        Chunkwise.expectFailure(
            try decrypt("film", ["--init", "init.mp4", "7.m4s", "no"], key: "other"), 65, "no key with the ID \(id)")
        try folder.file("other", other + key, isSecret: true)
        Chunkwise.expectFailure(
            try decrypt("film", ["--init", "init.mp4", "7.m4s", "no"], key: "other"), 65,
            "other, line 2: expected KID:KEY")
        Chunkwise.expectFailure(try decrypt("film", ["7.m4s", "no"]), 65, "a box moov before it")
        Chunkwise.expectFailure(try decrypt("film", ["--init", "7.m4s", "7.m4s", "no"]), 65, "7.m4s: ")
        Chunkwise.expectFailure(try decrypt("film", ["--init", "none", "7.m4s", "no"]), 66, "none")
        Chunkwise.expectFailure(try decrypt("film", ["--init", "init.mp4", "7.m4s", "init.mp4"]), 64, "belongs to")
        Chunkwise.expectFailure(try decrypt("pieces", ["--init", "init.mp4", "both.yml", "no"]), 64, "--init init.mp4")
        try folder.file("ctr.yml", "pieces: [{file: 7.m4s, strategy: ctr, iv: \(Chunkwise.ivHex)}]")
        Chunkwise.expectFailure(try decrypt("pieces", ["ctr.yml", "no"], key: "keys"), 65, "one key, for ctr")
        #expect(folder.bytes("no") == nil)
    }

    @Test("what is no film, or has no samples, is refused in one line with the box")
    func failures() throws {
        try folder.file("other", [1, 2, 3])
        Chunkwise.expectFailure(try decrypt("film", ["other", "out"]), 65, "the box at offset 0")
        try folder.file("cut.mp4", Array(film.dropLast()))
        Chunkwise.expectFailure(try decrypt("film", ["cut.mp4", "out"]), 65, "trun")
        try folder.file("long", [UInt8](repeating: 1, count: 32), isSecret: true)
        Chunkwise.expectFailure(try decrypt("film", ["film.mp4", "out"], key: "long"), 65, "16")
        Chunkwise.expectFailure(try decrypt("film", ["film.mp4", "film.mp4"]), 64, "belongs to the film")
        Chunkwise.expectFailure(try decrypt("pieces", ["film.yml", "film.json"]), 64, "belongs to the pieces")
        Chunkwise.expectFailure(try decrypt("film:chunk=1", ["film.mp4", "out"]), 64, "expected no parameters")
        for (text, status, words) in [
            ("{}", 65, "film.json: invalid scheme"), ("[", 65, "line 1"),
            (#"{"scheme": "cenc", "samples": [[0, 99999, "0000000000000000"]]}"#, 65, "the end of the last sample"),
        ] as [(String, Int32, String)] {
            try folder.file("film.json", text)
            Chunkwise.expectFailure(try decrypt("pieces", ["film.yml", "out"]), status, words)
        }
        unlink(folder.path("film.json"))
        Chunkwise.expectFailure(try decrypt("pieces", ["film.yml", "out"]), 66, "film.json")
        try folder.file("film.yml", "pieces: [{file: film.mp4, strategy: none, samples: film.json}]\n")
        Chunkwise.expectFailure(try decrypt("pieces", ["film.yml", "out"]), 65, "no \"samples\" of bytes")
        try folder.file("film.yml", "pieces: [{file: film.mp4, strategy: film, iv: 00}]\n")
        Chunkwise.expectFailure(try decrypt("pieces", ["film.yml", "out"]), 65, "no \"iv\" of film")
        #expect(folder.bytes("out") == nil)
    }

    @Test("a film is served under its name, range by range")
    func served() throws {
        let server = try ServerProcess(
            folder, ["film.mp4"], options: ["--strategy", "film", "--port", "0", "--key-file", "key"])
        _ = try decrypt("film", ["film.mp4", "out"])
        let plaintext = try #require(folder.bytes("out"))
        let response = try server.get("/\(server.token)/film.mp4", ["Range: bytes=4600-4620"])
        #expect(response.status == 206 && response.body == Array(plaintext[4600...4620]))
        #expect(response["content-type"] == "video/mp4")
        #expect(try server.get("/\(server.token)/film.mp4").body == plaintext)
    }
}
