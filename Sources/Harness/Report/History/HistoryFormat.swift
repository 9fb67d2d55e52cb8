package import Support

/// The output formats of a history.
package enum HistoryFormat: String, CaseIterable, Sendable {
    case text
    /// A page that needs no other files.
    case html
    /// GitHub-flavoured Markdown; pictures are lines of letters.
    case markdown
    case json
}

extension History {
    /// Returns the history in one format, as a file of that name.
    package func file(_ format: HistoryFormat, name: String = "trend") -> ReportFile {
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
