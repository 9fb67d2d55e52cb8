import Results

extension Document {
    /// Peak memory as a picture and a table, or `nil` if none was measured.
    static func memory(_ summary: RunSummary) -> Section? {
        guard let chart = summary.memoryChart else { return nil }
        let cells = summary.grid.windows.flatMap { window in
            summary.grid.backends.compactMap { summary.grid[$0, window] }
        }.filter { $0.memory != nil }
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
        let hasCgroups = cells.contains { $0.memory?.cgroup != nil }
        let rows = cells.prefix(maxRows).map { memoryRow($0, hasCgroups: hasCgroups) }
        let cgroups = hasCgroups ? "; cgroup adds the page cache that it filled and what the kernel kept for it" : ""
        var columns: [Table.Column] = [.text("Window"), .text("Backend"), .number("Growth"), .number("Process")]
        if hasCgroups { columns.append(.number("Cgroup")) }
        columns += [.number("Page faults"), .number("System time")]
        return Table(
            caption: "Growth is the peak minus what was held with the object open, beside what the reader says its "
                + "buffers need at most; process is the peak of all resident memory, code and libraries among "
                + "it\(cgroups). Page faults and system time are those of a timed iteration.\(remark(cells.count))",
            columns: columns, rows: rows)
    }

    private static func memoryRow(_ cell: CellSummary, hasCgroups: Bool) -> [Table.Entry] {
        guard let memory = cell.memory else { return [] }
        let bound = memory.boundByteCount.map { "bound \(ByteCountText.measured($0))" }
        // The kernel's counters are only this exact.
        let isExceeded = memory.boundByteCount.map {
            memory.growthByteCount > $0 + CellSummary.memoryResolution
        }
        var row = [
            Table.Entry(ByteCountText.size(cell.cell.windowByteCount)), Table.Entry(cell.cell.backend),
            Table.Entry(
                ByteCountText.growth(memory.growthByteCount) + (isExceeded == true ? " (exceeds)" : ""), detail: bound,
                emphasis: isExceeded == true ? .bad : .none),
            Table.Entry(ByteCountText.measured(memory.absolutePeakByteCount)),
        ]
        if hasCgroups {
            row.append(memory.cgroup.map { Table.Entry(ByteCountText.measured($0.peakByteCount)) } ?? .absent)
        }
        guard let iteration = cell.iterationUsage else { return row + [.absent, .absent] }
        let fromDisk = iteration.majorFaults > 0 ? "\(SignificantDigits.grouped(iteration.majorFaults)) from disk" : nil
        let share = iteration.systemShare.map { "\(RatioText.percent($0)) of its CPU time" }
        row.append(Table.Entry(SignificantDigits.grouped(iteration.minorFaults), detail: fromDisk))
        row.append(Table.Entry(DurationText.text(nanoseconds: iteration.systemNanoseconds), detail: share))
        return row
    }

    /// Notes on backends that take memory from the system and give it back while they read, for cells of the picture.
    private static func allocatorNotes(_ summary: RunSummary) -> [String] {
        let cells = summary.grid.windows.flatMap { window in
            summary.grid.backends.compactMap { summary.grid[$0, window] }
        }
        return cells.filter(\.returnsMemory).grouped { $0.cell.backend }.compactMap { backend, cells in
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
