import ByteSources
import RandomAccess
package import SystemPackage

/// A self-test's file, written record by record, so that a self-test that was broken off keeps what it has.
package final class SelfTestLog {
    /// The records that the file held when it was opened.
    package let earlierRecords: [SelfTestRecord]
    private let path: FilePath
    private let descriptor: FileDescriptor

    /// Opens a file, or creates it. A last line that a kill cut short is removed.
    ///
    /// - Throws: `GateError.io`, `.badFile`.
    package init(path: FilePath) throws(GateError) {
        self.path = path
        do throws(DecryptionError) {
            descriptor = try SystemCall.check("open \(path)") {
                try FileDescriptor.open(
                    path, .readWrite, options: [.create, .append, .closeOnExec],
                    permissions: [.ownerReadWrite, .groupRead, .otherRead])
            }
        } catch {
            throw .io(error)
        }
        do {
            let (records, byteCount) = try SelfTestRecord.read(
                try Self.contents(of: descriptor, path), file: path.string)
            earlierRecords = records
            try SystemCall.check("truncate \(path)") { try descriptor.resize(to: Int64(byteCount)) }
        } catch {
            try? descriptor.close()
            throw error as? GateError
                ?? .io(error as? DecryptionError ?? .io(operation: "read \(path)", code: 0, reason: "\(error)"))
        }
    }

    deinit {
        try? descriptor.close()
    }

    /// Adds a record: one write of one whole line.
    ///
    /// - Throws: `GateError.io`.
    package func append(_ record: SelfTestRecord) throws(GateError) {
        do throws(DecryptionError) {
            _ = try SystemCall.check("write to \(path)") { try descriptor.writeAll(record.line) }
        } catch {
            throw .io(error)
        }
    }

    private static func contents(
        of descriptor: FileDescriptor, _ path: FilePath
    ) throws(DecryptionError) -> [UInt8] {
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
