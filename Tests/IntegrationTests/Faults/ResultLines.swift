import Foundation
import Results
import Support

/// The lines of a result file, as far as they tell what was lost or counted twice.
struct ResultLines {
    /// The whole lines, with the breaks behind them.
    let whole: ArraySlice<UInt8>
    /// The subject of each line: a cell's round, its memory, a backend's vectors.
    let names: [String]

    /// Reads a file; what is behind the last line break is left out. `nil` if a line is none of results.
    init?(_ bytes: [UInt8]) {
        whole = bytes.prefix((bytes.lastIndex(of: 0x0A) ?? -1) + 1)
        var names: [String] = []
        for line in whole.split(separator: 0x0A) {
            guard case .object(let members)? = JSONValue.parse(Array(line)), let (kind, record) = members.first,
                members.count == 1, let read = try? JSONDecoder().decode(ResultRecord.self, from: Data(line))
            else { return nil }
            var cell = record["cellID"]?.string ?? record["subject"]?.string ?? ""
            if case .check(let check) = read { cell = check.cell.id }
            names.append("\(kind) \(cell) \(record["round"]?.integer ?? 0)")
        }
        self.names = names
    }

    /// The fault of a file that another run went on with, or `nil`: nothing that was there is gone or changed, and
    /// nothing is there twice; and if nothing has failed, all is there that a run without a stop has.
    static func mismatch(_ left: [UInt8], _ after: [UInt8], planned: [UInt8]?) -> String? {
        guard let left = ResultLines(left), let after = ResultLines(after) else { return "a line is no result" }
        guard after.whole.starts(with: left.whole) else { return "results are lost" }
        let counts = Dictionary(after.names.map { ($0, 1) }, uniquingKeysWith: +)
        if let (name, count) = counts.first(where: { $1 > 1 }) { return "\(count) results of \(name)" }
        // A cell that failed is told so, and has no more rounds.
        let hasFailed = after.names.contains { $0.hasPrefix("failure ") }
        guard !hasFailed, let planned = planned.flatMap(ResultLines.init) else { return nil }
        if let name = Set(planned.names).symmetricDifference(after.names).min() { return "\(name), there or not" }
        return nil
    }
}
