package import RandomAccess
package import SystemPackage

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

    /// Writes a file, complete or not at all.
    ///
    /// - Throws: `DecryptionError.io`.
    package static func write(_ text: String, to path: FilePath) throws(DecryptionError) {
        let sink = try FileSink(path: path)
        var text = text
        // A closure that rethrows loses the type of its error.
        let result = text.withUTF8 { bytes in
            Result { () throws(DecryptionError) in try sink.write(UnsafeRawBufferPointer(bytes), at: 0) }
        }
        try result.get()
        try sink.commit()
    }
}
