import ByteSources
package import RandomAccess
import SystemPackage

/// Whole files of text.
package enum TextFile {
    /// Reads a file.
    ///
    /// - Throws: `DecryptionError.io`, also for a file of more than 16 MiB, which is no plan.
    package static func read(_ path: String) throws(DecryptionError) -> String {
        let source = try FileSource(path: FilePath(path))
        guard source.byteCount <= 16 << 20 else {
            throw .io(operation: "read \(path)", code: 0, reason: "\(source.byteCount) bytes: expected at most 16 MiB")
        }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(source.byteCount), alignment: 16)
        defer { room.deallocate() }
        try source.fetch(at: 0, into: room)
        return String(decoding: room, as: UTF8.self)
    }
}
