import Foundation
import Gate
import Measurement
import Results
import SystemPackage
import TestSupport
import Testing

@Suite("a self-test's file")
struct SelfTestRecordTests {
    private static func header(tolerance: Double = 0.02, isBusy: Bool = false) -> SelfTestHeader {
        var gate = GateSettings(baseline: "a", candidate: "a", cells: DefaultCells.cells(keyByteCount: 16), seed: 5)
        gate.tolerance = tolerance
        return SelfTestHeader(
            settings: SelfTestSettings(gate: gate, runCount: 1, slowdowns: [], isBusy: isBusy), baseline: "a",
            programVersion: "1", command: ["chunkwise"], startedAt: "2026-01-01T00:00:00Z",
            host: .init(name: "h", cpuModel: "CPU", cpuCount: 1, cpuFlags: [], memoryByteCount: 1, kernel: "k"))
    }

    private static let calibration: SelfTestCalibration = {
        let point = SelfTestCalibration.Point(
            extraWork: 0.3, cell: "c", slowdown: 1.2, low: 1.19, high: 1.21, blockCount: 9)
        return SelfTestCalibration(large: point, small: point)
    }()

    private static let bytes = SelfTestRecord.header(header()).line + SelfTestRecord.calibration(calibration).line

    @Test("what was written is read again, and a last line without an end was not")
    func roundTrip() throws {
        let (records, byteCount) = try SelfTestRecord.read(Self.bytes + Array("{\"run\":{\"pl".utf8), file: "f")
        #expect(byteCount == Self.bytes.count && records.count == 2)
        guard case .header(let header) = records[0], case .calibration(let calibration) = records[1] else {
            Issue.record("other records than were written")
            return
        }
        #expect(header == Self.header() && calibration == Self.calibration)
    }

    @Test("a log goes on after its last whole line")
    func log() throws {
        let folder = try TemporaryFolder()
        let path = FilePath(try folder.file("log", Self.bytes + Array("{\"run".utf8)))
        do {
            let log = try SelfTestLog(path: path)
            #expect(log.earlierRecords.count == 2)
            try log.append(.calibration(Self.calibration))
        }
        #expect(folder.bytes("log") == Self.bytes + SelfTestRecord.calibration(Self.calibration).line)
    }

    @Test(
        "what is no self-test's file is refused",
        arguments: ["{}\n", "x\n", "{\"header\":{\"schema\":1}}\n", "{\"header\":1}\n"])
    func garbage(text: String) {
        #expect(throws: GateError.self) { try SelfTestRecord.read(Array(text.utf8), file: "f") }
    }

    @Test("a file without a header, or of another schema, is refused by name")
    func schema() {
        let error = #expect(throws: GateError.self) {
            try SelfTestRecord.read(SelfTestRecord.calibration(Self.calibration).line, file: "f")
        }
        #expect("\(error ?? .interrupted)".contains("header"))
        var header = Self.header()
        header.schema = "chunkwise-gate-self-test-9"
        let other = #expect(throws: GateError.self) {
            try SelfTestRecord.read(SelfTestRecord.header(header).line, file: "f")
        }
        #expect("\(other ?? .interrupted)".contains("self-test-9"))
    }

    @Test("self-tests that differ in what they measure are two")
    func differences() {
        var later = Self.header()
        later.startedAt = "2027-01-01T00:00:00Z"
        later.seed = 9
        #expect(Self.header().difference(from: later) == nil)
        #expect(Self.header().difference(from: Self.header(tolerance: 0.05))?.contains("tolerance") == true)
        #expect(Self.header().difference(from: Self.header(isBusy: true))?.contains("busy") == true)
    }
}
