import Measurement
import RandomAccess
package import SystemPackage

/// A self-test's file, written record by record, so that a self-test that was broken off keeps what it has.
package final class SelfTestLog {
    /// The records that the file held when it was opened.
    package let earlierRecords: [SelfTestRecord]

    private let log: LineLog

    /// Opens a file, or creates it. A last line that a kill cut short is removed.
    ///
    /// - Throws: `GateError.io`, also if another self-test writes to the file; `.badFile`.
    package init(path: FilePath) throws(GateError) {
        do throws(DecryptionError) {
            log = try LineLog(path: path)
        } catch {
            throw .io(error)
        }
        let byteCount: Int
        (earlierRecords, byteCount) = try SelfTestRecord.read(log.earlierBytes, file: path.string)
        do throws(DecryptionError) {
            try log.keep(firstByteCount: byteCount)
        } catch {
            throw .io(error)
        }
    }

    /// Adds a record: one write of one whole line.
    ///
    /// - Throws: `GateError.io`.
    package func append(_ record: SelfTestRecord) throws(GateError) {
        do throws(DecryptionError) {
            try log.append(record.line)
        } catch {
            throw .io(error)
        }
    }
}
