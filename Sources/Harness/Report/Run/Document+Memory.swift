import Results

extension Document {
    /// Peak memory as a picture and a table, or `nil` if none was measured.
    static func memory(_ summary: RunSummary) -> Section? {
        guard let chart = summary.memoryChart else { return nil }
        let cells = summary.grid.all.filter { $0.memory != nil }
        let notes = allocatorNotes(summary)
        let absence = summary.results.header.cgroupAbsence.map {
            Block.paragraph("There is no peak of cgroups here: \($0).")
        }
        return Section(
            name: "memory", title: "Memory",
            blocks: [
                .paragraph(
                    "How far the process's resident memory rose while it read, in a pass of its own in a fresh "
                        + "process. A reader that works in place needs one window; what lies above that line is "
                        + "overhead."),
                .picture(chart),
                notes.isEmpty ? nil : .list(notes),
                absence,
                .foldedTable(memoryTable(cells)),
            ].compactMap { $0 }
        )
    }

    private static func memoryTable(_ cells: [CellSummary]) -> Table {
        let cgroup = [Figure.cgroupPeak].known(of: cells)
        let cgroups =
            cgroup.isEmpty ? "" : "; cgroup adds the page cache that it filled and what the kernel kept for it"
        return Table(
            "Growth is the peak minus what was held with the object open, beside what the reader says its buffers need "
                + "at most; process is the peak of all resident memory, code and libraries among it\(cgroups). Page "
                + "faults and system time are those of a timed iteration.", of: cells,
            [.window, .backend, boundedGrowth, .processPeak] + cgroup + [pageFaults, systemTime])
    }

    /// The growth of memory beside its bound.
    private static let boundedGrowth = Figure(column: "Growth", isNumeric: true) { cell in
        guard let memory = cell.memory else { return nil }
        // The kernel's counters are only this exact.
        let isExceeded = memory.boundByteCount.map { memory.growthByteCount > $0 + CellSummary.memoryResolution }
        return Table.Entry(
            ByteCountText.growth(memory.growthByteCount) + (isExceeded == true ? " (exceeds)" : ""),
            detail: memory.boundByteCount.map { "bound \(ByteCountText.measured($0))" },
            emphasis: isExceeded == true ? .bad : .none)
    }

    private static let pageFaults = Figure(column: "Page faults", isNumeric: true) { cell in
        cell.iterationUsage.map {
            let fromDisk = $0.majorFaults > 0 ? "\(SignificantDigits.grouped($0.majorFaults)) from disk" : nil
            return Table.Entry(SignificantDigits.grouped($0.minorFaults), detail: fromDisk)
        }
    }

    private static let systemTime = Figure(column: "System time", isNumeric: true) { cell in
        cell.iterationUsage.map {
            let share = $0.systemShare.map { "\(RatioText.percent($0)) of its CPU time" }
            return Table.Entry(DurationText.text(nanoseconds: $0.systemNanoseconds), detail: share)
        }
    }

    /// Notes on backends that take memory from the system and give it back while they read, for cells of the picture.
    private static func allocatorNotes(_ summary: RunSummary) -> [String] {
        summary.grid.all.filter(\.returnsMemory).grouped { $0.cell.backend }.compactMap { backend, cells in
            let windows = cells.map { ByteCountText.size($0.cell.windowByteCount) }.joined(separator: ", ")
            guard let first = cells.first, let iteration = first.iterationUsage else { return nil }
            let share =
                iteration.systemShare.map { " and \(RatioText.percent($0)) of its CPU time in the kernel" } ?? ""
            return "\(backend) takes memory from the system and gives it back while it reads, "
                + "at windows of \(windows): \(SignificantDigits.grouped(iteration.minorFaults)) page faults an "
                + "iteration\(share)"
                + (cells.count > 1 ? " at \(ByteCountText.size(first.cell.windowByteCount))." : ".")
        }
    }
}
