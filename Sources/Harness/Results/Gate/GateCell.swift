import FoundationEssentials
import Glibc
package import Statistics
import Support

/// The result of a gate for one cell, or for its control.
package struct GateCell: Codable, Hashable, Sendable {
    /// The cell in words; unique within a run.
    package var name: String
    /// The configuration.
    package var cell: Cell
    /// The verdict.
    package var verdict: GateVerdict
    /// The reason for the verdict, if the figures alone do not give it.
    package var reason: String?
    /// The candidate's time over the baseline's; `nil` if nothing was timed.
    package var slowdown: Double?
    /// The lower end of the slowdown's interval; `nil` if there is none.
    package var low: Double?
    /// The upper end of the slowdown's interval; `nil` if there is none.
    package var high: Double?
    /// The time for which the cell was measured, in all phases, in seconds.
    package var seconds: Double
    /// The `--seconds` that would settle an inconclusive cell; `nil` if no time would.
    package var secondsToSettle: Double?
    /// The stored ratio that the cell's ratio was divided by; `nil` if the baseline itself ran.
    package var stored: StoredRatios.Ratio?
    /// The share of extra work of the baseline's copy in the control: 0.03 for 3 %.
    package var injected: Double?
    /// The phases: the measurement, and the confirmation if there was one.
    package var phases: [GatePhase]

    package init(name: String, cell: Cell, verdict: GateVerdict = .inconclusive, reason: String? = nil) {
        self.name = name
        self.cell = cell
        self.verdict = verdict
        self.reason = reason
        self.seconds = 0
        self.phases = []
    }

    /// True if this is a control and its injected slowdown was seen.
    package var isSeen: Bool { injected != nil && verdict == .slower }

    /// The number of blocks in all phases.
    package var blockCount: Int { phases.reduce(0) { $0 + $1.blocks.count } }
}

/// The blocks of a cell in one phase of a run, and the looks at them.
package struct GatePhase: Codable, Hashable, Sendable {
    /// The seed of the phase.
    package var seed: UInt64
    /// The max number of blocks that were planned.
    package var plannedBlockCount: Int
    /// The looks, in order.
    package var looks: [Look]
    /// The blocks, in order.
    package var blocks: [GateBlock]
    /// The time that the blocks took, in seconds.
    package var seconds: Double

    package init(seed: UInt64) {
        self.seed = seed
        plannedBlockCount = 0
        looks = []
        blocks = []
        seconds = 0
    }

    /// A look at the data that was planned.
    package struct Look: Codable, Hashable, Sendable {
        /// The number of blocks at the time of the look.
        package var blockCount: Int
        /// The probability with which each end of the interval may miss the truth.
        package var alpha: Double
        /// The candidate's time over the baseline's.
        package var slowdown: Double
        /// The lower end of the interval; `nil` if there are too few blocks.
        package var low: Double?
        /// The upper end of the interval; `nil` if there are too few blocks.
        package var high: Double?
        /// The verdict of the gate's rule.
        package var verdict: GateVerdict

        package init(
            blockCount: Int, alpha: Double, slowdown: Double, low: Double? = nil, high: Double? = nil,
            verdict: GateVerdict
        ) {
            self.blockCount = blockCount
            self.alpha = alpha
            self.slowdown = slowdown
            self.low = low
            self.high = high
            self.verdict = verdict
        }
    }
}

/// The times of one pair of fresh processes.
package struct GateBlock: Codable, Hashable, Sendable {
    /// The process that was started first.
    package var first: GateSide.Role
    /// The order of each round, one letter a round: `A` for baseline, candidate, candidate, baseline, and `B` for the
    /// reverse.
    package var order: String
    /// The number of iterations in each slice.
    package var iterationCount: UInt64
    /// The duration of each slice of the baseline, in order, in nanoseconds: two slices a round, or four or six if they
    /// are long.
    package var baseline: [UInt64]
    /// The duration of each slice of the candidate, in order, in nanoseconds.
    package var candidate: [UInt64]
    /// The natural logarithm of the candidate's time over the baseline's.
    package var logRatio: Double
    /// The build of each side that the block ran, from 1; `nil` for a single build.
    package var build: Int?

    /// A block whose log-ratio is computed from the slices.
    package init(
        first: GateSide.Role, order: String, iterationCount: UInt64, baseline: [UInt64], candidate: [UInt64],
        build: Int? = nil
    ) {
        self.first = first
        self.order = order
        self.iterationCount = iterationCount
        self.baseline = baseline
        self.candidate = candidate
        self.build = build
        self.logRatio = Self.logRatio(baseline: baseline, candidate: candidate)
    }

    /// Returns the logarithm of the ratio of the faster halves' mean durations; 0 without slices.
    package static func logRatio(baseline: [UInt64], candidate: [UInt64]) -> Double {
        guard let one = meanOfFasterHalf(of: baseline), let other = meanOfFasterHalf(of: candidate) else { return 0 }
        // A clock that stands still must not cause a division by 0.
        return log(max(1, other) / max(1, one))
    }
}

