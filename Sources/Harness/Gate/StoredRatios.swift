package import Results

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

    /// What tells CPUs apart beside their name.
    package struct CPU: Codable, Hashable, Sendable {
        /// The features that matter for AES.
        package var flags: [String]
        /// Caches from level 1 on, in bytes.
        package var cacheByteCounts: [UInt64]

        init(_ host: RunHeader.Host) {
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
    }
}
