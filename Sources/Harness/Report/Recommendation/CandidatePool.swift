package import Results

/// The cells that a recommendation chooses from: one workload, one group, and matching the request.
///
/// Properties that a program or a format may choose are compared: backend, strategy, chunk, window, access, threads,
/// and whether a file is read or mapped. Properties that a program finds are not: the lengths of object and key, a file
/// outside the page cache, a remote store. Cells of other groups are left out and counted.
struct CandidatePool: Sendable {
    let workload: String
    /// The reason why this workload was taken for the requested one; `nil` if it is the requested one.
    let workloadReason: String?
    let group: ComparisonGroup
    /// The figure that ranks the cells: the latency for random reads, if it was measured, otherwise the throughput.
    let merit: Merit
    /// The minimum protection of a cell that may be chosen.
    let protection: Protection
    /// The cells with figures that may be chosen, in the order of the results.
    let cells: [CellSummary]
    /// Cells with figures that match the request, but protect less than others that were measured beside them.
    let setAside: [CellSummary]
    /// Cells that match the request, but have no figures.
    let withoutFigures: [CellSummary]
    /// The number of cells without the figure that ranks the others.
    let unranked: Int
    /// The groups left out, in the order of the results, and the number of cells in each.
    let others: [(group: ComparisonGroup, count: Int)]

    init(_ summary: RunSummary, _ request: RecommendationRequest) throws(RecommendationError) {
        let timed = summary.cells.filter { $0.speed != nil }
        // Cells in a CPU cache are candidates only if there are no others.
        let beyondCaches = timed.filter { !$0.isInCache }
        let measured = beyondCaches.isEmpty ? timed : beyondCaches
        guard !measured.isEmpty else { throw .noFigures(cellCount: summary.cells.count) }
        let (workload, reason) = try Self.workload(of: measured, request)
        let candidates = measured.filter { $0.cell.workload == workload }
        let asked = candidates.filter { request.admits($0.cell) }
        let groups = asked.grouped { ComparisonGroup($0.cell) }
        let best = Self.group(of: groups, request)
        guard let best else {
            throw .noCandidates(
                workload: workload, asked: request.description, found: Self.found(in: candidates))
        }
        self.workload = workload
        workloadReason = reason
        group = best.key
        protection = best.protection
        let allowed = best.elements.filter { $0.protection >= best.protection }
        let isRanked = CellWorkload(workload)?.rangeByteCount != nil && allowed.contains(where: Merit.latency.ranks)
        let merit: Merit = isRanked ? .latency : .throughput
        self.merit = merit
        cells = allowed.filter(merit.ranks)
        setAside = best.elements.filter { $0.protection < best.protection }
        unranked = allowed.count - cells.count
        withoutFigures = summary.cells.filter {
            $0.speed == nil && $0.cell.workload == workload && request.admits($0.cell)
                && ComparisonGroup($0.cell) == best.key && $0.protection >= best.protection
        }
        others = groups.filter { $0.key != best.key }.map { ($0.key, $0.elements.count) }
    }

    /// Returns the group to choose from, and the minimum protection of a choice.
    ///
    /// The protection is the requested one, or, if no cell has it, the highest of any cell. Local cells come before
    /// cold or remote ones. The group with the most cells wins; of equal ones, the one with the larger object, then the
    /// first.
    private static func group(
        of groups: [(key: ComparisonGroup, elements: [CellSummary])], _ request: RecommendationRequest
    ) -> (key: ComparisonGroup, elements: [CellSummary], protection: Protection)? {
        let levels: [Protection] =
            request.integrity == .noticed ? [.integrity, .secrecy, .secrecyInPart] : [.secrecy, .secrecyInPart]
        // If all cells were cold or remote, the user means those.
        for anyLocation in request.isCold || request.isRemote ? [false] : [false, true] {
            let admitted = groups.filter { request.admits($0.key, anyLocation: anyLocation) }
            for level in levels {
                func count(_ cells: [CellSummary]) -> Int {
                    cells.count { $0.protection >= level }
                }
                let best = admitted.max {
                    (count($0.elements), $0.key.objectByteCount) < (count($1.elements), $1.key.objectByteCount)
                }
                if let best, count(best.elements) > 0 { return (best.key, best.elements, level) }
            }
        }
        return nil
    }

