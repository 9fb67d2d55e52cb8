package import Support

/// What a recommendation is asked for: budgets, and which of the measured configurations may be taken.
///
/// What is `nil` may be anything.
package struct RecommendationRequest: Hashable, Sendable {
    package var budgets = Budgets()
    /// A workload as cells have it, or a name that people use; see `WorkloadAlias`.
    package var workload: String?
    package var backend: String?
    /// A format's name, or the text of a strategy with its parameters.
    package var strategy: String?
    /// What is asked of formats: changes are noticed unless something else guards the file.
    package var integrity = IntegrityDemand.noticed
    /// The format's chunk length in plaintext bytes.
    package var chunkByteCount: UInt64?
    /// How ranges are read, such as `block`.
    package var access: String?
    package var threads: Int?
    package var keyByteCount: Int?
    /// Where the ciphertext comes from, such as `file` or `mmap`.
    package var source: String?
    package var objectByteCount: UInt64?
    /// Whether cells are wanted whose file was not in the page cache.
    package var isCold = false
    /// Whether cells are wanted that were behind a simulated remote store.
    package var isRemote = false

    /// Creates a request for the best of all.
    package init() {}
}

/// Workloads by the names that people use, and what stands for them in results.
package enum WorkloadAlias: String, CaseIterable, Sendable {
    /// Everything, from start to end.
    case download
    /// What a player does once it plays: it reads on from where it is.
    case playback
    /// What a player does after a seek: a range in the middle.
    case seek

    /// Finds the workload that stands for the name.
    ///
    /// - Parameter measured: The measured workloads with the number of their cells, in the order of the results.
    /// - Returns: The workload and why, or `nil` if none of those that could stand for it was measured.
    func find(in measured: [(workload: String, count: Int)]) -> (workload: String, reason: String)? {
        func maximum(_ prefix: String) -> String? {
            measured.filter { $0.workload.hasPrefix(prefix) }.reduce(nil as (workload: String, count: Int)?) {
                ($0?.count ?? 0) >= $1.count ? $0 : $1
            }?.workload
        }
        let isSequential = measured.contains { $0.workload == "sequential" }
        switch self {
        case .download: return isSequential ? ("sequential", "the whole object from start to end") : nil
        case .playback:
            if isSequential { return ("sequential", "a player that plays reads on from where it is") }
            return maximum("trace:").map { ($0, "what a player asked for; no sequential read was measured") }
        case .seek:
            let usual = "random:64KiB"
            if measured.contains(where: { $0.workload == usual }) {
                return (usual, "a player that seeks asks for a range in the middle")
            }
            return maximum("random:").map { ($0, "of the random reads the one with the most cells") }
        }
    }
}

/// Why there is nothing to choose from.
package enum RecommendationError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    case workloadNotMeasured(String, measured: [String])
    /// No cell of the workload is what was asked for and has figures.
    case noCandidates(workload: String, asked: String, found: String)
    /// The results hold no cell with trusted figures.
    case noFigures(cellCount: Int)

    /// The results do not say what was asked.
    package var exitStatus: ExitStatus { .noAnswer }

    /// What failed, the value, what was expected.
    package var description: String {
        switch self {
        case .workloadNotMeasured(let name, let measured):
            "workload \"\(name)\" was not measured: expected one of \(Verdict.list(measured))"
        case .noCandidates(let workload, let asked, let found):
            "no cell of the workload \(workload) with figures is \(asked): expected one of what was measured: \(found)"
        case .noFigures(let count):
            count == 0
                ? "no cell was measured: expected at least one"
                : "no cell of \(count) has trusted figures: expected at least one"
        }
    }
}
