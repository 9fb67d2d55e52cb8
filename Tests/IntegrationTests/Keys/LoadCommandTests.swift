import Results
import TestSupport
import Testing

@Suite("chunkwise keys load")
struct LoadCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func load(_ options: [String]) throws -> CommandRun {
        try CommandRun.run(Programs.chunkwise, ["keys", "load"] + options, in: folder.path)
    }

    @Test("a simulation is kept as it is printed, and the same plan gives the same bytes")
    func simulated() throws {
        let options = ["--clients", "6000", "--capacity", "300", "--output", "a/b", "--format", "json"]
        let run = try load(options)
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        #expect(folder.bytes("a/b/key-load.json") == run.output)
        #expect(folder.names(in: "a/b") == ["key-load.json"])
        let record = try KeyLoadRecord(file: run.output)
        #expect(record.command == ["chunkwise", "keys", "load"] + options)
        #expect(record.clientCount == 6000 && record.capacityPerSecond == 300 && record.speed == nil)
        #expect(record.cells.map(\.mode) == [.onDemand, .preloaded, .dispersed])
        for cell in record.cells {
            let figures = cell.simulated
            #expect(cell.run == nil && cell.agrees == nil)
            #expect(figures.answeredCount + figures.gaveUpCount == 6000)
            #expect(figures.requestsPerSecond.reduce(0, +) == figures.requestCount)
            #expect(figures.requestsPerSecond.allSatisfy { $0 <= figures.peakPerSecond })
        }
        #expect(try load(options).output == run.output)
        let text = try load(["--clients", "6000", "--output", "a/b"])
        #expect(text.text.hasPrefix("onDemand: peak") && folder.bytes("a/b/key-load.json") != run.output)
    }

    @Test("a run is kept in a file of its own, whatever it says")
    func loopback() throws {
        // Whether the two agree depends on the machine's time, which nothing here does.
        let run = try load(
            [
                "--loopback", "--clients", "8", "--speed", "1000", "--mode", "dispersed", "--output", ".", "--format",
                "json",
            ])
        #expect(folder.names == ["key-load-loopback.json"] && folder.bytes("key-load-loopback.json") == run.output)
        let record = try KeyLoadRecord(file: run.output)
        #expect(record.speed == 1000 && record.cells.count == 1)
        #expect(record.cells.first?.run != nil && record.cells.first?.agrees != nil)
        #expect(run.status == Self.status(of: record), "\(run.status) \(run.errorLines)")
    }

    /// The exit status that goes with what a run on loopback found.
    static func status(of record: KeyLoadRecord) -> Int32 {
        if record.cells.allSatisfy({ $0.agrees == true }) { return 0 }
        let lag = record.cells.compactMap(\.lagNanoseconds).max() ?? 0
        return lag < KeyLoadRecord.maxLagNanoseconds ? 1 : 2
    }

    @Test("a folder that cannot be written to ends the command before it works")
    func unwritable() throws {
        try folder.file("file", "")
        let run = try load(["--clients", "10", "--output", "file/x"])
        #expect(run.status == 74 && run.output.isEmpty && run.errorLines.count == 1, "\(run.errorLines)")
    }
}
