public import RandomAccess
public import SystemPackage

/// A file whose pages are decrypted where the system keeps them, which saves copying them.
///
/// For reading on and on: each view maps a part of the file and gives up what lies behind, so that memory does not grow
/// with the file. A single small range is read faster with a ``FileSource``, since mapping costs more than it saves.
///
/// A file that is truncated meanwhile is an error as with a ``FileSource``, and not the end of the process: see
/// `MappedView`. Where somebody else copies the bytes, such as a source around this one, they are read with `pread`.
public final class MappedSource: ViewableSource {
    /// The most bytes of the file that one view keeps mapped and touched at a time.
    public static let boundByteCount = UInt64(MappedView.maxTouchedByteCount)

    private let file: FileSource

    /// Opens a file for reading.
    ///
    /// - Throws: `DecryptionError.io` as ``FileSource/init(path:)`` does, and if no handler for SIGBUS can be installed.
    public init(path: FilePath) throws(DecryptionError) {
        try MappedView.installGuard()
        self.file = try FileSource(path: path)
    }

    /// The file's length in bytes when it was opened.
    public var byteCount: UInt64 { file.byteCount }

    /// Reads bytes; see `ByteSource.read(at:into:)`. The corresponding C functions are `pread` and `preadv`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try file.read(at: offset, into: buffers)
    }

    /// Compares the file's length with what it was; see ``FileSource/checkUnchanged()``.
    public func checkUnchanged() throws(DecryptionError) {
        try file.checkUnchanged()
    }

    /// Tells the system that a range is read from its start to its end; see ``FileSource/adviseSequential(_:)``.
    public func adviseSequential(_ range: Range<UInt64>) {
        file.adviseSequential(range)
    }

    /// Makes a view for one thread at a time. The corresponding C function is `mmap`.
    public func makeView() throws(DecryptionError) -> any SourceView {
        try MappedView(file: file)
    }
}
