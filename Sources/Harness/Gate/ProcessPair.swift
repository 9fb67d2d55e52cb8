import Results
import Statistics

/// A process of each side, started together in random order, which run one cell after the other.
///
/// Their start-up is waited for once, and is no part of any cell's time. Where one fails, both go, and the next to ask
/// gets fresh ones.
final class ProcessPair {
    let sides: SidePair
    private let timeout: Duration
    private let shouldStop: () -> Bool
    private var live: Live?

    private struct Live {
        let first: SideProcess
        let second: SideProcess
        /// The build of both; `nil` where there is one.
        let build: Int?
        var isGreeted = false
    }

    /// Describes a pair; nothing is started.
    init(_ sides: SidePair, timeout: Duration, shouldStop: @escaping () -> Bool) {
        self.sides = sides
        self.timeout = timeout
        self.shouldStop = shouldStop
    }

    deinit { end() }

    /// The baseline, and a second copy of it in the candidate's place.
    var copies: ProcessPair { ProcessPair(sides.copies, timeout: timeout, shouldStop: shouldStop) }

    /// Starts both, and does not wait until they are there.
    ///
    /// - Parameters:
    ///   - build: The build of each side, from 1 on; `nil` where there is one.
    ///   - generator: What orders are drawn from.
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

    /// Runs a step with both, the one that was started first in front; starts them where they are not there, or are
    /// of another build.
    ///
    /// - Throws: `SideFailure`, with both processes gone unless one only said that it does not support something.
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

    /// Waits until both are there.
    func greet() throws(SideFailure) {
        guard let live, !live.isGreeted else { return }
        try live.first.greet()
        try live.second.greet()
        self.live?.isGreeted = true
    }

    /// Says goodbye to both; the next step has fresh ones.
    func end() {
        live?.first.end()
        live?.second.end()
        live = nil
    }

    /// A page, within which alignment repeats.
    private static let maxPadding = 4096
}
