package import ByteSources
package import RandomAccess
package import Results
import Statistics
package import SubjectProtocol
import Support

/// A measurement of one cell in an open loop, at one or several loads. Each load runs in fresh processes. Each round
/// has the loads in a new random order, so that a drift of the machine affects all alike.
package struct OpenLoopJob {
    /// The plan. Its first cell is measured, with one process per load and round.
    package let plan: Plan
    /// The loads.
    package let loads: [Arrivals]

    /// - Returns: `nil` for a plan without a cell.
    package init?(_ plan: Plan, loads: [Arrivals]) {
        guard let planned = plan.cells.first else { return nil }
        (self.plan, self.loads, cell, rounds) = (plan, loads, planned.cell, planned.rounds)
    }

    /// The cell.
    package let cell: Cell
    private let rounds: Int

    /// The number of reads of one process at a load.
    package func readCount(at load: Arrivals) -> Int {
        max(1, Int((load.perSecond * Double(plan.roundNanoseconds) / 1e9).rounded(.up)))
    }

    /// Checks the cell's plaintext, and measures the cell.
    ///
    /// - Parameters:
    ///   - folder: The folder for a generated object.
    ///   - input: The object to measure; `nil` to make the one that the cell describes.
    ///   - program: The command that starts a subject.
    ///   - encryption: The backend that encrypts a generated object.
    ///   - network: The network that serves an object on this machine.
    ///   - progress: A function that is called before each process with the number of started processes and of all.
    ///   - isInterrupted: A function that returns whether to end the current process.
    /// - Returns: A record for each load, in the order of the loads.
    /// - Throws: `CellFailure`, also for a wrong plaintext; `SweepError` if the object cannot be made.
    package func run(
        in folder: RunFolder, input: MeasuredObject?, program: [String], encryption: any CipherBackend,
        network: (any NetworkSources)?, progress: (_ started: Int, _ all: Int) -> Void,
        isInterrupted: @escaping () -> Bool
    ) throws -> [OpenLoopRecord] {
        try folder.create()
        try folder.createObjects()
        defer { folder.removeObjects() }
        let servers = network.map(LoopbackServers.init)
        let store = ObjectStore(
            plan, input: input, folder: folder.objectFolder, encryption: encryption, servers: servers)
        let runner = CellRunner(
            program: program, store: store, seed: plan.seed, traces: plan.traces, isInterrupted: isInterrupted)
        let all = 1 + rounds * loads.count
        progress(0, all)
        _ = try runner.check(cell)
        var processes = [[OpenLoopRecord.Process]](repeating: [], count: loads.count)
        var generator = SplitMix64(seed: plan.seed)
        for round in 0..<rounds {
            for (index, load) in Array(loads.enumerated()).shuffled(using: &generator) {
                progress(1 + processes.reduce(0) { $0 + $1.count }, all)
                processes[index].append(
                    try runner.openLoop(cell, load, readCount: readCount(at: load), seed: plan.seed &+ UInt64(round)))
            }
        }
        return zip(loads, processes).compactMap { load, processes in
            OpenLoopRecord(arrivals: load.description, offeredPerSecond: load.perSecond, processes)
        }
    }
}