/// The ratios of a candidate to a reference that ran beside it, stored for later runs on a machine of the same kind.
package struct StoredRatios: Codable, Hashable, Sendable {
    /// The version of the format; files of another version are refused.
    package static let currentSchema = "chunkwise-gate-ratios-1"

    /// The schema of this file.
    package var schema: String
    /// The version of `chunkwise` that measured.
    package var programVersion: String
    /// The CPU's model name.
    package var cpuModel: String
    /// The CPU's features and caches, which tell models with the same name apart; `nil` if unknown.
    package var cpu: CPU?
    /// The start of the run, in ISO 8601.
    package var startedAt: String
    /// The program that the ratios are relative to.
    package var reference: GateSide
    /// The program that was measured.
    package var candidate: GateSide
    /// The seed of the run.
    package var seed: UInt64
    /// The ratios, one a cell.
    package var ratios: [Ratio]

    /// The properties that tell CPUs of the same name apart.
    package struct CPU: Codable, Hashable, Sendable {
        /// The features that matter for AES.
        package var flags: [String]
        /// The sizes of the caches from level 1 on, in bytes.
        package var cacheByteCounts: [UInt64]

        package init(_ host: RunHeader.Host) {
            flags = host.cpuFlags
            cacheByteCounts = host.cacheByteCounts
        }
    }

    /// The ratio of one cell.
    package struct Ratio: Codable, Hashable, Sendable {
        /// The cell's name.
        package var name: String
        /// The configuration.
        package var cell: Cell
        /// The candidate's time over the reference's.
        package var ratio: Double
        /// The lower end of the ratio's 95 % interval; `nil` if there were too few blocks.
        package var low: Double?
        /// The upper end; `nil` if there were too few blocks.
        package var high: Double?
        /// The log-ratios of the blocks, from which an interval of any confidence can be computed.
        package var logRatios: [Double]
    }
}

extension StoredRatios {
    /// Takes the ratios of a run whose baseline was the reference. Cells that were wrong or failed are left out, and
    /// those with too few blocks.
    package init(_ result: GateResult) {
        schema = Self.currentSchema
        programVersion = result.programVersion
        cpuModel = result.host.cpuModel
        cpu = CPU(result.host)
        startedAt = result.startedAt
        reference = result.baseline
        candidate = result.candidate
        seed = result.seed
        ratios = result.cells.compactMap { cell in
            let logRatios = cell.phases.first?.blocks.map(\.logRatio) ?? []
            guard !cell.verdict.isBroken, let interval = SignedRankInterval(logRatios, alpha: 0.025) else { return nil }
            let ratio = RatioEstimate(interval)
            return Ratio(
                name: cell.name, cell: cell.cell, ratio: ratio.estimate, low: ratio.low > 0 ? ratio.low : nil,
                high: ratio.high.isFinite ? ratio.high : nil, logRatios: logRatios)
        }
    }

    /// The file's text.
    package var text: String { JSONValue(encoding: self).text + "\n" }
}

extension StoredRatios.Ratio {
    /// Returns the ratio with its interval; each end may miss the truth with a probability of `alpha`.
    package func estimate(alpha: Double) -> RatioEstimate? {
        SignedRankInterval(logRatios, alpha: alpha).map(RatioEstimate.init)
    }
}

/// A ratio of times with its interval; 1 if both sides take the same time.
package struct RatioEstimate: Hashable, Sendable {
    /// The estimate.
    package var estimate: Double
    /// The lower end; 0 if there are too few data.
    package var low: Double
    /// The upper end; infinite if there are too few data.
    package var high: Double

    package init(estimate: Double, low: Double, high: Double) {
        self.estimate = estimate
        self.low = low
        self.high = high
    }

    /// The ratio of programs with several builds, from the log-ratios of blocks by build; `nil` for fewer than three
    /// builds.
    ///
    /// A build's layout is a random effect, so the sample consists of the builds and not of their blocks.
    ///
    /// - Parameters:
    ///   - builds: The log-ratios of each build's blocks.
    ///   - alpha: The probability with which each end may miss the truth.
    package init?(builds: some Collection<[Double]>, alpha: Double) {
        guard builds.count > 2, builds.allSatisfy({ !$0.isEmpty }) else { return nil }
        let middles: [Double] = builds.map { blocks in
            let sorted = blocks.sorted()
            return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        }
        let count = Double(middles.count)
        let mean: Double = middles.reduce(0, +) / count
        let squares: Double = middles.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        let error: Double = (squares / (count - 1) / count).squareRoot()
        let reach = StudentDistribution.upperQuantile(alpha, degreesOfFreedom: middles.count - 1) * error
        self.init(estimate: exp(mean), low: exp(mean - reach), high: exp(mean + reach))
    }

    /// The ratio that belongs to a centre of log-ratios.
    package init(_ logarithm: SignedRankInterval) {
        self.init(estimate: exp(logarithm.estimate), low: exp(logarithm.low), high: exp(logarithm.high))
    }

    /// Returns this ratio divided by one that was measured separately. Each end is divided by the opposite end, so that
    /// the interval allows for both errors.
    package func divided(by other: RatioEstimate) -> RatioEstimate {
        RatioEstimate(estimate: estimate / other.estimate, low: low / other.high, high: high / other.low)
    }
}