    private static func workload(
        of cells: [CellSummary], _ request: RecommendationRequest
    ) throws(RecommendationError) -> (workload: String, reason: String?) {
        let measured = cells.grouped(by: \.cell.workload).map { (workload: $0.key, count: $0.elements.count) }
        guard let asked = request.workload else {
            if let sequential = measured.first(where: { $0.workload == "sequential" }) {
                return (sequential.workload, nil)
            }
            let maximum = measured.map(\.count).max()
            return (measured.first { $0.count == maximum }?.workload ?? "sequential", nil)
        }
        if measured.contains(where: { $0.workload == asked }) { return (asked, nil) }
        if let found = WorkloadAlias(rawValue: asked)?.find(in: measured) { return found }
        throw .workloadNotMeasured(asked, measured: measured.map(\.workload))
    }

    /// Returns the values that the user can choose from, in words.
    private static func found(in cells: [CellSummary]) -> String {
        func values(_ name: String, _ value: (Cell) -> String?) -> String? {
            let seen = cells.compactMap { value($0.cell) }.unique
            return seen.isEmpty ? nil : "\(name) \(seen.joined(separator: ", "))"
        }
        return [
            values("backend") { $0.backend }, values("strategy") { $0.strategy },
            values("access") { $0.access.rawValue },
            values("threads") { String($0.threads) },
            values("key size") { String($0.keyByteCount * 8) }, values("source") { $0.source },
            values("object size") { ByteCountText.size($0.objectByteCount) },
            values("store") { ComparisonGroup($0).location },
        ].compactMap { $0 }.joined(separator: "; ")
    }
}

/// Groups of cells that reports and recommendations compare with each other.
package enum ComparedCells {
    /// Groups cells so that all cells of a group have the same reads of the same kind of object.
    ///
    /// - Returns: The groups with the facts that their cells share, in words, in the order of their first cells.
    package static func groups(of cells: [Cell]) -> [(name: String, cells: [Cell])] {
        cells.grouped { ComparedKey($0) }.map { ("\($0.key.workload), \($0.key.group.description)", $0.elements) }
    }
}

/// The facts shared by cells that are compared with each other.
struct ComparedKey: Hashable, Sendable {
    var workload: String
    var group: ComparisonGroup

    init(_ cell: Cell) { (workload, group) = (cell.workload, ComparisonGroup(cell)) }
}

/// The properties that a reader finds and does not choose.
struct ComparisonGroup: Hashable, Sendable {
    var objectByteCount: UInt64
    var keyByteCount: Int
    /// The origin of the object: `file` for one that is read or mapped.
    var origin: String
    /// True if the file is not in the page cache.
    var isCold: Bool
    /// The simulated store's response time in nanoseconds; `nil` without a store.
    var remoteLatencyNanoseconds: UInt64?
    /// The simulated store's rate; `nil` if the transfer takes no time.
    var remoteBytesPerSecond: UInt64?
    /// The client that sends requests to the store; `nil` without one.
    var remoteClient: String?

    init(_ cell: Cell) {
        objectByteCount = cell.objectByteCount
        keyByteCount = cell.keyByteCount
        origin = Self.isFile(cell.source) ? "file" : cell.sourceName
        isCold = cell.isCold == true
        remoteLatencyNanoseconds = cell.remoteLatencyNanoseconds
        remoteBytesPerSecond = cell.remoteBytesPerSecond
        remoteClient = cell.remoteClient
    }

    /// Returns whether a source is a file, read or mapped.
    static func isFile(_ source: String) -> Bool { ["file", "mmap"].contains(source) }

    var isRemote: Bool { remoteLatencyNanoseconds != nil || remoteBytesPerSecond != nil }

    /// The location of the ciphertext, in words.
    var location: String {
        if isRemote {
            let latency = remoteLatencyNanoseconds.map { DurationText.text(nanoseconds: $0) }
            let rate = remoteBytesPerSecond.map { "\(ByteCountText.size($0))/s" }
            let client = remoteClient.map { "client \($0)" }
            return "a remote store (\([latency, rate, client].compactMap { $0 }.joined(separator: ", ")))"
        }
        switch origin {
        case "file": return isCold ? "a file not in the page cache" : "a file in the page cache"
        case "direct", "uring": return "a file on its storage, by \(origin) reads"
        case "generated": return "a generated object"
        case let served where served.hasPrefix("http"): return "an object over \(served)"
        default: return origin
        }
    }

