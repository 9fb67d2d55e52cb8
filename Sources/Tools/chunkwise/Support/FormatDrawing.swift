import RandomAccess

extension FormatView {
    /// The stored parts of an object, from its start to its end, a line for each of its regions.
    var drawing: String {
        func cell(_ name: String, _ byteCount: String) -> String { byteCount.isEmpty ? name : "\(name) \(byteCount)" }
        // Parts that are empty with the defaults are left out.
        let header = facts.header.filter { $0.byteCount != 0 }.map { cell($0.name, $0.byteCount.map { "\($0)" } ?? "") }
        let chunk = chunkParts.filter { $0.byteCount != 0 }.map { part, _, count in
            cell(part.name, part.name == "data" && facts.isWhole ? "" : count.map { "\($0)" } ?? "")
        }
        let trailer = format.trailerFields.map { field -> String in
            if case .integer(let count) = field.byteCount.expression { return cell(field.name, "\(count)") }
            return field.name
        }
        // A header that begins with the first chunk is a look at that chunk.
        let isLook = strategy.geometry.map { $0.headerByteCount == 0 } ?? false
        var regions = header.isEmpty || isLook ? [] : [("header", header)]
        if facts.isWhole {
            regions.append(("data", chunk))
        } else if strategy.hasWholeChunks {
            regions += [("chunk 0", chunk), ("chunk 1", chunk), ("…", [])]
        } else {
            let parts = chunk.filter { !$0.hasPrefix("data") }
            regions += [("table", parts), ("", parts), ("…", []), ("data", ["chunk 0", "chunk 1", "…"])]
        }
        if !trailer.isEmpty { regions.append(("trailer", trailer)) }
        return regions.map(Self.line).joined(separator: "\n")
    }

    private static let columnCount = 78

    /// Returns the name of a region and its cells, on as many lines as they need.
    private static func line(_ name: String, _ cells: [String]) -> String {
        let indent = 9
        var lines = [name + String(repeating: " ", count: max(0, indent - name.count))]
        guard !cells.isEmpty else { return name }
        lines[0] += "|"
        for cell in cells {
            if lines[lines.count - 1].count + cell.count + 3 > columnCount {
                lines.append(String(repeating: " ", count: indent) + "|")
            }
            lines[lines.count - 1] += " \(cell) |"
        }
        return lines.joined(separator: "\n")
    }
}
