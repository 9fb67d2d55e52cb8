import ByteSources
import FoundationEssentials
import Measurement
import RandomAccess
package import Results
import Support
package import SystemPackage

/// The file of a self-test, written record by record, so that a self-test that was broken off keeps its records.
package final class SelfTestLog {
    /// The records that the file held when it was opened.
    package let earlierRecords: [SelfTestRecord]

    private let log: LineLog

    /// Opens or creates a file. A last line that is incomplete because the process was killed is removed.
    ///
    /// - Throws: `GateError.io`, also if another self-test writes to the file; `.badFile`.
    package init(path: FilePath) throws(GateError) {
        let log = try rethrowing(as: GateError.io, try LineLog(path: path))
        self.log = log
        let earlierBytes = try rethrowing(as: GateError.io, try log.earlierBytes())
        let byteCount: Int
        (earlierRecords, byteCount) = try SelfTestRecord.read(earlierBytes, file: path.string)
        try rethrowing(as: GateError.io, try log.keep(firstByteCount: byteCount))
    }

    /// Appends a record with a single write of a whole line.
    ///
    /// - Throws: `GateError.io`.
    package func append(_ record: SelfTestRecord) throws(GateError) {
        try rethrowing(as: GateError.io, try log.append(record.line))
    }
}

extension SelfTestRecord {
    /// Reads a file of records; a last line without a line break is ignored.
    ///
    /// - Returns: The records, and the number of bytes of the file that they take.
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
