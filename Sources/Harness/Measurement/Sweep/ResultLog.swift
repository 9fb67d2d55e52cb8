import ByteSources
import Glibc
package import RandomAccess
package import Results
package import Support
package import SystemPackage

/// A result file to which records are appended.
package final class ResultLog {
    /// The records that the file had when it was opened.
    package let earlierRecords: [ResultRecord]

    private let log: LineLog

    /// Opens a result file, or creates it. Removes an incomplete last line, which a kill may leave.
    ///
    /// - Throws: `SweepError`.
    package init(path: FilePath) throws(SweepError) {
        // A pipe would be waited for.
        var status = stat()
        guard stat(path.string, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw .io(.io(operation: "open \(path)", code: 0, reason: "it is no regular file: expected one, or none"))
        }
        let log = try rethrowing(as: SweepError.io, try LineLog(path: path))
        self.log = log
        let earlierBytes = try rethrowing(as: SweepError.io, try log.earlierBytes())
        let byteCount: Int
        (earlierRecords, byteCount) = try rethrowing(
            as: { SweepError.damaged(path.string, $0) }, try ResultRecord.read(earlierBytes))
        try rethrowing(as: SweepError.io, try log.keep(firstByteCount: byteCount))
    }

    /// Appends a record with one write of one whole line.
    ///
    /// - Throws: `SweepError.io`.
    package func append(_ record: ResultRecord) throws(SweepError) {
        try rethrowing(
            as: SweepError.io, try log.append(SystemCall.check("write a record") { try record.line() }))
    }

    /// Reads a whole result file, with at most one line of it in memory.
    ///
    /// - Returns: The results, and whether the last line was incomplete.
    /// - Throws: `SweepError`, also for a merged file of several hosts.
    package static func read(_ path: FilePath) throws(SweepError) -> (results: RunResults, isCut: Bool) {
        let hosts = try readHosts(path)
        guard hosts.count == 1 else { throw .severalHosts(path: path.string, count: hosts.count) }
        return (hosts[0], hosts[0].omitted.cutByteCount > 0)
    }

    /// Reads a whole result file, with at most one line of it in memory.
    ///
    /// - Returns: The results; for a merged file, one element for each host.
    /// - Throws: `SweepError`.
    package static func readHosts(_ path: FilePath) throws(SweepError) -> [RunResults] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var reader = ResultFileReader()
        do {
            let descriptor = try SystemCall.check("open \(path)") {
                try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
            }
            defer { try? descriptor.close() }
            while true {
                let count = try SystemCall.check("read \(path)") { try descriptor.read(into: buffer) }
                guard count > 0 else { break }
                try reader.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            return try reader.finishHosts()
        } catch let error as ResultsError {
            throw .damaged(path.string, error)
        } catch let error as DecryptionError {
            throw .io(error)
        } catch {
            throw .io(.io(operation: "read \(path)", code: 0, reason: "\(error)"))
        }
    }
}

/// An error that stops a sweep or a report.
package enum SweepError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// A file could not be read or written.
    case io(DecryptionError)
    /// A result file is damaged.
    case damaged(String, ResultsError)
    /// A result file belongs to another sweep.
    case externalResults(path: String, difference: String)
    /// A file has results of several hosts where those of one are expected.
    case severalHosts(path: String, count: Int)

    /// The message: what failed, the value, what was expected.
    package var description: String {
        switch self {
        case .io(let error): error.description
        case .damaged(let path, let error): "\(path): \(error)"
        case .externalResults(let path, let difference):
            "\(path) belongs to another sweep: \(difference); expected the same to go on, or another output folder"
        case .severalHosts(let path, let count):
            "\(path) holds the results of \(count) hosts: expected those of one; chunkwise report takes it alone"
        }
    }

    /// The exit status of a command that this error stops.
    package var exitStatus: ExitStatus {
        switch self {
        case .io(let error): error.exitStatus
        case .damaged, .externalResults, .severalHosts: .badData
        }
    }
}
