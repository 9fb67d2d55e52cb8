import Foundation
import Support
import TestSupport
import Testing

@Suite("chunkwise verify interop")
struct InteropCommandTests {
    private let source = Project.folder.appending(path: "data/interop/ctr")

    @Test("counts by format, as text and as JSON, of the backend that is named")
    func counts() throws {
        let arguments = ["verify", "interop", Project.path("data/interop/ctr"), "--backend", "openssl"]
        let text = try Chunkwise.run(arguments)
        #expect(text.status == 0 && text.errorLines.isEmpty, "\(text.errorLines)")
        #expect(String(decoding: text.output, as: UTF8.self).contains("not detectable"))
        let run = try Chunkwise.run(arguments + ["--format", "json"])
        let format = try #require(JSONValue.parse(run.output)?["formats"]?.array?.first)
        #expect(format["name"]?.string == "ctr" && format["files"]?.integer == 6 && format["failed"]?.integer == 0)
        // One backend: each object has its 12 ranges, the whole, and at least 24 more.
        let ranges = try #require(format["ranges"]?.integer)
        #expect((6 * 37..<12 * 37).contains(Int(ranges)))
    }

    @Test("a subject gets what a backend gets, and its faults are failures with the object's name")
    func subjects() throws {
        func format(_ arguments: [String], status: Int32) throws -> JSONValue {
            let folder = Project.path("data/interop/tink-aes-gcm-hkdf")
            let run = try Chunkwise.run(["verify", "interop", folder, "--format", "json"] + arguments)
            #expect(run.status == status, "\(run.errorLines)")
            return try #require(JSONValue.parse(run.output)?["formats"]?.array?.first)
        }
        let subject = "'\(Programs.chunkwise)' subject --backend openssl"
        let own = try format(["--backend", "openssl"], status: 0)
        #expect(try format(["--subject", subject], status: 0) == own)
        let blind = try format(["--subject", "\(subject) --mutant chunk-tag-ignored"], status: 1)
        #expect(blind["damages"] == own["damages"] && blind["ranges"] == own["ranges"])
        let failure = try #require(blind["failures"]?.array?.first)
        #expect(failure["file"]?.string?.hasSuffix(".tink") == true)
        #expect(failure["reason"]?.string?.contains("was not noticed") == true)
        let text = try Chunkwise.run([
            "verify", "interop", Project.path("data/interop/tink-aes-gcm-hkdf"), "--subject",
            "\(subject) --mutant chunk-tag-ignored",
        ]).text
        let listed = text.split(separator: "\n").count { $0.hasPrefix("FAILED ") }
        let failed = try #require(blind["failed"]?.integer)
        #expect(listed == 20 && failed > 21 && text.contains("and \(failed - 20) more failures"), "\(text)")
    }

    @Test("a list of chunk lengths is unsupported by a subject, since no request tells it")
    func untold() throws {
        let run = try Chunkwise.run([
            "verify", "interop", Project.path("data/interop/seal"), "--format", "json", "--subject",
            "'\(Programs.chunkwise)' subject --backend openssl",
        ])
        let formats = JSONValue.parse(run.output)?["formats"]?.array ?? []
        #expect(run.status == 0, "\(run.errorLines)")
        #expect(formats.contains { $0["unsupported"]?.integer ?? 0 > 0 && $0["passed"]?.integer ?? 0 > 0 })
    }

    @Test(
        "formats that are described beside their objects are read, and what they promise to notice is noticed",
        arguments: [["--backend", "openssl"], ["--subject", "'\(Programs.chunkwise)' subject --backend openssl"]])
    func described(options: [String]) throws {
        let run = try Chunkwise.run(
            ["verify", "interop", Project.path("contrib/formats"), "--format", "json"] + options)
        let formats = JSONValue.parse(run.output)?["formats"]?.array ?? []
        #expect(run.status == 0 && formats.count == 1, "\(run.errorLines)")
        for format in formats {
            #expect(format["failed"]?.integer == 0 && format["files"]?.integer ?? 0 >= 3, "\(format)")
        }
    }

    @Test("bad and missing input have exit codes of their own")
    func input() throws {
        let folder = try TemporaryFolder()
        let copy = folder.path("ctr")
        try FileManager.default.copyItem(atPath: source.path, toPath: copy)
        func run() throws -> CommandRun { try Chunkwise.run(["verify", "interop", copy, "--backend", "openssl"]) }
        let file = URL(filePath: copy).appending(path: "ctr-256-17.bin")
        let bytes = try Data(contentsOf: file)
        var changed = bytes
        changed[3] ^= 1
        try changed.write(to: file)
        Chunkwise.expectFailure(try run(), 65, "ctr-256-17.bin")
        try FileManager.default.removeItem(at: file)
        Chunkwise.expectFailure(try run(), 66, "ctr-256-17.bin")
        try bytes.write(to: file)
        #expect(try run().status == 0)
        try Data("{}".utf8).write(to: URL(filePath: copy).appending(path: "index.json"))
        #expect(try run().status == 65)
        Chunkwise.expectFailure(try Chunkwise.run(["verify", "interop", folder.path("nothing")]), 66)
        #expect(try Chunkwise.run(["verify", "interop"]).status == 64)
        Chunkwise.expectFailure(
            try Chunkwise.run(["verify", "interop", source.path, "--subject", "exit 127"]), 66, "did not start")
    }

    @Test("nothing that can be read is no pass")
    func unsupported() throws {
        let run = try Chunkwise.run(
            ["verify", "interop", Project.path("data/interop/cbc-chunked"), "--backend", "sodium"])
        #expect(run.status == 2, "\(run.errorLines)")
    }
}
