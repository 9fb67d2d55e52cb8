import Results

extension Document {
    /// The cells without figures, with the reason, or `nil` if there are none.
    static func failures(_ summary: RunSummary) -> Section? {
        let cells = summary.cellsWithoutFigures
        guard !cells.isEmpty else { return nil }
        let table = Table(
            caption: "Cells without figures, and why." + remark(cells.count),
            columns: [.text("Cell"), .text("Status"), .text("Reason")],
            rows: cells.prefix(maxRows).map { cell in
                [
                    Table.Entry(cell.cell.name, detail: cell.cell.label),
                    status(cell),
                    Table.Entry(cell.missingReason ?? ""),
                ]
            })
        return Section(
            name: "failures", title: "Cells without figures",
            blocks: [
                .paragraph("No speed is shown for what failed, was not checked, or was not timed yet."), .table(table),
            ])
    }

    /// Returns the same for several runs or hosts, with the name of each cell's owner.
    static func failures(_ cells: [(owner: String, cell: CellSummary)], owners: String) -> Section? {
        guard !cells.isEmpty else { return nil }
        let table = Table(
            caption: "Cells without figures, and why.",
            columns: [.text(owners), .text("Cell"), .text("Status"), .text("Reason")],
            rows: cells.prefix(maxCells).map { owner, cell in
                [
                    Table.Entry(owner), Table.Entry(cell.cell.name), status(cell),
                    Table.Entry(cell.missingReason ?? ""),
                ]
            })
        return Section(name: "failures", title: "Cells without figures", blocks: [.table(table)])
    }

    /// Returns a table with one row per cell, folded if it is long, with the parts that all cells share and the number
    /// of cells left out.
    static func cellBlocks(_ table: Table, shared: String, cellCount: Int) -> [Block] {
        let omission = "\(table.rows.count) of \(cellCount) cells are shown; results.csv has all."
        return (shared.isEmpty ? [] : [.paragraph("All cells: \(shared)")])
            + [table.rows.count > 60 ? .foldedTable(table) : .table(table)]
            + (cellCount > table.rows.count ? [.paragraph(omission)] : [])
    }

    /// The outcome of a cell.
    static func status(_ cell: CellSummary) -> Table.Entry {
        Table.Entry(cell.statusText, emphasis: cell.isBad ? .bad : .none)
    }

    /// More cells than this make a page slow, folded or not.
    static let maxCells = 1000

    /// Every cell, or `nil` if there are none.
    static func allCells(_ summary: RunSummary) -> Section? {
        guard !summary.cells.isEmpty else { return nil }
        let table = Table(
            caption: "All \(RatioText.count(summary.cells.count, "cell")) in the order of the results."
                + (summary.cells.count > maxCells
                    ? " The first \(SignificantDigits.grouped(UInt64(maxCells))) are shown; results.csv has all."
                    : ""),
            columns: [
                .text("Cell"), .number("Throughput"), .number("Share of limit"), .number("Rounds (samples)"),
                .number("Median read"), .number("Working set"), .number("Requests"), .number("Fetched"),
                .number("Memory growth"),
            ],
            rows: summary.cells.prefix(maxCells).map(row))
        return Section(
            name: "cells", title: "All cells",
            blocks: [.foldedTable(table), .paragraph("results.csv and results.json hold these and the raw samples.")])
    }

    private static func row(_ summary: CellSummary) -> [Table.Entry] {
        let throughput = summary.speed.map {
            Table.Entry(
                ByteCountText.rate($0.bytesPerSecond),
                detail: $0.rangeText)
        }
        let samples = summary.rounds.reduce(0) { $0 + $1.count }
        return [
            Table.Entry(summary.cell.name, detail: summary.cell.label),
            throughput ?? status(summary),
            summary.limit.map { Table.Entry(RatioText.percent($0.share), detail: $0.kind.text) } ?? .absent,
            samples == 0 ? .absent : Table.Entry("\(summary.rounds.count) (\(samples))"),
            duration(summary.latency?.p50), workingSet(summary), requests(summary),
            summary.amplification.map { Table.Entry(RatioText.times($0.fetched)) } ?? .absent,
            growth(summary),
        ]
    }

    /// The working set: the bytes that are touched before one is touched again; marked if a CPU cache holds them.
    private static func workingSet(_ summary: CellSummary) -> Table.Entry {
        guard let byteCount = summary.workingSetByteCount else { return .absent }
        return Table.Entry(
            ByteCountText.size(byteCount) + (summary.isInCache ? " (CPU cache)" : ""),
            emphasis: summary.isInCache ? .bad : .none)
    }

    /// The machine's resources that the cells used beside time, or `nil` if no cell records them.
    static func usage(_ summary: RunSummary) -> Section? {
        let measured = summary.cells.filter { $0.usage != nil || $0.residentByteCount != nil }
        guard !measured.isEmpty else { return nil }
        let hasCounters = measured.contains { $0.usage?.cycles != nil || $0.usage?.instructions != nil }
        let hasCold = measured.contains { $0.residentByteCount != nil }
        var columns: [Table.Column] = [
            .text("Cell"), .number("CPU user"), .number("CPU system"), .number("Minor faults"), .number("Major faults"),
            .number("Switches"), .number("Forced switches"),
        ]
        if hasCounters { columns += [.number("Cycles per byte"), .number("Instructions per byte")] }
        if hasCold { columns.append(.number("Still in memory")) }
        let table = Table(
            caption: "What all timed iterations of each cell used together, over all its processes."
                + remark(measured.count),
            columns: columns,
            rows: measured.prefix(maxRows).map { row($0, hasCounters: hasCounters, hasCold: hasCold) })
        var blocks: [Block] = [
            .paragraph(
                "Forced switches gave a thread's CPU to another one: many of them mean that something else ran. "
                    + (hasCounters
                        ? "Cycles and instructions are those outside of the kernel."
                        : "Cycles and instructions could not be counted on this machine.")
                    + (hasCold
                        ? " “Still in memory” is how much of a file that should have been cold the page cache kept."
                        : ""))
        ]
        blocks.append(.foldedTable(table))
        return Section(name: "usage", title: "Use of the machine", blocks: blocks)
    }

    private static func row(_ summary: CellSummary, hasCounters: Bool, hasCold: Bool) -> [Table.Entry] {
        let usage = summary.usage
        func count(_ number: UInt64?) -> Table.Entry {
            number.map { Table.Entry(SignificantDigits.grouped($0)) } ?? .absent
        }
        let iterations = summary.rounds.reduce(0) { $0 + $1.count }
        let delivered = Double(summary.deliveredByteCount ?? 0) * Double(iterations)
        func perByte(_ number: UInt64?) -> Table.Entry {
            guard let number, delivered > 0 else { return .absent }
            return Table.Entry(SignificantDigits.text(Double(number) / delivered))
        }
        var row = [
            Table.Entry(summary.cell.name, detail: summary.cell.label), duration(usage?.userNanoseconds),
            duration(usage?.systemNanoseconds), count(usage?.minorFaults), count(usage?.majorFaults),
            count(usage?.voluntarySwitches), count(usage?.involuntarySwitches),
        ]
        if hasCounters { row += [perByte(usage?.cycles), perByte(usage?.instructions)] }
        if hasCold { row.append(summary.residentByteCount.map { Table.Entry(ByteCountText.measured($0)) } ?? .absent) }
        return row
    }
}
