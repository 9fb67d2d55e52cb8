import ByteSources
package import RandomAccess
package import Results
package import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A result file that is written record by record.
package final class ResultLog {
    /// The records that the file held when it was opened.
    package let earlierRecords: [ResultRecord]

    private let path: FilePath
    private let descriptor: FileDescriptor

    /// Opens a result file, or creates it. A last line that a kill cut short is removed.
    ///
    /// - Throws: `SweepError`.
    package init(path: FilePath) throws(SweepError) {
        self.path = path
        let descriptor: FileDescriptor
        var bytes: [UInt8] = []
        do throws(DecryptionError) {
            descriptor = try SystemCall.check("open \(path)") {
                try FileDescriptor.open(
                    path, .readWrite, options: [.create, .append, .closeOnExec],
                    permissions: [.ownerReadWrite, .groupRead, .otherRead])
            }
            // Held until the descriptor is closed, also by a kill. A child that is being started holds it for a moment.
            var attempts = 0
            while flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0, attempts < 50 {
                usleep(10_000)
                attempts += 1
            }
            guard attempts < 50 else {
                try? descriptor.close()
                throw .io(
                    operation: "lock \(path)", code: 0,
                    reason: "another run writes to it: expected it to be finished, or another output folder")
            }
            bytes = try ResultLog.contents(of: descriptor, path: path)
        } catch {
            throw .io(error)
        }
        self.descriptor = descriptor
        do {
            let (records, byteCount) = try ResultRecord.read(bytes)
            self.earlierRecords = records
            try SystemCall.check("truncate \(path)") {
                try descriptor.resize(to: Int64(byteCount))
                try descriptor.seek(offset: 0, from: .end)
            }
        } catch {
            // Nobody calls `deinit` of what was not made, and the lock would stay.
            try? descriptor.close()
            if let error = error as? ResultsError { throw .damaged(path.string, error) }
            throw .io(error as? DecryptionError ?? .io(operation: "open \(path)", code: 0, reason: "\(error)"))
        }
    }

    deinit {
        try? descriptor.close()
    }

    /// Adds a record: one write of one whole line.
    ///
    /// - Throws: `SweepError.io`.
    package func append(_ record: ResultRecord) throws(SweepError) {
        do throws(DecryptionError) {
            _ = try SystemCall.check("write to \(path)") { try descriptor.writeAll(try record.line()) }
        } catch {
            throw .io(error)
        }
    }

    /// Reads a result file as a whole.
    ///
    /// - Returns: What it holds, and whether a last line was cut short.
    /// - Throws: `SweepError`.
    package static func read(_ path: FilePath) throws(SweepError) -> (results: RunResults, isCut: Bool) {
        let bytes: [UInt8]
        do throws(DecryptionError) {
            let descriptor = try SystemCall.check("open \(path)") {
                try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
            }
            defer { try? descriptor.close() }
            bytes = try contents(of: descriptor, path: path)
        } catch {
            throw .io(error)
        }
        do throws(ResultsError) {
            let (records, byteCount) = try ResultRecord.read(bytes)
            return (try RunResults(records: records), byteCount < bytes.count)
        } catch {
            throw .damaged(path.string, error)
        }
    }

    private static func contents(of descriptor: FileDescriptor, path: FilePath) throws(DecryptionError) -> [UInt8] {
        var bytes: [UInt8] = []
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { room.deallocate() }
        while true {
            let count = try SystemCall.check("read \(path)") { try descriptor.read(into: room) }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: room[..<count])
        }
    }
}

/// Why a sweep or a report cannot go on.
package enum SweepError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file could not be read or written.
    case io(DecryptionError)
    /// A result file is not what it should be.
    case damaged(String, ResultsError)
    /// A result file belongs to another sweep.
    case foreignResults(path: String, difference: String)

    /// What failed, the value, what was expected.
    package var description: String {
        switch self {
        case .io(let error): error.description
        case .damaged(let path, let error): "\(path): \(error)"
        case .foreignResults(let path, let difference):
            "\(path) belongs to another sweep: \(difference); expected the same to go on, or another output folder"
        }
    }
}
