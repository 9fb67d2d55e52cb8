import Results
package import Support

/// A history for a terminal: lines of letters, at most 80 columns unless names are long.
enum TrendText {
    private static let lineLength = 32

    static func render(_ history: History) -> String {
        var parts = history.findings.map { WrappedText.lines($0) }
        for host in history.hosts {
            let title = "\(host.host.name), \(host.host.cpuModel): \(RatioText.count(host.runs.count, "run"))"
            parts.append(WrappedText.lines(title))
            parts += changes(host)
            guard !host.cells.isEmpty else { continue }
            parts.append(
                "OVER TIME\n"
                    + WrappedText.lines(
                        "each line from its minimum (▁) to its maximum ratio (█), logarithmic; | marks a change of "
                            + "level; the figure is the latest ratio"))
            parts += CellGroups.groups(host.cells, of: \.cell).map { group in
                let names = CellNames(group.elements.map(\.cell))
                return WrappedText.lines(group.title) + "\n"
                    + group.elements.map { line($0, names) }.joined(separator: "\n")
            }
        }
        if !history.skipped.isEmpty {
            parts.append(
                "SKIPPED\n"
                    + history.skipped.map { WrappedText.lines("\($0.path): \($0.reason)", indent: 4) }
                    .joined(separator: "\n"))
        }
        if let reference = history.reference, let anchor = history.hosts.compactMap(\.anchor).first {
            parts.append(
                WrappedText.lines(
                    "Ratios are throughput ÷ that of the same configuration of \(reference) in the same run; where "
                        + "there is none, and for \(reference) itself, ÷ that of \(anchor.name)."))
        }
        return TextRenderer.plainLines(parts.joined(separator: "\n\n"))
    }

    /// Returns as many values as fit into a line: the middle one of each group of neighbours.
    static func thinned(_ values: [Double?]) -> [Double?] {
        guard values.count > lineLength else { return values }
        return (0..<lineLength).map { index in
            let range = index * values.count / lineLength..<(index + 1) * values.count / lineLength
            let known = values[range].compactMap { $0 }.sorted()
            return known.isEmpty ? nil : known[known.count / 2]
        }
    }

    /// More cells of one run than this are only counted.
    private static let maxCells = 3

    private static func changes(_ host: HostHistory) -> [String] {
        let texts = host.turns.map { turn in
            let run = host.runs[turn.run]
            let title =
                "run \(turn.run + 1), \(run.header.startedAt), \(run.path): "
                + "\(RatioText.count(turn.entries.count, "cell")), \(turn.rangeText): \(turn.backendsText)"
            var lines = [WrappedText.lines(title, indent: 2)]
            lines += (turn.entries.first?.change.differences ?? []).map {
                WrappedText.lines("\($0.name): \($0.values.joined(separator: " → "))", first: "  ", indent: 4)
            }
            lines += turn.entries.prefix(maxCells).map {
                WrappedText.lines(
                    $0.cell.name, first: "  \(WrappedText.padded($0.change.text, to: 8, isNumeric: true))  ")
            }
            let more = turn.entries.count - maxCells
            if more > 0 { lines.append("  and \(RatioText.count(more, "cell")) more, by less") }
            return lines.joined(separator: "\n")
        }
        let drifts = host.changedCells.compactMap { cell in
            cell.drift.map {
                WrappedText.lines(cell.cell.name, first: "  \(WrappedText.padded($0.text, to: 8, isNumeric: true))  ")
            }
        }
        return [("CHANGES, by the first run on the new level", texts), ("DRIFTS, over all runs", drifts)]
            .filter { !$0.1.isEmpty }.map { ([$0.0] + $0.1).joined(separator: "\n") }
    }

    private static func line(_ cell: CellHistory, _ names: CellNames) -> String {
        let values = cell.ratios.compactMap { $0 }
        let letters = Sparkline(covering: values).map { $0.text(thinned(cell.ratios)) } ?? ""
        let width = min(cell.ratios.count, lineLength)
        var line = Array(letters)
        for change in cell.changes.reversed() {
            let index = cell.ratios.count > lineLength ? change.run * lineLength / cell.ratios.count : change.run
            line.insert("|", at: min(index, line.count))
        }
        let latest = WrappedText.padded(values.last.map(RatioText.times) ?? "–", to: 8, isNumeric: true)
        return "\(WrappedText.padded(String(line), to: width + 2)) \(latest)  \(names.name(of: cell.cell))"
    }
}

/// The output formats of a history.
package enum TrendFormat: String, CaseIterable, Sendable {
    case text
    /// A page that needs no other files.
    case html
    /// GitHub-flavoured Markdown; pictures are lines of letters.
    case markdown
    case json
}

extension History {
    /// Returns the history in one format, as a file of that name.
    package func file(_ format: TrendFormat, name: String = "trend") -> ReportFile {
        switch format {
        case .text: ReportFile(name: name, text: TrendText.render(self) + "\n")
        case .html: ReportFile(name: name, text: HTMLRenderer.render(Document(self)))
        case .markdown: ReportFile(name: name, text: MarkdownRenderer.render(Document(self).withoutCharts))
        case .json: ReportFile(name: name, text: json.text + "\n")
        }
    }
}

extension Document {
    /// The document without its pictures, for an output without files for them.
    fileprivate var withoutCharts: Document {
        var document = self
        for index in document.sections.indices {
            document.sections[index].blocks.removeAll { if case .chart = $0 { true } else { false } }
        }
        return document
    }
}

extension History {
    package var json: JSONValue {
        JSONValue(members: [
            "schema": "chunkwise-trend-1", "reference": reference, "method": Self.method, "findings": findings,
            "hosts": hosts.map(Self.json), "skipped": skipped.map { ["path": $0.path, "reason": $0.reason] },
        ])
    }

    private static func json(_ host: HostHistory) -> JSONValue {
        let runs = host.runs.map {
            JSONValue(members: [
                "path": $0.path, "startedAt": $0.header.startedAt, "programVersion": $0.header.programVersion,
                "isComplete": $0.isComplete,
            ])
        }
        return JSONValue(members: [
            "host": host.host.json, "anchor": host.anchor?.id, "runs": runs,
            "cells": host.cells.map { json($0, host) },
        ])
    }

    private static func json(_ cell: CellHistory, _ host: HostHistory) -> JSONValue {
        let changes = cell.changes.map { change in
            let run = host.runs[change.run]
            return JSONValue(members: [
                "run": change.run, "path": run.path, "startedAt": run.header.startedAt, "before": change.before,
                "after": change.after, "factor": change.factor, "probability": change.probability,
                "differences": change.differences.map {
                    ["name": $0.name, "before": $0.values[0], "after": $0.values[1]]
                },
            ])
        }
        let drift = cell.drift.map {
            JSONValue(members: [
                "before": $0.before, "after": $0.after, "factor": $0.factor, "probability": $0.probability,
            ])
        }
        return JSONValue(members: [
            "name": cell.cell.id, "reference": cell.reference.id,
            "ratios": cell.ratios.map { $0.map(JSONValue.number) }, "changes": changes, "drift": drift,
        ])
    }
}
