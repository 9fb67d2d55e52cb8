package import Support

/// The user's request: budgets, and filters for the measured configurations.
///
/// A member that is `nil` does not filter.
package struct RecommendationRequest: Hashable, Sendable {
    package var budgets = Budgets()
    /// The name of a workload as cells have it, or an everyday name; see `WorkloadAlias`.
    package var workload: String?
    package var backend: String?
    /// A format's name, or the text of a strategy with its parameters.
    package var strategy: String?
    /// The demand for integrity. By default, changes must be noticed.
    package var integrity = IntegrityDemand.noticed
    /// The format's chunk length in plaintext bytes.
    package var chunkByteCount: UInt64?
    /// The access mode for ranges, such as `block`.
    package var access: AccessPolicy?
    package var threads: Int?
    package var keyByteCount: Int?
    /// The source of the ciphertext, such as `file` or `mmap`.
    package var source: String?
    package var objectByteCount: UInt64?
    /// True for cells whose file was not in the page cache.
    package var isCold = false
    /// True for cells behind a simulated remote store.
    package var isRemote = false

    /// A request without budgets and filters.
    package init() {}
}

/// Everyday names of workloads, which stand for workloads in results.
package enum WorkloadAlias: String, CaseIterable, Sendable {
    /// Everything, from start to end.
    case download
    /// A player that plays and reads on from its position.
    case playback
    /// A player after a seek, which reads a range in the middle.
    case seek

    /// Finds the measured workload for the name.
    ///
    /// - Parameter measured: The measured workloads with the number of their cells, in the order of the results.
    /// - Returns: The workload and the reason for it, or `nil` if no suitable workload was measured.
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

/// The reason why there is nothing to choose from.
package enum RecommendationError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    case workloadNotMeasured(String, measured: [String])
    /// No cell of the workload matches the request and has figures.
    case noCandidates(workload: String, asked: String, found: String)
    /// The results hold no cell with trusted figures.
    case noFigures(cellCount: Int)

    /// The results cannot answer the request.
    package var exitStatus: ExitStatus { .noAnswer }

    /// The failure with its value and the expected values.
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
