import FoundationEssentials
import Glibc
package import Statistics
import Support

/// What a gate found of one cell, or of its control.
package struct GateCell: Codable, Hashable, Sendable {
    /// The cell in words; no two cells of a run have the same.
    package var name: String
    /// The configuration.
    package var cell: Cell
    /// The verdict.
    package var verdict: GateVerdict
    /// Why, where the figures alone do not say it.
    package var reason: String?
    /// The candidate's time over the baseline's; `nil` if nothing was timed.
    package var slowdown: Double?
    /// The lower end of its interval; `nil` if there is none.
    package var low: Double?
    /// The upper end; `nil` if there is none.
    package var high: Double?
    /// How long the cell was measured, in all phases, in seconds.
    package var seconds: Double
    /// For an inconclusive cell, the seconds a cell (`--seconds`) that would settle it; `nil` where no time would.
    package var secondsToSettle: Double?
    /// What the ratio was compared with, where the baseline's were stored.
    package var stored: StoredRatios.Ratio?
    /// For the control, the part by which the copy of the baseline had more to do: 0.03 for 3 %.
    package var planted: Double?
    /// The phases: the measurement, and the confirmation if there was one.
    package var phases: [GatePhase]

    /// Creates a cell of which nothing is known yet.
    package init(name: String, cell: Cell, verdict: GateVerdict = .inconclusive, reason: String? = nil) {
        self.name = name
        self.cell = cell
        self.verdict = verdict
        self.reason = reason
        self.seconds = 0
        self.phases = []
    }

    /// Whether it is a control whose planted slowdown showed.
    package var isSeen: Bool { planted != nil && verdict == .slower }

    /// The blocks of all phases.
    package var blockCount: Int { phases.reduce(0) { $0 + $1.blocks.count } }
}

