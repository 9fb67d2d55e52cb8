import Glibc
import Measurement
import RandomAccess
import Server
import Support
import SystemPackage
import TestSupport
import Testing

@Suite("recorded traces")
struct TraceRecorderTests {
    private static func trace(_ folder: TemporaryFolder) throws -> PlayerTrace {
        try PlayerTrace(JSONValue.parse(try #require(folder.bytes("My film_1.json"))), file: "t")
    }

    @Test("after each request the file is a whole trace that can be replayed")
    func growing() throws {
        let folder = try TemporaryFolder()
        let recorder = try TraceRecorder(path: FilePath(folder.path("My film_1.json")), title: "A \"client\"\n")
        try recorder.start()
        for index in 0..<20 as Range<UInt64> {
            let asked = index == 3 ? nil : "bytes=\(index)-\"\\\u{1}"
            let entry = recorder.begin(
                asked: asked, object: "a/film.mp4", range: index..<1000 * (index + 1), objectByteCount: 20_000 + index,
                at: index * 1_000_000)
            #expect(try Self.trace(folder).requests.count == Int(index) + 1)
            recorder.finish(entry, deliveredByteCount: index == 5 ? 77 : .max)
        }
        let trace = try Self.trace(folder)
        #expect(trace.name == "my-film-1" && trace.minByteCount == 20_019)
        for (index, request) in trace.requests.enumerated() {
            let index = UInt64(index)
            #expect(request.offset == index && request.nanoseconds == index * 1_000_000)
            #expect(request.count == (index == 5 ? 77 : 1000 * (index + 1) - index))
        }
        #expect(trace.reads(objectByteCount: 20_019, windowByteCount: 4096)?.isEmpty == false)
        #expect(recorder.failure == nil)
    }

    @Test("a trace without a request says that it has none")
    func empty() throws {
        let folder = try TemporaryFolder()
        try TraceRecorder(path: FilePath(folder.path("My film_1.json")), title: "").start()
        #expect(throws: TraceError.self) { try Self.trace(folder) }
        #expect(throws: (any Error).self) { try TraceRecorder(path: FilePath(folder.path("no/t.json")), title: "") }
    }

    @Test("a trace is replaced once it starts, and nothing else ever is")
    func replacing() throws {
        let folder = try TemporaryFolder()
        let path = FilePath(folder.path("My film_1.json"))
        let before = try TraceRecorder(path: path, title: "before")
        try before.start()
        let old = try #require(folder.bytes("My film_1.json"))
        let after = try TraceRecorder(path: path, title: "after, and longer")
        #expect(folder.bytes("My film_1.json") == old)
        try after.start()
        #expect(folder.bytes("My film_1.json") != old)
        for other in ["ciphertext", "{}", "{\"name\": 1}"] {
            _ = try folder.file("other", other)
            #expect(throws: DecryptionError.self) {
                try TraceRecorder(path: FilePath(folder.path("other")), title: "")
            }
            #expect(folder.bytes("other") == Array(other.utf8))
        }
    }

    @Test("what cannot be written is said, and ends nothing")
    func full() throws {
        let folder = try TemporaryFolder()
        // What is written there fails for want of space.
        #expect(throws: (any Error).self) { try TraceRecorder(path: "/dev/full", title: "") }
        // A pipe cannot be cut. A trace that did not start gets no request, which would stand behind a hole.
        let path = folder.path("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let recorder = try TraceRecorder(path: FilePath(path), title: "")
        #expect(throws: DecryptionError.self) { try recorder.start() }
        _ = recorder.begin(asked: nil, object: "a", range: 0..<10, objectByteCount: 10, at: 0)
        #expect(recorder.failure != nil)
    }
}
