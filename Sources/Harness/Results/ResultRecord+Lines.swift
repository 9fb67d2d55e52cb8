#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ResultRecord {
    /// The record as one line of JSON with its members in order, its end included.
    package func line() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try Array(encoder.encode(self)) + [0x0A]
    }

    /// Reads a result file.
    ///
    /// - Parameter bytes: The file.
    /// - Returns: The records, and how many bytes of the file they take: a run that was killed may leave a last line
    ///   without an end, which counts as not written.
    /// - Throws: `ResultsError.damagedLine` for a whole line that is no record, `.unknownSchema` if it comes from another
    ///   version.
    package static func read(_ bytes: [UInt8]) throws(ResultsError) -> (records: [ResultRecord], byteCount: Int) {
        var records: [ResultRecord] = []
        var start = 0
        let decoder = JSONDecoder()
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            let line = Data(bytes[start..<end])
            if records.isEmpty, let header = try? decoder.decode(AnyHeader.self, from: line),
                header.header.schema != RunHeader.currentSchema
            {
                throw .unknownSchema(header.header.schema)
            }
            guard let record = try? decoder.decode(ResultRecord.self, from: line) else {
                throw .damagedLine(records.count + 1)
            }
            records.append(record)
            start = end + 1
        }
        return (records, start)
    }
}
