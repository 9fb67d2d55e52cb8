import Results
import Support

extension RunSummary {
    /// The cells as comma-separated values: a header, and one row per cell in the order of the results.
    ///
    /// A missing figure is an empty field. Lines end with CR LF. No field is a formula: see ``MarkupText/csv(_:)``.
    /// - Source: RFC 4180.
    var csvParts: @Sendable (([UInt8]) throws -> Void) throws -> Void {
        { part in
            try part(Self.csvLine(Self.csvHeads))
            try writeCSVRows(to: part)
        }
    }

    static var csvHeads: [String] { csvFigures.flatMap(\.ids) }

    /// Writes the rows without the header, each with the given fields in front.
    func writeCSVRows(after first: [String] = [], to part: ([UInt8]) throws -> Void) rethrows {
        for cell in cells {
            let values = Self.csvFigures.flatMap { $0.values(cell) }
            try part(Self.csvLine(first + values.map { $0?.text ?? "" }))
        }
    }

    static func csvLine(_ fields: [String]) -> [UInt8] {
        var line: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            appendCSVField(MarkupText.csv(field), to: &line)
        }
        line.append(0x0D)
        line.append(0x0A)
        return line
    }

    private static let csvFigures = [Figure].shown(in: .csv)

    private static func appendCSVField(_ field: String, to line: inout [UInt8]) {
        let isPlain = field.utf8.allSatisfy { $0 != 0x22 && $0 != 0x2C && $0 != 0x0D && $0 != 0x0A }
        guard !isPlain else {
            line += field.utf8
            return
        }
        line.append(0x22)
        for byte in field.utf8 {
            if byte == 0x22 { line.append(byte) }
            line.append(byte)
        }
        line.append(0x22)
    }
}
