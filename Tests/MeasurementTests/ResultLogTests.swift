import Measurement
import Results
import SystemPackage
import TestSupport
import Testing

private let cell = Cell(backend: "openssl", strategy: "ctr", windowByteCount: 4096, objectByteCount: 65536)
private let header = ResultRecord.header(
    RunHeader(
        programVersion: "0", command: [], startedAt: "", host: ThisHost.describe(), backends: [], plan: nil, seed: 1))
private let failure = ResultRecord.failure(FailureRecord(cell: cell, reason: "r"))

@Suite("result logs")
struct ResultLogTests {
    @Test("what was appended is there when the file is opened again")
    func resuming() throws {
        let folder = try TemporaryFolder()
        let path = FilePath(folder.path("log"))
        #expect(try ResultLog(path: path).earlierRecords.isEmpty)
        try ResultLog(path: path).append(header)
        do {
            let log = try ResultLog(path: path)
            #expect(log.earlierRecords == [header])
            try log.append(failure)
            try log.append(.end)
            // One writer at a time.
            #expect(throws: SweepError.self) { try ResultLog(path: path) }
        }
        #expect(try ResultLog(path: path).earlierRecords == [header, failure, .end])
        let (results, isCut) = try ResultLog.read(path)
        #expect(results.isComplete && !isCut && results.cells.first?.failure == "r")
    }

    @Test("a last line that was cut anywhere is dropped, and the next record stands alone on its line")
    func cut() throws {
        let folder = try TemporaryFolder()
        let path = FilePath(folder.path("log"))
        let (first, second) = (try header.line(), try failure.line())
        for length in 0..<first.count + second.count {
            try folder.file("log", Array((first + second).prefix(length)))
            do {
                let log = try ResultLog(path: path)
                #expect(log.earlierRecords == (length < first.count ? [] : [header]), "\(length) bytes")
                if length > first.count { #expect(folder.bytes("log") == first, "\(length) bytes") }
                if length < first.count { try log.append(header) }
                try log.append(.end)
            }
            #expect(try ResultLog(path: path).earlierRecords == [header, .end], "\(length) bytes")
        }
    }

    @Test("reading for a report says that a line was cut, and leaves the file as it is")
    func readingCut() throws {
        let folder = try TemporaryFolder()
        let bytes = try header.line() + Array("{\"fail".utf8)
        let path = try FilePath(folder.file("log", bytes))
        #expect(try ResultLog.read(path).isCut)
        #expect(folder.bytes("log") == bytes)
    }

    @Test("a damaged line in the middle, and another schema, are errors that change nothing")
    func damage() throws {
        let folder = try TemporaryFolder()
        for (bytes, expected) in [
            (try header.line() + Array("garbage\n".utf8) + failure.line(), ResultsError.damagedLine(2)),
            (Array("{\"header\":{\"schema\":\"x-9\"}}\n".utf8), .unknownSchema("x-9")),
        ] {
            let path = try FilePath(folder.file("log", bytes))
            #expect(throws: SweepError.damaged(path.string, expected)) { try ResultLog(path: path) }
            #expect(throws: SweepError.damaged(path.string, expected)) { try ResultLog.read(path) }
            #expect(folder.bytes("log") == bytes)
        }
    }

    @Test("a folder that is missing, a directory and a full disk are errors of input and output")
    func unwritable() throws {
        let folder = try TemporaryFolder()
        for path in [folder.path("missing/log"), folder.path] {
            #expect(throws: SweepError.self) { try ResultLog(path: FilePath(path)) }
        }
        // Reading it would not end, so only writing is tried.
        #expect(throws: SweepError.self) { try ResultLog.read(FilePath(folder.path("missing"))) }
    }
}
