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
        Array(fields.map { csvField(MarkupText.csv($0)) }.joined(separator: [UInt8(ascii: ",")])) + [0x0D, 0x0A]
    }

    private static let csvFigures = [Figure].shown(in: .csv)

    private static func csvField(_ field: String) -> [UInt8] {
        guard field.utf8.contains(where: { [0x22, 0x2C, 0x0D, 0x0A].contains($0) }) else { return Array(field.utf8) }
        return [0x22] + field.utf8.flatMap { $0 == 0x22 ? [$0, $0] : [$0] } + [0x22]
    }
}
