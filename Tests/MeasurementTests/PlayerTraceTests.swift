import Foundation
import Measurement
import SubjectProtocol
import Support
import Testing

@Suite("player traces")
struct PlayerTraceTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../data/traces")

    @Test("the project's traces are read, are named like their files, and can be replayed")
    func project() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(names.count == 16)
        for name in names {
            let bytes = try Data(contentsOf: Self.folder.appending(path: name))
            let trace = try PlayerTrace(JSONValue.parse(Array(bytes)), file: name)
            #expect(trace.name + ".json" == name && !trace.source.isEmpty)
            let reads = try #require(trace.reads(objectByteCount: trace.minByteCount, windowByteCount: 4096))
            #expect(reads.allSatisfy { $0.count > 0 && $0.offset + $0.count <= trace.minByteCount })
            #expect(trace.reads(objectByteCount: trace.minByteCount - 1, windowByteCount: 4096) == nil)
        }
    }

    @Test("a recorded request has its time, which is a number or is not there")
    func times() throws {
        func trace(_ time: String) throws -> PlayerTrace {
            let head = #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":["#
            let text = head + #"{"offset":1,"count":2"# + time + "}]}"
            return try PlayerTrace(JSONValue.parse(Array(text.utf8)), file: "t.json")
        }
        #expect(try trace(#","nanoseconds":7,"object":"b""#).requests == [.init(offset: 1, count: 2, nanoseconds: 7)])
        #expect(try trace("").requests == [.init(offset: 1, count: 2)])
        #expect(throws: TraceError.self) { try trace(#","nanoseconds":-1"#) }
    }

    @Test("a request is cut into windows, and one to the end ends where the object does")
    func windows() {
        let trace = PlayerTrace(
            name: "x", source: "", minByteCount: 100,
            requests: [.init(offset: 10, count: 25), .init(offset: 90, count: nil), .init(offset: 0, count: 1)])
        let reads = trace.reads(objectByteCount: 105, windowByteCount: 10)?.map { [$0.offset, $0.count] }
        #expect(reads == [[10, 10], [20, 10], [30, 5], [90, 10], [100, 5], [0, 1]])
        #expect(trace.reads(objectByteCount: 1 << 40, windowByteCount: 1) == nil)
    }

    @Test(
        "a trace that the schema does not allow is refused",
        arguments: [
            "", "[]", "{}", #"{"schema":2}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":0,"requests":[{"offset":0,"count":1}]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":[]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":[{"offset":9,"count":1}]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":[{"offset":0,"count":0}]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":[{"offset":5,"count":5}]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":[{"offset":5}]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"x":1,"requests":[{"offset":0,"count":1}]}"#,
        ])
    func refused(text: String) {
        #expect(throws: TraceError.self) { try PlayerTrace(JSONValue.parse(Array(text.utf8)), file: "t.json") }
    }
}
