package import Results

/// The cells that a recommendation chooses from: one workload, in the same group, and as asked for.
///
/// What a program or a format may choose is compared: backend, strategy, chunk, window, access, threads, and whether a
/// file is read or mapped. What it finds is not: the object's length, the key's, a file that is not in memory, a store
/// that is far away. Cells of other groups are left out, and counted.
struct CandidatePool: Sendable {
    let workload: String
    /// Why this workload stands for the one that was asked for; `nil` where it is that one.
    let workloadReason: String?
    let group: ComparisonGroup
    /// The figure that the cells are ranked by: of random reads the latency, where it was measured.
    let merit: Merit
    /// The least protection of a cell that may be chosen.
    let protection: Protection
    /// The cells with figures that may be chosen, in the order of the results.
    let cells: [CellSummary]
    /// Cells with figures that are as asked for, but protect less than others do that were measured beside them.
    let setAside: [CellSummary]
    /// Cells that are as asked for, but have no figures.
    let withoutFigures: [CellSummary]
    /// The number of cells without the figure that the others are ranked by.
    let unranked: Int
    /// What was left out, in the order of the results, and how many cells of it there are.
    let others: [(group: ComparisonGroup, count: Int)]

    init(_ summary: RunSummary, _ request: RecommendationRequest) throws(RecommendationError) {
        let timed = summary.cells.filter { $0.speed != nil }
        // What a CPU cache holds is chosen only where there is nothing else.
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
        let ranked = workload.hasPrefix("random:") && best.elements.contains { $0.latencySample != nil }
        let merit: Merit = ranked ? .latency : .throughput
        self.merit = merit
        let allowed = best.elements.filter { $0.protection >= best.protection }
        cells = allowed.filter { merit.sample(of: $0) != nil }
        setAside = best.elements.filter { $0.protection < best.protection }
        unranked = allowed.count - cells.count
        withoutFigures = summary.cells.filter {
            $0.speed == nil && $0.cell.workload == workload && request.admits($0.cell)
                && ComparisonGroup($0.cell) == best.key && $0.protection >= best.protection
        }
        others = groups.filter { $0.key != best.key }.map { ($0.key, $0.elements.count) }
    }

    /// Finds the group that a choice is made from, and the least protection of a choice.
    ///
    /// Cells protect as much as is asked for, or where none does, as much as any of them; local ones come before those
    /// that are cold or remote. Of equally many cells those of the larger object, then the first.
    private static func group(
        of groups: [(key: ComparisonGroup, elements: [CellSummary])], _ request: RecommendationRequest
    ) -> (key: ComparisonGroup, elements: [CellSummary], protection: Protection)? {
        let levels: [Protection] =
            request.integrity == .noticed ? [.integrity, .secrecy, .secrecyInPart] : [.secrecy, .secrecyInPart]
        // Where all of it was cold or remote, that is what was meant.
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

    /// What there is to choose from, in words.
    private static func found(in cells: [CellSummary]) -> String {
        func values(_ name: String, _ value: (Cell) -> String?) -> String? {
            let seen = cells.compactMap { value($0.cell) }.unique
            return seen.isEmpty ? nil : "\(name) \(seen.joined(separator: ", "))"
        }
        return [
            values("backend") { $0.backend }, values("strategy") { $0.strategy },
            values("access") { $0.access },
            values("threads") { String($0.threads) },
            values("key size") { String($0.keyByteCount * 8) }, values("source") { $0.source },
            values("object size") { ByteCountText.size($0.objectByteCount) },
            values("store") { ComparisonGroup($0).location },
        ].compactMap { $0 }.joined(separator: "; ")
    }
}

/// Cells that reports and recommendations compare with each other.
package enum ComparedCells {
    /// Divides cells: all of a group have the same reads of the same kind of object.
    ///
    /// - Returns: The groups with what they have in common, in words, in the order of their first cells.
    package static func groups(of cells: [Cell]) -> [(name: String, cells: [Cell])] {
        cells.grouped { ComparedKey($0) }.map { ("\($0.key.workload), \($0.key.group.description)", $0.elements) }
    }
}

/// What cells have in common that are compared with each other.
struct ComparedKey: Hashable, Sendable {
    var workload: String
    var group: ComparisonGroup

