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

    @Test("formats that are described beside their objects are read, and what they promise to notice is noticed")
    func described() throws {
        let run = try Chunkwise.run(
            ["verify", "interop", Project.path("contrib/formats"), "--backend", "openssl", "--format", "json"])
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
    }

    @Test("nothing that can be read is no pass")
    func unsupported() throws {
        let run = try Chunkwise.run(
            ["verify", "interop", Project.path("data/interop/cbc-chunked"), "--backend", "sodium"])
        #expect(run.status == 2, "\(run.errorLines)")
    }
}
