import Results
import Statistics
package import Support

extension RunComparison {
    /// The comparison as plain parts: the runs, the differences, the cells of both runs, the cells of one run.
    var sections: [Document.Section] {
        [runSection, differenceSection, pairSection, unpairedSection].compactMap { $0 }
    }

    private var runSection: Document.Section {
        let facts = zip(["A", "B"], runSet.runs).map { letter, run in
            let header = run.header
            return (
                name: letter,
                value: "\(run.name) (chunkwise \(header.programVersion) on \(header.host.name), \(header.startedAt), "
                    + "seed \(header.seed))"
            )
        }
        return Document.Section(name: "runs", title: "Runs", blocks: [.facts(facts)])
    }

    private static let caution =
        "Not a gate: the runs were made at different times, and the intervals hold only what differs between the "
        + "processes of each. To decide on a change, measure both at once: chunkwise gate."

    private var differenceSection: Document.Section {
        let block: Document.Block =
            differences.isEmpty
            ? .paragraph("Nothing that the files record: same host, versions, plan and seed.")
            : .table(
                Table(
                    caption: "What the two runs do not share.", columns: [.text("What"), .text("A"), .text("B")],
                    rows: differences.map { fact in [Table.Entry(fact.name)] + fact.values.map { Table.Entry($0) } }))
        return Document.Section(name: "differences", title: "What differs between the runs", blocks: [block])
    }

    private var pairSection: Document.Section? {
        guard let chart else { return nil }
        let names = CellNames(pairs.map(\.cell))
        let table = Table(
            caption: "Median throughput, and B ÷ A with its 95 % interval. Memory is how far the peak rose.",
            columns: [
                .text("Cell"), .number("A"), .number("B"), .number("B ÷ A"), .number("95 % interval"), .text("B is"),
                .number("Memory A"), .number("Memory B"),
            ], rows: pairs.map { row($0, names) })
        var blocks = [Document.Block.picture(chart)]
        if !names.shared.isEmpty { blocks.append(.paragraph("All cells: \(names.shared)")) }
        return Document.Section(
            name: "cells", title: "\(RatioText.count(pairs.count, "cell")) in both", blocks: blocks + [.table(table)])
    }

    private var summaryLines: [String] {
        let share = RatioText.percent(Double(within5PercentCount) / Double(max(pairs.count, 1)))
        var lines = ["within 5 % of each other: \(within5PercentCount) of \(pairs.count) cells (\(share))"]
        let ratios = pairs.map(\.ratio.ratio).sorted()
        if let minimum = ratios.first, let maximum = ratios.last,
            let median = percentile(tenthsOfPercent: 500, ofSorted: ratios)
        {
            lines.append(
                "B ÷ A: median \(Self.text(median)), minimum \(Self.text(minimum)), maximum "
                    + "\(Self.text(maximum))"
            )
        }
        guard isSameHost else { return lines }
        let misses =
            pairs.count >= 20 ? "; of \(pairs.count) intervals at 95 %, about \(pairs.count / 20) miss by chance" : ""
        lines.append(
            "B faster in \(count(.faster)), slower in \(count(.slower)), undecided in \(count(.undecided))" + misses)
        return lines
    }

    /// The findings, in a few lines.
    package var findings: [String] {
        guard !pairs.isEmpty else { return ["No cell has figures in both runs: there is nothing to compare."] }
        return summaryLines + [Self.caution]
    }

    private func row(_ pair: CellPair, _ names: CellNames) -> [Table.Entry] {
        let ratio = pair.ratio
        let relation = relation(pair)
        return [
            Table.Entry(names.name(of: pair.cell) + (pair.a.isInCache || pair.b.isInCache ? " (CPU cache)" : "")),
            Figure.throughput.plain.entry(pair.a), Figure.throughput.plain.entry(pair.b),
            Table.Entry(Self.text(ratio.ratio)),
            ratio.hasInterval ? Table.Entry("\(Self.number(ratio.low))–\(Self.text(ratio.high))") : .absent,
            Table.Entry(Self.word(relation)), Figure.growth.plain.entry(pair.a), Figure.growth.plain.entry(pair.b),
        ]
    }

    static func word(_ relation: CellPair.Relation) -> String {
        switch relation {
        case .faster: "faster"
        case .slower: "slower"
        case .undecided: "undecided"
        case .notJudged: "not judged"
        }
    }

    private static func number(_ ratio: Double) -> String { SignificantDigits.fixed(min(ratio, 1e6), places: 3) }

    private static func text(_ ratio: Double) -> String { number(ratio) + "×" }

    private var unpairedSection: Document.Section? {
        var blocks: [Document.Block] = []
        for (letter, cells) in [("A", onlyInA), ("B", onlyInB)] where !cells.isEmpty {
            blocks.append(.paragraph("\(RatioText.count(cells.count, "cell")) only in \(letter):"))
            blocks.append(.list(cells.map(\.name)))
        }
        if !withoutFigures.isEmpty {
            blocks.append(.paragraph("\(RatioText.count(withoutFigures.count, "cell")) of both without figures:"))
            blocks.append(
                .list(
                    withoutFigures.map { missing in
                        let reasons = [missing.a.map { "A: \($0)" }, missing.b.map { "B: \($0)" }].compactMap { $0 }
                        return "\(missing.cell.name): \(reasons.joined(separator: "; "))"
                    }))
        }
        guard !blocks.isEmpty else { return nil }
        return Document.Section(name: "unpaired", title: "Cells that are not compared", blocks: blocks)
    }

    /// The comparison as one object; ratios are throughput of B ÷ throughput of A.
    package var json: JSONValue {
        let differences = differences.map {
            JSONValue(members: [
                "name": $0.name, "a": $0.values[0], "b": $0.values[1], "isOfHost": $0.isOfHost,
            ])
        }
        return JSONValue(members: [
            "a": Self.json(runSet.runs[0]), "b": Self.json(runSet.runs[1]), "differences": differences,
            "isSameHost": isSameHost, "warnings": warnings, "common": pairs.count,
            "within5Percent": within5PercentCount, "faster": count(.faster), "slower": count(.slower),
            "undecided": count(.undecided), "cells": pairs.map(json), "onlyInA": onlyInA.map(\.id),
            "onlyInB": onlyInB.map(\.id),
            "withoutFigures": withoutFigures.map { ["name": $0.cell.id, "a": $0.a, "b": $0.b] },
        ])
    }

    private static func json(_ run: RunSummary) -> JSONValue {
        JSONValue(members: [
            "name": run.name, "programVersion": run.header.programVersion, "startedAt": run.header.startedAt,
            "host": run.header.host.name, "seed": run.header.seed, "isComplete": run.isComplete,
        ])
    }

    /// The figures of each side of a pair.
    private static let figures: [Figure] = [.throughput, .processes, .peak, .growth.plain]

    private func json(_ pair: CellPair) -> JSONValue {
        let interval = pair.ratio.hasInterval ? pair.ratio : nil
        return JSONValue(members: [
            "name": pair.cell.id, "ratio": pair.ratio.ratio, "low": interval?.low, "high": interval?.high,
            "relation": relation(pair).rawValue, "isWithin5Percent": pair.isWithin5Percent,
            "isSamePlaintext": pair.isSamePlaintext, "a": JSONValue.object(Self.figures.members(pair.a)),
            "b": JSONValue.object(Self.figures.members(pair.b)),
        ])
    }
}
