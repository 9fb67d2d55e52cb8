import ByteSources
import Glibc
package import RandomAccess
package import Results
package import Support
package import SystemPackage

/// A result file that is written record by record.
package final class ResultLog {
    /// The records that the file held when it was opened.
    package let earlierRecords: [ResultRecord]

    private let log: LineLog

    /// Opens a result file, or creates it. A last line that a kill cut short is removed.
    ///
    /// - Throws: `SweepError`.
    package init(path: FilePath) throws(SweepError) {
        do throws(DecryptionError) {
            log = try LineLog(path: path)
        } catch {
            throw .io(error)
        }
        let byteCount: Int
        do throws(ResultsError) {
            (earlierRecords, byteCount) = try ResultRecord.read(log.earlierBytes)
        } catch {
            throw .damaged(path.string, error)
        }
        do throws(DecryptionError) {
            try log.keep(firstByteCount: byteCount)
        } catch {
            throw .io(error)
        }
    }

    /// Adds a record: one write of one whole line.
    ///
    /// - Throws: `SweepError.io`.
    package func append(_ record: ResultRecord) throws(SweepError) {
        do throws(DecryptionError) {
            try log.append(SystemCall.check("write a record") { try record.line() })
        } catch {
            throw .io(error)
        }
    }

    /// Reads a result file as a whole, with no more of it in memory than a line.
    ///
    /// - Returns: What it holds, and whether a last line was cut short.
    /// - Throws: `SweepError`.
    package static func read(_ path: FilePath) throws(SweepError) -> (results: RunResults, isCut: Bool) {
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
            let results = try reader.finish()
            return (results, results.leftOut.cutByteCount > 0)
        } catch let error as ResultsError {
            throw .damaged(path.string, error)
        } catch let error as DecryptionError {
            throw .io(error)
        } catch {
            throw .io(.io(operation: "read \(path)", code: 0, reason: "\(error)"))
        }
    }
}

/// Why a sweep or a report cannot go on.
package enum SweepError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// A file could not be read or written.
    case io(DecryptionError)
    /// A result file is not what it should be.
    case damaged(String, ResultsError)
    /// A result file belongs to another sweep.
    case externalResults(path: String, difference: String)

    /// What failed, the value, what was expected.
    package var description: String {
        switch self {
        case .io(let error): error.description
        case .damaged(let path, let error): "\(path): \(error)"
        case .externalResults(let path, let difference):
            "\(path) belongs to another sweep: \(difference); expected the same to go on, or another output folder"
        }
    }

    /// What a command ends with that this error stops.
    package var exitStatus: ExitStatus {
        switch self {
        case .io(let error): error.exitStatus
        case .damaged, .externalResults: .badData
        }
    }
}

/// A file that one process at a time adds whole lines to, so that a kill costs at most the line being written.
package final class LineLog {
    /// What the file held when it was opened.
    package let earlierBytes: [UInt8]

    private let path: FilePath
    private let descriptor: FileDescriptor

    /// Opens a file, or creates it, and locks it.
    ///
    /// - Throws: `DecryptionError.io`, also if another process writes to the file.
    package init(path: FilePath) throws(DecryptionError) {
        self.path = path
        let descriptor = try SystemCall.check("open \(path)") {
            try FileDescriptor.open(
                path, .readWrite, options: [.create, .append, .closeOnExec],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
        }
        // `deinit` of what was not made is not called, and the lock would stay.
        do throws(DecryptionError) {
            try Self.lock(descriptor, path: path)
            earlierBytes = try descriptor.readToEnd(path)
        } catch {
            try? descriptor.close()
            throw error
        }
        self.descriptor = descriptor
    }

    deinit {
        try? descriptor.close()
    }

    /// Removes what follows the first bytes of `earlierBytes`: a line that a kill cut short.
    ///
    /// - Throws: `DecryptionError.io`.
    package func keep(firstByteCount: Int) throws(DecryptionError) {
        try SystemCall.check("truncate \(path)") { try descriptor.resize(to: Int64(firstByteCount)) }
    }

    /// Adds a line: one write, and the line is on the disk. The corresponding C functions are `write` and `fdatasync`.
    ///
    /// - Parameter line: The line with its line feed.
    /// - Throws: `DecryptionError.io`.
    package func append(_ line: [UInt8]) throws(DecryptionError) {
        _ = try SystemCall.check("write to \(path)") { try descriptor.writeAll(line) }
        // What is no file on a disk, such as a pipe, is not to be synchronized.
        guard fdatasync(descriptor.rawValue) != 0, errno != EINVAL, errno != ENOTSUP else { return }
        _ = try SystemCall.retrying("write to \(path)") { -1 }
    }

    /// Takes a lock that is held until the descriptor is closed, also by a kill.
    private static func lock(_ descriptor: FileDescriptor, path: FilePath) throws(DecryptionError) {
        // A child that is being started holds it for a moment.
        for _ in 0..<50 {
            if flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else {
                _ = try SystemCall.retrying("lock \(path)") { -1 }
                return
            }
            usleep(10_000)
        }
        throw .io(
            operation: "lock \(path)", code: 0,
            reason: "another run writes to it: expected it to be finished, or another output")
    }
}
