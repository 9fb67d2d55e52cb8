internal import ByteSources
public import RandomAccess
public import SystemPackage

/// Writes resources as files of a folder; each appears when it is complete.
public final class FolderOutput: HLSOutput {
    private let folder: FilePath
    private var sink: FileSink?
    private var offset: UInt64 = 0

    /// Creates the folder if it is not there.
    ///
    /// - Throws: `DecryptionError.io`.
    public init(folder: FilePath) throws(DecryptionError) {
        try Folder.create(folder)
        self.folder = folder
    }

    /// Starts a file; see ``HLSOutput/begin(_:isSecret:)``.
    public func begin(_ name: String, isSecret: Bool) throws(DecryptionError) {
        sink = try FileSink(path: folder.appending(name), isSecret: isSecret)
        offset = 0
    }

    /// Adds bytes; see ``HLSOutput/write(_:)``.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(DecryptionError) {
        try sink?.write(bytes, at: offset)
        offset += UInt64(bytes.count)
    }

    /// Gives the file its name; see ``HLSOutput/end()``.
    public func end() throws(DecryptionError) {
        try sink?.commit()
        sink = nil
    }
}