    init(_ cell: Cell) { (workload, group) = (cell.workload, ComparisonGroup(cell)) }
}

/// What a reader finds and does not choose.
struct ComparisonGroup: Hashable, Sendable {
    var objectByteCount: UInt64
    var keyByteCount: Int
    /// Where the object is: `file` for one that is read or mapped.
    var origin: String
    /// Whether the file is not in the page cache.
    var isCold: Bool
    /// The simulated store's time to an answer; `nil` without one.
    var remoteLatencyNanoseconds: UInt64?
    /// The simulated store's rate; `nil` where bytes take no time.
    var remoteBytesPerSecond: UInt64?
    /// The client that asks it; `nil` without one.
    var remoteClient: String?

    init(_ cell: Cell) {
        objectByteCount = cell.objectByteCount
        keyByteCount = cell.keyByteCount
        origin = Self.isFile(cell.source) ? "file" : cell.source
        isCold = cell.isCold == true
        remoteLatencyNanoseconds = cell.remoteLatencyNanoseconds
        remoteBytesPerSecond = cell.remoteBytesPerSecond
        remoteClient = cell.remoteClient
    }

    /// Whether a source is a file, read or mapped.
    static func isFile(_ source: String) -> Bool { ["file", "mmap"].contains(source) }

    var isRemote: Bool { remoteLatencyNanoseconds != nil || remoteBytesPerSecond != nil }

    /// Where the ciphertext is, in words.
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

    /// The options that ask for this group rather than another.
    func options(insteadOf others: ComparisonGroup) -> String {
        [
            keyByteCount == others.keyByteCount ? nil : "--key-size \(keyByteCount * 8)",
            objectByteCount == others.objectByteCount ? nil : "--object-size \(BudgetText.exact(objectByteCount))",
            origin == others.origin ? nil : "--source \(origin)", isCold ? "--cold" : nil, isRemote ? "--remote" : nil,
        ].compactMap { $0 }.joined(separator: " ")
    }
}

extension RecommendationRequest {
    /// Says whether a cell is what was asked for, its group apart.
    func admits(_ cell: Cell) -> Bool {
        (backend == nil || backend == cell.backend)
            && (strategy == nil || strategy == cell.strategy || strategy == cell.format)
            && (chunkByteCount == nil || chunkByteCount == cell.chunkByteCount
                || chunkByteCount.map { ByteCountText.size($0) } == cell.chunkText)
            && (access == nil || access == cell.access) && (threads == nil || threads == cell.threads)
            && (source == nil || source == cell.source)
    }

    /// Says whether a group is what was asked for.
    func admits(_ group: ComparisonGroup, anyLocation: Bool = false) -> Bool {
        (anyLocation || (isCold == group.isCold && isRemote == group.isRemote))
            && (keyByteCount == nil || keyByteCount == group.keyByteCount)
            && (objectByteCount == nil || objectByteCount == group.objectByteCount)
    }

    /// What was asked for, budgets and workload apart, in words.
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

/// Short names for configurations that are compared: what all of them share is not repeated.
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
        showsAccess = varies(\.access) || cells.contains { $0.access != "block" }
        showsSource = varies(\.source)
        showsReads = Set(cells.map { Self.withoutReads($0) }).count < cells.count
    }

    /// A cell's name: `libgcrypt, 256 KiB windows, 2 threads`.
    func name(of cell: Cell) -> String {
        let access = cell.access == "block" && !showsAccess ? nil : cell.accessText
        let mapping: String? = cell.source == "mmap" ? "mapped file" : cell.source == "file" ? nil : cell.source
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
