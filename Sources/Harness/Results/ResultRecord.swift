/// One line of a result file.
///
/// A result file is JSON Lines: the header first, then whatever was found, in the order in which it was found. A line
/// is appended as soon as it is known, so that a run that is killed loses what it was doing and nothing else.
public enum ResultRecord: Hashable, Sendable {
    /// What is true of the whole run.
    case header(RunHeader)
    /// One subject's outcome in the vectors.
    case conformance(ConformanceRecord)
    /// How the vectors did in their own test.
    case mutants(MutantsRecord)
    /// A cell's plaintext was right.
    case check(CheckRecord)
    /// One round of timings.
    case time(TimeRecord)
    /// Latencies of single reads.
    case latency(LatencyRecord)
    /// Peak memory.
    case memory(MemoryRecord)
    /// A cell failed; nothing else of it counts.
    case failure(FailureRecord)
    /// The run came to its end; a file without this record was broken off.
    case end
}