/// The blocks of a cell in one phase of a run, and what was seen when they were looked at.
package struct GatePhase: Codable, Hashable, Sendable {
    /// The seed of the phase.
    package var seed: UInt64
    /// The max number of blocks that were planned.
    package var plannedBlockCount: Int
    /// The looks, in their order.
    package var looks: [Look]
    /// The blocks, in their order.
    package var blocks: [GateBlock]
    /// How long they took, in seconds.
    package var seconds: Double

    /// Creates a phase without blocks.
    package init(seed: UInt64) {
        self.seed = seed
        plannedBlockCount = 0
        looks = []
        blocks = []
        seconds = 0
    }

    /// A planned look at the data.
    package struct Look: Codable, Hashable, Sendable {
        /// The blocks that there were.
        package var blockCount: Int
        /// The probability with which each end of the interval may miss the truth.
        package var alpha: Double
        /// The candidate's time over the baseline's.
        package var slowdown: Double
        /// The lower end; `nil` where there are too few blocks.
        package var low: Double?
        /// The upper end; `nil` where there are too few blocks.
        package var high: Double?
        /// What the rule says.
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

/// What one pair of fresh processes showed.
package struct GateBlock: Codable, Hashable, Sendable {
    /// The process that was started first.
    package var first: GateSide.Role
    /// The rounds' orders, a letter each: `A` for baseline, candidate, candidate, baseline, `B` for the other way round.
    package var order: String
    /// The iterations of each slice.
    package var iterationCount: UInt64
    /// How long each slice of the baseline took, in order, in nanoseconds: two a round, or four or six
    /// where they are long.
    package var baseline: [UInt64]
    /// How long each slice of the candidate took.
    package var candidate: [UInt64]
    /// The natural logarithm of the candidate's time over the baseline's.
    package var logRatio: Double
    /// Which build of each side it ran, from 1 on; `nil` where there is one.
    package var build: Int?

    /// Creates a block; its log-ratio follows from the slices.
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

    /// The logarithm of the ratio of what the faster halves of the slices took; 0 without slices.
    package static func logRatio(baseline: [UInt64], candidate: [UInt64]) -> Double {
        guard let one = meanOfFasterHalf(of: baseline), let other = meanOfFasterHalf(of: candidate) else { return 0 }
        // A clock that stands still is no reason to divide by 0.
        return log(max(1, other) / max(1, one))
    }
}

/// Ratios of a candidate to a reference that ran beside it, kept for later runs on a machine of the same kind.
package struct StoredRatios: Codable, Hashable, Sendable {
    /// The version of the format; another one is refused, not guessed at.
    package static let currentSchema = "chunkwise-gate-ratios-1"

    /// The schema of this file.
    package var schema: String
    /// The version of `chunkwise` that measured.
    package var programVersion: String
    /// The CPU's model name.
    package var cpuModel: String
    /// The CPU's features and caches, which tell models apart that call themselves the same; `nil` in older files.
    package var cpu: CPU?
    /// When it was measured, in ISO 8601.
    package var startedAt: String
    /// What the ratios are ratios to.
    package var reference: GateSide
    /// What was measured.
    package var candidate: GateSide
    /// The seed of the run.
    package var seed: UInt64
    /// The ratios, one a cell.
    package var ratios: [Ratio]

    package init(
        schema: String, programVersion: String, cpuModel: String, cpu: CPU? = nil, startedAt: String,
        reference: GateSide, candidate: GateSide, seed: UInt64, ratios: [Ratio]
    ) {
        self.schema = schema
        self.programVersion = programVersion
        self.cpuModel = cpuModel
        self.cpu = cpu
        self.startedAt = startedAt
        self.reference = reference
        self.candidate = candidate
        self.seed = seed
        self.ratios = ratios
    }

    /// What tells CPUs apart beside their name.
    package struct CPU: Codable, Hashable, Sendable {
        /// The features that matter for AES.
        package var flags: [String]
        /// Caches from level 1 on, in bytes.
        package var cacheByteCounts: [UInt64]

        package init(_ host: RunHeader.Host) {
            flags = host.cpuFlags
            cacheByteCounts = host.cacheByteCounts
        }
    }

    /// One cell's ratio.
    package struct Ratio: Codable, Hashable, Sendable {
        /// The cell's name.
        package var name: String
        /// The configuration.
        package var cell: Cell
        /// The candidate's time over the reference's.
        package var ratio: Double
        /// The lower end of its 95 % interval; `nil` where there were too few blocks.
        package var low: Double?
        /// The upper end; `nil` where there were too few blocks.
        package var high: Double?
        /// The log-ratios of the blocks, from which an interval of any confidence can be worked out.
        package var logRatios: [Double]

        package init(
            name: String, cell: Cell, ratio: Double, low: Double? = nil, high: Double? = nil,
            logRatios: [Double]
        ) {
            self.name = name
            self.cell = cell
            self.ratio = ratio
            self.low = low
            self.high = high
            self.logRatios = logRatios
        }
    }
}

extension StoredRatios {
    /// Keeps the ratios of a run whose baseline was the reference; cells that failed are left out.
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
    /// The ratio, with an interval whose ends may each miss it with a probability of `alpha`.
    package func estimate(alpha: Double) -> RatioEstimate? {
        SignedRankInterval(logRatios, alpha: alpha).map(RatioEstimate.init)
    }
}

/// A ratio of times with its interval; 1 where both sides take the same.
package struct RatioEstimate: Hashable, Sendable {
    /// The estimate.
    package var estimate: Double
    /// The lower end; 0 where there are too few data.
    package var low: Double
    /// The upper end; infinite where there are too few data.
    package var high: Double

    /// Creates a ratio.
    package init(estimate: Double, low: Double, high: Double) {
        self.estimate = estimate
        self.low = low
        self.high = high
    }

    /// The ratio of programs of which some builds are known, from the log-ratios of blocks by build: layout is a random
    /// effect, so that the builds are the sample, and not their blocks.
    ///
    /// - Parameters:
    ///   - builds: The log-ratios of each build's blocks.
    ///   - alpha: The probability with which each end may miss the truth.
    ///
    /// It is `nil` for fewer than three builds.
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

    /// The ratio that a centre of log-ratios stands for.
    package init(_ logarithm: SignedRankInterval) {
        self.init(estimate: exp(logarithm.estimate), low: exp(logarithm.low), high: exp(logarithm.high))
    }

    /// This ratio over another one that was measured apart: ends over opposite ends, so that each error is allowed for.
    package func divided(by other: RatioEstimate) -> RatioEstimate {
        RatioEstimate(estimate: estimate / other.estimate, low: low / other.high, high: high / other.low)
    }
}
