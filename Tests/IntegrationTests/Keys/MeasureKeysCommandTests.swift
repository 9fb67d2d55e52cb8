import Results
import TestSupport
import Testing

@Suite("chunkwise keys measure")
struct MeasureKeysCommandTests {
    private static let few = [
        "--delays", "0,1", "--keys", "2", "--rounds", "6", "--segment-size", "1KiB", "--max-ratio", "1e9",
    ]

    private static func measure(_ options: [String], in folder: TemporaryFolder) throws -> CommandRun {
        try CommandRun.run(
            Programs.chunkwise, ["keys", "measure"] + few + options, in: folder.path)
    }

    @Test("a measurement is kept as it is printed")
    func kept() throws {
        let folder = try TemporaryFolder()
        let run = try Self.measure(["--output", "a/b", "--format", "json"], in: folder)
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        #expect(folder.bytes("a/b/key-waits.json") == run.output && folder.names(in: "a/b") == ["key-waits.json"])
        let record = try KeyWaitsRecord(file: run.output)
        #expect(record.command.prefix(3) == ["chunkwise", "keys", "measure"])
        #expect(record.keyCount == 2 && record.rounds == 6 && record.segmentByteCount == 1024)
        #expect(record.cells.map(\.source) == KeyWaitsRecord.KeySource.allCases + KeyWaitsRecord.KeySource.allCases)
        #expect(record.cells.map(\.delayMilliseconds) == [0, 0, 0, 0, 1, 1, 1, 1])
        #expect(record.cells.map(\.requestCount) == [0, 0, 1, 2, 0, 0, 1, 2])
        #expect(record.cells.allSatisfy { $0.samplesNanoseconds.count == 6 })
        for local in record.cells where local.source == .local {
            #expect(local.ratioToLocal == .init(low: 1, estimate: 1, high: 1))
        }
    }

    @Test("a folder that cannot be written to ends the command before it measures")
    func unwritable() throws {
        let folder = try TemporaryFolder()
        try folder.file("file", "")
        let run = try Self.measure(["--output", "file"], in: folder)
        #expect(run.status == 74 && run.output.isEmpty && run.errorLines.count == 1, "\(run.errorLines)")
    }
}
