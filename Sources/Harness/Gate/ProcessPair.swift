import Results
import Statistics

/// A process of each side. Both are started together in random order and run one cell after the other.
///
/// The harness waits once for their start, which is not part of any cell's time. If one fails, both end, and the next
/// step starts fresh ones.
final class ProcessPair {
    let sides: SidePair
    private let timeout: Duration
    private let shouldStop: () -> Bool
    private var live: Live?

    private struct Live {
        let first: SideProcess
        let second: SideProcess
        /// The build of both; `nil` if there is only one.
        let build: Int?
        var isGreeted = false
    }

    /// A pair whose processes are not started yet.
    init(_ sides: SidePair, timeout: Duration, shouldStop: @escaping () -> Bool) {
        self.sides = sides
        self.timeout = timeout
        self.shouldStop = shouldStop
    }

    deinit { end() }

    /// A pair of the baseline and a second copy of it in the candidate's place.
    var copies: ProcessPair { ProcessPair(sides.copies, timeout: timeout, shouldStop: shouldStop) }

    /// Starts both processes, without waiting until they are ready.
    ///
    /// - Parameters:
    ///   - build: The number of the build of each side, from 1; `nil` if there is only one build.
    ///   - generator: The source of random orders.
    /// - Throws: `SideFailure.failed`.
    func start(build: Int?, using generator: inout SplitMix64) throws(SideFailure) {
        end()
        let order = Bool.random(using: &generator) ? sides.both : sides.both.reversed()
        var processes: [SideProcess] = []
        for side in order {
            let named = build.map { build in
                GateBuild(number: build, paddingByteCount: Int.random(in: 0..<Self.maxPadding, using: &generator))
            }
            processes.append(try SideProcess(side, build: named, timeout: timeout, shouldStop: shouldStop))
        }
        live = Live(first: processes[0], second: processes[1], build: build)
    }

    /// Runs a step with both processes, the one started first in front. Starts them if they are not running or are of
    /// another build.
    ///
    /// - Throws: `SideFailure`. Both processes have then ended, unless one only reported that it does not support
    ///   something.
    func run<Value>(
        build: Int? = nil, using generator: inout SplitMix64,
        _ body: (SideProcess, SideProcess) throws(SideFailure) -> Value
    ) throws(SideFailure) -> Value {
        do throws(SideFailure) {
            if live == nil || live?.build != build { try start(build: build, using: &generator) }
            try greet()
            guard let live else { throw .interrupted }
            return try body(live.first, live.second)
        } catch {
            if case .unsupported = error {} else { end() }
            throw error
        }
    }

    /// Waits until both processes are ready.
    func greet() throws(SideFailure) {
        guard let live, !live.isGreeted else { return }
        try live.first.greet()
        try live.second.greet()
        self.live?.isGreeted = true
    }

    /// Ends both processes; the next step starts fresh ones.
    func end() {
        live?.first.end()
        live?.second.end()
        live = nil
    }

    /// The size of a page. Alignment repeats with each page.
    private static let maxPadding = 4096
}
