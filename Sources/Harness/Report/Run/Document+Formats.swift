import Results

extension Document {
    /// The formats side by side, each with the chunk that its reads from the middle are fastest with; `nil` for fewer
    /// than four.
    static func formats(_ summary: RunSummary) -> Section? {
        guard let workload = summary.mainRandomWorkload else { return nil }
        let measured = summary.cells.filter { $0.speed != nil && $0.cell.label == nil && $0.cell.threads == 1 }
        let local = measured.filter(\.cell.isLocal).grouped(by: \.cell.format)
        let best = local.compactMap { _, cells in
            cells.filter { $0.cell.workload == workload && $0.latency != nil }
                .min { $0.latency?.p50 ?? 0 < $1.latency?.p50 ?? 0 }
        }.sorted { one, other in
            let (guards, others) = (one.facts?.isTagged == true, other.facts?.isTagged == true)
            return guards == others ? one.latency?.p50 ?? 0 < other.latency?.p50 ?? 0 : guards
        }
        guard best.count > 3 else { return nil }
        let rows = best.map { cell -> [Table.Entry] in
            let own = measured.filter { $0.cell.isLikeBeside(cell.cell) && $0.cell.isLocal }
            let inOrder = own.filter { $0.cell.workload == "sequential" }.max {
                $0.speed?.bytesPerSecond ?? 0 < $1.speed?.bytesPerSecond ?? 0
            }
            let short = own.first { $0.cell.workload == "random:4KiB" }
            return [
                Table.Entry(cell.cell.format, detail: cell.cell.backend),
                Table.Entry(cell.cell.chunkText ?? "whole"), Figure.latency.entry(cell),
                short?.amplification.map { Table.Entry(RatioText.times($0.fetched)) } ?? .absent,
                inOrder?.speed.map { Table.Entry(ByteCountText.rate($0.bytesPerSecond)) } ?? .absent,
                inOrder?.memory.map { Table.Entry(ByteCountText.measured($0.growthByteCount)) } ?? .absent,
                cell.facts.addedEntry, cell.facts.limitEntry, cell.facts.changes("nothing") { $0 },
            ]
        }
        let table = Table(
            caption:
                "Each format with the chunk that its reads of \(readSize(workload)) are fastest with: their "
                + "median; ciphertext bytes fetched for each byte of reads of 4 KiB; the rate and the memory from "
                + "start to end; what the format adds to 1 GiB on disk, and the longest plaintext. Notices: another "
                + "byte, a chunk in another's place, one of another file, an end that is cut off.",
            columns: [
                .text("Format"), .text("Chunk"), .number("median"), .number("fetched, 4 KiB"), .number("in order"),
                .number("memory"), .number("on disk"), .number("at most"), .text("Notices"),
            ], rows: rows)
        return Section(
            name: "formats", title: "Formats side by side",
            blocks: [.table(table)] + (distances(measured, workload).map { [.table($0)] } ?? []))
    }

    private static func readSize(_ workload: String) -> String {
        CellWorkload(workload)?.rangeByteCount.map(ByteCountText.size) ?? workload
    }

    /// The median of reads behind each distance, by format and chunk; `nil` if none was measured.
    private static func distances(_ cells: [CellSummary], _ workload: String) -> Table? {
        let cells = cells.filter { $0.cell.workload == workload && $0.latency != nil }
        let latencies = Set(cells.compactMap(\.cell.remoteLatencyNanoseconds)).sorted()
        guard !latencies.isEmpty else { return nil }
        let groups = cells.grouped { "\($0.cell.strategy) \($0.cell.backend)" }.map(\.elements)
        let remote = groups.filter { $0.contains { $0.cell.remoteLatencyNanoseconds != nil } }
        let rows = remote.map { cells -> [Table.Entry] in
            let medians = ([nil] + latencies).map { latency -> Table.Entry in
                let cell = cells.first {
                    $0.cell.remoteLatencyNanoseconds == latency && (latency != nil || $0.cell.isLocal)
                }
                return cell.map(Figure.latency.entry) ?? .absent
            }
            return [Table.Entry(cells[0].cell.strategy, detail: cells[0].cell.backend)] + medians
        }
        return Table(
            caption: "The median of a read of \(readSize(workload)) from this machine, and from a simulated "
                + "store that answers later.",
            columns: [.text("Format"), .number("here")]
                + latencies.map { .number(DurationText.text(nanoseconds: $0)) }, rows: rows)
    }
}

extension Cell {
    /// Returns whether cells differ at most in what is read, and in which steps.
    fileprivate func isLikeBeside(_ other: Cell) -> Bool {
        strategy == other.strategy && backend == other.backend && keyByteCount == other.keyByteCount
            && access == other.access && source == other.source
    }
}

extension StrategyFacts? {
    /// The bytes that the format adds to a plaintext, as a share, in a table.
    var addedEntry: Table.Entry {
        self?.lengths?.addedPerGiB.map { Table.Entry(ComputedPlanText.overhead($0, of: 1 << 30)) } ?? .absent
    }

    /// The length of the longest plaintext, in a table.
    fileprivate var limitEntry: Table.Entry {
        self?.lengths.map { Table.Entry($0.maxByteCount.map(ByteCountText.size) ?? "any") } ?? .absent
    }

    /// Returns the changes that a reader notices, or others by `isShown`, in a table.
    func changes(_ none: String, where isShown: (_ isNoticed: Bool) -> Bool) -> Table.Entry {
        let shown = ComputedPlan.Notice.allCases.filter { isShown(self?.notices($0) == true) }.map(\.rawValue)
        return Table.Entry(shown.isEmpty ? none : shown.joined(separator: ", "))
    }
}

extension StrategyFacts {
    /// Returns whether a reader notices a change.
    fileprivate func notices(_ change: ComputedPlan.Notice) -> Bool {
        switch change {
        case .change: isTagged
        case .move: isIndexBound
        case .otherFile: isObjectBound
        case .cut: isEndBound
        }
    }
}
