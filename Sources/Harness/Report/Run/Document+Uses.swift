import Results

extension Document {
    /// The format and the chunk to take for each use, behind each latency that was measured; `nil` for a run without
    /// ``formats(_:)``, or with nothing to choose from.
    static func uses(_ summary: RunSummary) -> Section? {
        guard formats(summary) != nil else { return nil }
        let measured = summary.cells.filter { cell in
            let isRemote = cell.cell.remoteLatencyNanoseconds != nil && cell.cell.isCold != true
            return cell.speed != nil && cell.cell.label == nil && cell.cell.threads == 1
                && (cell.cell.isLocal || isRemote)
        }
        let rows = Use.allCases.flatMap { use in
            measured.filter { $0.cell.workload == use.workload && use.admits($0) }
                .grouped { Distance($0.cell) }.sorted { $0.key.order < $1.key.order }
                .compactMap { Self.row(use, $0.key, among: $0.elements) }
        }
        guard !rows.isEmpty else { return nil }
        let table = Table(
            caption:
                "For each use, the choice by the rule of recommendations, of keys of any length. Films: reads of 64 "
                + "KiB at random places. Backups: from start to end. Databases: reads of 4 KiB. These take formats "
                + "that notice every change. Disks: reads of 4 KiB, of formats that add nothing and can be "
                + "rewritten 4 KiB at a time, so none in a counter mode. On disk is what the format adds to 1 GiB.",
            columns: [
                .text("For"), .number("Behind"), .text("Take"), .text("Chunk"), .number("A read, or rate"),
                .number("on disk"), .text("Not noticed"), .text("Others within 5 % of the best"),
            ], rows: rows)
        return Section(
            name: "uses", title: "What to take",
            blocks: [
                .table(table),
                .list([
                    "Not judged are random writes, the tools that a format has, uses behind a distance that their rows "
                        + "lack, and reads of an object of fewer than \(CellSummary.minChunkCount) chunks, of which a "
                        + "reader often still holds the right one."
                ]),
            ])
    }

    /// Returns the choice for a use; `nil` if nothing is shown of any cell.
    private static func row(_ use: Use, _ distance: Distance, among all: [CellSummary]) -> [Table.Entry]? {
        let beyondCaches = all.filter { !$0.isInCache }
        let usable = beyondCaches.isEmpty ? all : beyondCaches
        let protection = usable.map(\.protection).max()
        let cells = usable.filter { $0.protection == protection }
        let near = NearBest(cells.compactMap { Candidate($0, rankedBy: use.merit) })
        let members = near.members.compactMap { member in cells.first { $0.cell.id == member.id } }
        guard let choice = near.members.first, choice.isJudged, let cell = members.first else { return nil }
        let others = members.map(\.cell.format).unique.filter { $0 != cell.cell.format }
        let more = others.count > 3 ? ["\(others.count - 3) more"] : []
        return [
            Table.Entry(use.rawValue, detail: "\(cells.count) measured"), distance.entry,
            Table.Entry(cell.cell.strategy, detail: cell.cell.backend, emphasis: near.isShown ? .good : .none),
            Table.Entry(cell.cell.chunkText ?? "whole"),
            Table.Entry(use.merit.text(of: choice), detail: use.merit.intervalText(of: choice)),
            cell.facts.addedEntry, cell.facts.changes("–") { !$0 },
            !near.isShown ? "not shown" : others.isEmpty ? .absent : Table.Entry(Verdict.list(others.prefix(3) + more)),
        ]
    }
}

/// A use of files, by its reads.
private enum Use: String, CaseIterable {
    case films, backups, databases, disks

    var workload: String {
        switch self {
        case .films: "random:64KiB"
        case .backups: "sequential"
        case .databases, .disks: "random:4KiB"
        }
    }

    var merit: Merit { self == .backups ? .throughput : .latency }

    /// Returns whether a cell's format suits the use.
    func admits(_ cell: CellSummary) -> Bool {
        guard self == .disks else { return cell.protection == .integrity }
        guard let facts = cell.facts, facts.lengths?.addedPerGiB == 0 else { return false }
        return facts.lengths?.rewrittenByteCount.map { $0 <= 4096 } == true
    }
}

/// The simulated distance of a cell's ciphertext.
private struct Distance: Hashable {
    var latencyNanoseconds: UInt64?
    var bytesPerSecond: UInt64?

    init(_ cell: Cell) {
        (latencyNanoseconds, bytesPerSecond) = (cell.remoteLatencyNanoseconds, cell.remoteBytesPerSecond)
    }

    /// No distance first, then the shortest, then the narrowest.
    var order: (Int, UInt64, UInt64) {
        (latencyNanoseconds == nil ? 0 : 1, latencyNanoseconds ?? 0, bytesPerSecond ?? .max)
    }

    var entry: Table.Entry {
        guard let latencyNanoseconds else { return "nothing" }
        return Table.Entry(
            DurationText.text(nanoseconds: latencyNanoseconds),
            detail: bytesPerSecond.map { "\(ByteCountText.size($0))/s" })
    }
}
