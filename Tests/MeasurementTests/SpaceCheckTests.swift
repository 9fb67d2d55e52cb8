import Results
import Testing

@testable import Measurement

@Suite("room for objects")
struct SpaceCheckTests {
    private func planned(_ byteCount: UInt64, line: Int, source: String = "file") -> PlannedCell {
        PlannedCell(
            cell: Cell(
                backend: "x", strategy: "ctr", windowByteCount: 1, objectByteCount: byteCount, source: source),
            rounds: 1, objectLine: line)
    }

    @Test("objects are counted once each, and the largest is named")
    func shortage() throws {
        let cells = [planned(1 << 30, line: 3), planned(3 << 30, line: 7), planned(3 << 30, line: 9)]
        #expect(SpaceCheck.shortage(of: cells, freeByteCount: 4 << 30) { _ in false } == nil)
        let shortage = try #require(SpaceCheck.shortage(of: cells, freeByteCount: (4 << 30) - 1) { _ in false })
        #expect(shortage.cell.objectLine == 7 && shortage.message.contains("3GiB"))
    }

    @Test("what is computed or made already takes no room; sums do not overflow")
    func edges() {
        let generated = [planned(1 << 60, line: 1, source: "generated")]
        #expect(SpaceCheck.shortage(of: generated, freeByteCount: 0) { _ in false } == nil)
        #expect(SpaceCheck.shortage(of: [planned(9, line: 1)], freeByteCount: 0) { _ in true } == nil)
        let huge = (0..<9).map { planned(1 << 61 + UInt64($0), line: 1) }
        #expect(SpaceCheck.shortage(of: huge, freeByteCount: 1 << 63) { _ in false } != nil)
    }
}
