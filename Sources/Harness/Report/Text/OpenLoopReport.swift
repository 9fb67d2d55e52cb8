package import Results
package import Support

/// Latency against load, as `chunkwise measure --arrival` prints it.
package struct OpenLoopReport: Sendable {
    private let cell: Cell
    private let records: [OpenLoopRecord]

    /// A report on one cell.
    ///
    /// - Parameters:
    ///   - cell: The cell.
    ///   - records: One record per load.
    package init(_ cell: Cell, _ records: [OpenLoopRecord]) {
        self.cell = cell
        self.records = records
    }

    /// Two tables, each with an explanation.
    package var text: String {
        let processes = RatioText.count(records.map(\.processCount).max() ?? 0, "process", "processes")
        var blocks: [Document.Block] = [
            table(
                "latency from when a read was due, whatever became of those before (open loop); reads of \(processes) "
                    + "together", \.latency),
            table("time from the start of a read, which is all that a closed loop sees", \.service),
        ]
        var notes = records.filter(\.isOverloaded).map { record in
            "overload: \(rate(record.achievedPerSecond)) of \(rate(record.offeredPerSecond)) reads per second were "
                + "done: latencies grow for as long as that lasts"
        }
        if records.contains(where: { $0.latency.p9999 == nil }) {
            let needed = OpenLoopRecord.Percentiles.neededCounts.map { SignificantDigits.grouped(UInt64($0)) }
            notes.append(
                "– too few reads: p90, p99, p99.9 and p99.99 need \(needed.joined(separator: ", ")) of them; "
                    + "--rounds and --milliseconds give more")
        }
        if !notes.isEmpty { blocks.append(.list(notes)) }
        return TextRenderer.render(Document(title: cell.name, sections: [.init(blocks: blocks)]))
    }

    private func table(
        _ caption: String, _ figures: KeyPath<OpenLoopRecord, OpenLoopRecord.Percentiles>
    ) -> Document.Block {
        let heads = ["due/s", "done/s", "reads", "p50", "p90", "p99", "p99.9", "p99.99", "max"]
        let rows = records.map { record in
            [
                rate(record.offeredPerSecond), rate(record.achievedPerSecond),
                SignificantDigits.grouped(UInt64(record.readCount)),
            ] + record[keyPath: figures].all.map { $0.map { DurationText.text(nanoseconds: $0) } ?? "–" }
        }
        return .table(
            Table(caption: caption, columns: heads.map { .number($0) }, rows: rows.map { $0.map { Table.Entry($0) } }))
    }

    private func rate(_ perSecond: Double) -> String { SignificantDigits.text(perSecond) }

    /// The report as JSON; a percentile that too few reads support is `null`.
    package var json: JSONValue {
        JSONValue(members: [
            "schema": "chunkwise-open-loop-1", "name": cell.id, "threads": cell.threads,
            "loads": JSONValue(encoding: records, nullable: .all),
        ])
    }
}
