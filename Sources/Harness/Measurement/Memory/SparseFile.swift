import ByteSources
import RandomAccess
import SystemPackage

/// Files of any length that are one hole, and take no room.
enum SparseFile {
    /// Creates a file of zeros, or gives one that is there this length. The corresponding C function is `ftruncate`.
    ///
    /// - Throws: `DecryptionError.io`.
    static func create(_ path: FilePath, byteCount: UInt64) throws(DecryptionError) {
        let descriptor = try SystemCall.check("create \(path)") {
            try FileDescriptor.open(
                path, .writeOnly, options: [.create, .closeOnExec], permissions: [.ownerReadWrite])
        }
        defer { try? descriptor.close() }
        try SystemCall.check("resize \(path)") { try descriptor.resize(to: Int64(clamping: byteCount)) }
    }
}