    /// The group in words: `keys of 128 bits, 200 MiB in a file in the page cache`.
    var description: String {
        "keys of \(keyByteCount * 8) bits, \(ByteCountText.size(objectByteCount)) in \(location)"
    }

    /// Returns the options that select this group instead of another.
    func options(insteadOf others: ComparisonGroup) -> String {
        [
            keyByteCount == others.keyByteCount ? nil : "--key-size \(keyByteCount * 8)",
            objectByteCount == others.objectByteCount ? nil : "--object-size \(BudgetText.exact(objectByteCount))",
            origin == others.origin ? nil : "--source \(origin)", isCold ? "--cold" : nil, isRemote ? "--remote" : nil,
        ].compactMap { $0 }.joined(separator: " ")
    }
}

extension RecommendationRequest {
    /// Returns whether a cell matches the request, apart from its group.
    func admits(_ cell: Cell) -> Bool {
        (backend == nil || backend == cell.backend)
            && (strategy == nil || strategy == cell.strategy || strategy == cell.format)
            && (chunkByteCount == nil || chunkByteCount == cell.chunkByteCount
                || chunkByteCount.map { ByteCountText.size($0) } == cell.chunkText)
            && (access == nil || access == cell.access) && (threads == nil || threads == cell.threads)
            && (source == nil || source == cell.sourceName)
    }

    /// Returns whether a group matches the request.
    func admits(_ group: ComparisonGroup, anyLocation: Bool = false) -> Bool {
        (anyLocation || (isCold == group.isCold && isRemote == group.isRemote))
            && (keyByteCount == nil || keyByteCount == group.keyByteCount)
            && (objectByteCount == nil || objectByteCount == group.objectByteCount)
    }

    /// The request in words, without budgets and workload.
    var description: String {
        let parts = [
            backend.map { "of \($0)" }, strategy,
            chunkByteCount.map { "\(ByteCountText.size($0)) chunks" },
            access.map { "access \($0)" }, threads.map { RatioText.count($0, "thread") },
            keyByteCount.map { "keys of \($0 * 8) bits" }, source.map { "source \($0)" },
            objectByteCount.map { "an object of \(ByteCountText.size($0))" },
            isCold ? "not in the page cache" : nil, isRemote ? "behind a remote store" : nil,
        ].compactMap { $0 }
        return parts.isEmpty ? "local" : parts.joined(separator: ", ")
    }
}

/// Short names for configurations that are compared. Parts that all of them share are left out.
struct ConfigurationNames: Sendable {
    private let showsStrategy: Bool
    private let showsKey: Bool
    private let showsThreads: Bool
    private let showsAccess: Bool
    private let showsSource: Bool
    private let showsReads: Bool

    init(_ cells: [Cell]) {
        func varies<Value: Hashable>(_ value: (Cell) -> Value) -> Bool { Set(cells.map(value)).count > 1 }
        showsStrategy = varies(\.strategy)
        showsKey = varies(\.keyByteCount)
        showsThreads = varies(\.threads) || cells.contains { $0.threads != 1 }
        showsAccess = varies(\.access) || cells.contains { $0.access != .block }
        showsSource = varies(\.source)
        showsReads = Set(cells.map { Self.withoutReads($0) }).count < cells.count
    }

    /// Returns a cell's name: `libgcrypt, 256 KiB windows, 2 threads`.
    func name(of cell: Cell) -> String {
        let access = cell.access == .block && !showsAccess ? nil : cell.accessText
        let mapping: String? = cell.source == "mmap" ? "mapped file" : cell.source == "file" ? nil : cell.sourceName
        return [
            cell.backend, showsStrategy ? cell.strategy : nil,
            "\(ByteCountText.size(cell.windowByteCount)) windows", access,
            showsThreads ? RatioText.count(cell.threads, "thread") : nil, showsSource ? mapping : nil,
            showsKey ? cell.keyName : nil,
        ].compactMap { $0 }.joined(separator: ", ")
            + (showsReads ? cell.readCount.map { ", \(RatioText.count($0, "read"))" } ?? "" : "")
    }

    private static func withoutReads(_ cell: Cell) -> Cell {
        var cell = cell
        cell.readCount = nil
        cell.label = nil
        return cell
    }
}
