#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SelfTestRecord: Codable {
    /// The one member of a line's object, which says what the line is.
    private enum Key: String, CodingKey {
        case header
        case calibration
        case run
    }

    /// Reads a record: an object with one member, named after what it is.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        if let header = try members.decodeIfPresent(SelfTestHeader.self, forKey: .header) {
            self = .header(header)
        } else if let calibration = try members.decodeIfPresent(SelfTestCalibration.self, forKey: .calibration) {
            self = .calibration(calibration)
        } else {
            self = .run(try members.decode(SelfTestRun.self, forKey: .run))
        }
    }

    /// Writes a record.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        switch self {
        case .header(let header): try members.encode(header, forKey: .header)
        case .calibration(let calibration): try members.encode(calibration, forKey: .calibration)
        case .run(let run): try members.encode(run, forKey: .run)
        }
    }

    /// The record as one line of JSON, its end included.
    package var line: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only infinite numbers cannot be encoded, and records have none.
        return ((try? encoder.encode(self)).map(Array.init) ?? []) + [0x0A]
    }

    /// Reads a file of records; a last line without an end counts as not written.
    ///
    /// - Returns: The records, and how many bytes of the file they take.
    /// - Throws: `GateError.badFile`, with the line.
    package static func read(_ bytes: [UInt8], file: String) throws(GateError) -> ([SelfTestRecord], byteCount: Int) {
        var records: [SelfTestRecord] = []
        var start = 0
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            guard let record = try? JSONDecoder().decode(SelfTestRecord.self, from: Data(bytes[start..<end])) else {
                throw .badFile(
                    "line \(records.count + 1) of \(file) is no record: expected a self-test's, one JSON object a line")
            }
            if case .header(let header) = record, header.schema != SelfTestHeader.currentSchema {
                throw .badFile(
                    "\(file) has the unknown schema \"\(header.schema)\": expected \(SelfTestHeader.currentSchema)")
            }
            records.append(record)
            start = end + 1
        }
        if let first = records.first {
            guard case .header = first else {
                throw .badFile("\(file) has no header: expected a self-test's file, which begins with one")
            }
        }
        return (records, start)
    }
}
