import BackendRegistry
import Measurement
import Report
import Results
import SubjectProtocol
import Support

extension MeasureCommand {
    /// Measures the cell of a plan in an open loop, and prints latency against load.
    func measureOpenLoop(_ text: String, _ plan: Plan, on object: MeasuredObject?) throws {
        let loads = try require(
            Arrivals.loads(text), .usage,
            "--arrival \(text): expected reads per second from 0.01 to 10000000, such as 2000, fixed:2000 or 500,1000")
        guard let job = OpenLoopJob(plan, loads: loads) else { return }
        for load in loads {
            let count = job.readCount(at: load)
            try require(
                count <= Arrivals.maxReads, .usage,
                "--arrival \(load) for \(milliseconds): expected at most \(Arrivals.maxReads) reads a process, "
                    + "found \(count)")
        }
        Interruption.install()
        let folder = try attempt { try RunFolder.temporary() }
        defer { folder.removeTemporary() }
        if object == nil, let shortage = SpaceCheck.shortage(of: plan.cells, in: folder) {
            throw CommandFailure(.usage, "--\(shortage.message)")
        }
        defer { Terminal.clearProgress() }
        do {
            let records = try job.run(
                in: folder, input: object, program: SweepRunning.program(plan),
                encryption: CombinedBackend(), network: Network.client(),
                progress: { Terminal.showProgress("open loop, process \($0 + 1) of \($1)") },
                isInterrupted: { Interruption.wasRequested })
            Terminal.clearProgress()
            let report = OpenLoopReport(job.cell, records)
            output.show(report.text, json: report.json)
        } catch let failure as CellFailure {
            try require(!Interruption.wasRequested, .noAnswer, "stopped before the end")
            throw CommandFailure(.no, failure.description)
        } catch let error as SweepError {
            throw CommandFailure(.io, "\(error)")
        }
    }
}
