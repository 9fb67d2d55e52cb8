import Results

extension Document {
    /// What the cells used of the machine beside time, or `nil` if nobody told.
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
            Table.Entry(summary.cell.id, detail: summary.cell.label), duration(usage?.userNanoseconds),
            duration(usage?.systemNanoseconds), count(usage?.minorFaults), count(usage?.majorFaults),
            count(usage?.voluntarySwitches), count(usage?.involuntarySwitches),
        ]
        if hasCounters { row += [perByte(usage?.cycles), perByte(usage?.instructions)] }
        if hasCold { row.append(summary.residentByteCount.map { Table.Entry(ByteCountText.measured($0)) } ?? .absent) }
        return row
    }
}
