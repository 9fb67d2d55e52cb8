package import Results
import Statistics

/// A cell as reports show it: figures where they can be trusted, and otherwise the reason why there are none.
package struct CellSummary: Hashable, Sendable {
    /// The configuration.
    package var cell: Cell
    /// Whether there are figures.
    package var outcome: Outcome
    /// Throughput; `nil` unless the outcome is `measured`.
    package var speed: Speed?
    /// Timed iterations in nanoseconds, one list a round; empty unless the outcome is `measured`.
    package var rounds: [[UInt64]]
    /// Latencies of single reads, where they were measured.
    package var latency: LatencyRecord.Latency?
    /// From before the object is opened until its first byte is there, where it was measured.
    package var firstByte: LatencyRecord.Latency?
    /// How a film would play, for the replay of a player's trace.
    package var playback: LatencyRecord.Playback?
    /// What the timed iterations used together, where somebody tells.
    package var usage: ProcessUsage?
    /// The most bytes of a cold file that stayed in memory; `nil` for other cells.
    package var residentByteCount: UInt64?
    /// Peak memory, where it was measured.
    package var memory: MemoryRecord.Memory?
    /// Ciphertext bytes per plaintext byte delivered; `nil` where nothing was checked or delivered.
    package var amplification: Amplification?
    /// The machine's limit that the throughput runs into; `nil` where none is known.
    package var limit: BindingLimit?
    /// SHA-256 of the plaintext delivered, in hex; `nil` where nothing was checked.
    package var digest: String?
    /// The plaintext bytes that one iteration delivers; `nil` where nothing was checked.
    package var deliveredByteCount: UInt64?

    /// Whether a cell has figures, and why not.
    package enum Outcome: Hashable, Sendable {
        /// The plaintext was right and at least one iteration was timed.
        case measured
        /// The cell, or its backend in the vectors, failed.
        case failed(String)
        /// No check says that the plaintext was right.
        case unchecked
        /// The plaintext was right, and no iteration was timed.
        case untimed
    }

    /// Ciphertext bytes per plaintext byte delivered.
    package struct Amplification: Hashable, Sendable {
        /// Bytes fetched from the source.
        package var fetched: Double
        /// Bytes that went through the cipher.
        package var decrypted: Double
    }

    /// Creates the summary of one cell.
    /// - Parameters:
    ///   - result: What is known of the cell.
    ///   - seed: The seed of the bootstrap; a report uses the run's.
    ///   - limits: What the machine can do; a report uses the run's.
    ///   - vectorFailure: Why the cell's backend failed its vectors, or `nil` if it did not.
    package init(
        _ result: CellResult, seed: UInt64, limits: MachineLimits? = nil, vectorFailure: String? = nil
    ) {
        cell = result.cell
        rounds = []
        if let reason = result.failure ?? vectorFailure {
            outcome = .failed(reason)
            return
        }
        guard let check = result.check else {
            outcome = .unchecked
            return
        }
        digest = check.digest
        deliveredByteCount = check.deliveredByteCount
        if check.deliveredByteCount > 0 {
            let delivered = Double(check.deliveredByteCount)
            amplification = Amplification(
                fetched: Double(check.fetchedByteCount) / delivered,
                decrypted: Double(check.decryptedByteCount) / delivered
            )
        }
        latency = result.latency
        firstByte = result.firstByte
        playback = result.playback
        usage = result.usage
        residentByteCount = result.residentByteCount
        memory = result.memory
        rounds = result.rounds.filter { !$0.isEmpty }
        speed = Speed(rounds: rounds, deliveredByteCount: check.deliveredByteCount, seed: seed)
        outcome = speed == nil ? .untimed : .measured
        limit = speed.flatMap {
            limits?.limit(
                of: result.cell, bytesPerSecond: $0.bytesPerSecond, deliveredByteCount: check.deliveredByteCount)
        }
    }

    /// Why there are no figures, or `nil` if there are.
    package var missingReason: String? {
        switch outcome {
        case .measured: nil
        case .failed(let reason): reason
        case .unchecked: "no check: nothing says that the plaintext is right, so no figure is shown"
        case .untimed: "checked, and not timed"
        }
    }

    /// One word for the outcome.
    package var status: String {
        switch outcome {
        case .measured: "measured"
        case .failed: "failed"
        case .unchecked: "unchecked"
        case .untimed: "untimed"
        }
    }
}
