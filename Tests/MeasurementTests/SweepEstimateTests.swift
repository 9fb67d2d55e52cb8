import Measurement
import RandomAccess
import Results
import SubjectProtocol
import Testing

@Suite("estimates")
struct SweepEstimateTests {
    private func seconds(_ change: (inout Cell) -> Void, rounds: Int = 1, rate: Double = 1e9) -> Double {
        var cell = Cell(backend: "x", strategy: "ctr", windowByteCount: 1 << 20, objectByteCount: 1 << 30)
        change(&cell)
        var plan = Plan(
            text: "", seed: 1, roundNanoseconds: 1_000_000, cells: [PlannedCell(cell: cell, rounds: rounds)])
        plan.strategies[cell.strategy] = try? Strategy(measured: cell.strategy)
        return Double(SweepEstimate(plan) { _, _ in rate }.nanoseconds) / 1e9
    }

    @Test("more rounds, slower backends, whole chunks and a store far away take longer")
    func order() {
        let plain = seconds { _ in }
        #expect(plain > 4 && plain < 20, "\(plain) s for a GiB, four times at 1 GB/s")
        #expect(seconds({ _ in }, rounds: 9) > plain + 8)
        #expect(seconds({ _ in }, rate: 1e8) > plain + 30)
        #expect(seconds { $0.remoteLatencyNanoseconds = 20_000_000 } > plain + 4 * 1024 * 0.02 - 3)
        #expect(
            seconds {
                $0.remoteLatencyNanoseconds = 0; $0.remoteBytesPerSecond = 100_000_000
            } > plain + 35)
        let serial = seconds { $0.remoteLatencyNanoseconds = 20_000_000 }
        #expect(
            seconds {
                $0.remoteLatencyNanoseconds = 20_000_000; $0.remoteClient = "chunkwise"
            } < serial / 2)
        #expect(seconds { $0.isCold = true } > plain)
        let random = { (cell: inout Cell) in
            cell.workload = "random:4KiB"
            cell.readCount = 100
        }
        #expect(seconds(random) < plain)
        let chunks = seconds {
            random(&$0)
            $0.access = .chunkCache
            $0.chunkByteCount = 16 << 20
        }
        #expect(chunks > seconds(random) + 4)
        // A chunk with a tag is decrypted whole, whatever the access says.
        let tags = seconds {
            random(&$0)
            ($0.strategy, $0.chunkByteCount) = ("tink-aes-gcm-hkdf:segment=16MiB", (16 << 20) - 16)
        }
        #expect(tags > seconds(random) + 4)
    }

    @Test("no numbers of a plan are too large to be estimated")
    func extremes() {
        #expect(seconds({ $0.objectByteCount = 1 << 61 }, rounds: 1000, rate: 0) == 1e9)
        #expect(seconds({ $0.objectByteCount = 0 }) < 1)
    }

    @Test("an estimate says how many processes and how long")
    func text() {
        let plan = Plan(
            text: "", seed: 1, roundNanoseconds: 90_000_000_000,
            cells: [
                PlannedCell(
                    cell: Cell(backend: "x", strategy: "ctr", windowByteCount: 1, objectByteCount: 0), rounds: 2)
            ])
        #expect("\(SweepEstimate(plan) { _, _ in 1 })" == "7 processes, about 3 min 1 s")
    }
}
