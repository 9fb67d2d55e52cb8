package import Support

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
        case .text: ReportFile(name: name, text: TextRenderer.render(Document(self)) + "\n")
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
        .object([
            "schema": "chunkwise-trend-1",
            "reference": JSONValue(reference),
            "method": JSONValue(strings: Self.method),
            "findings": JSONValue(strings: findings),
            "hosts": .array(hosts.map(Self.json)),
            "skipped": .array(skipped.map { ["path": .string($0.path), "reason": .string($0.reason)] }),
        ])
    }

    private static func json(_ host: HostHistory) -> JSONValue {
        .object([
            "host": host.host.json,
            "anchor": JSONValue(host.anchor?.id),
            "runs": .array(
                host.runs.map {
                    [
                        "path": .string($0.path), "startedAt": .string($0.header.startedAt),
                        "programVersion": .string($0.header.programVersion), "isComplete": .bool($0.isComplete),
                    ]
                }),
            "cells": .array(host.cells.map { json($0, host) }),
        ])
    }

    private static func json(_ cell: CellHistory, _ host: HostHistory) -> JSONValue {
        .object([
            "name": .string(cell.cell.id),
            "reference": .string(cell.reference.id),
            "ratios": .array(cell.ratios.map { $0.map(JSONValue.number) ?? .null }),
            "changes": .array(
                cell.changes.map { change in
                    .object([
                        "run": JSONValue(count: change.run),
                        "path": .string(host.runs[change.run].path),
                        "startedAt": .string(host.runs[change.run].header.startedAt),
                        "before": .number(change.before), "after": .number(change.after),
                        "factor": .number(change.factor), "probability": .number(change.probability),
                        "differences": .array(
                            change.differences.map {
                                [
                                    "name": .string($0.name), "before": .string($0.values[0]),
                                    "after": .string($0.values[1]),
                                ]
                            }),
                    ])
                }),
            "drift": cell.drift.map { drift in
                [
                    "before": .number(drift.before), "after": .number(drift.after), "factor": .number(drift.factor),
                    "probability": .number(drift.probability),
                ]
            } ?? .null,
        ])
    }
}
