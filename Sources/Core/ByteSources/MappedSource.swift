import CLinux
import Glibc
public import RandomAccess
public import SystemPackage

/// A file whose pages are decrypted in the page cache, without a copy.
///
/// It is meant for reading in order: each view maps a part of the file and releases the pages behind the reads, so
/// memory does not grow with the file. A single small range is faster with a ``FileSource``, since mapping costs more
/// than the copy.
///
/// If another program truncates the file meanwhile, the read throws, as with a ``FileSource``, and the process goes on;
/// see `MappedView`. If another source wraps this one and copies the bytes, they are read with `pread`.
public final class MappedSource: ViewableSource {
    /// The max number of bytes of the file that one view keeps mapped and touched.
    public static let boundByteCount = UInt64(MappedView.maxTouchedByteCount)

    private let file: FileSource

    /// Opens a file for reading.
    ///
    /// - Throws: `DecryptionError.io` as ``FileSource/init(path:)`` does, and if no handler for SIGBUS can be
    ///   installed.
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

    /// The file's version.
    public var openedVersion: String { file.openedVersion }

    /// Fails if the file has changed; see ``FileSource/checkVersion()``.
    public func checkVersion() throws(DecryptionError) {
        try file.checkVersion()
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

/// A part of a file in memory that moves with the reads.
///
/// A file may be truncated while it is mapped. The first touch of a missing page then raises SIGBUS on the touching
/// thread. The handler that `CLinux` installed maps zeroes there and notes it, and ``check()`` throws after the step.
/// The reader never delivers what it decrypted from the zeroes. A handler that the program installs for SIGBUS later
/// must pass other signals on.
final class MappedView: SourceView {
    /// The alignment of mapped parts: parts are short enough that page tables do not grow with the file.
    private static let partByteCount: UInt64 = 64 << 20
    /// The number of bytes behind the reads at which the view releases pages.
    private static let keptByteCount: UInt64 = 512 << 10
    /// The largest folio. The system maps pages around the touched one: 64 KiB, or all of a large folio of the page
    /// cache. A folio is 1 MiB, and sometimes 2 MiB if a program wrote the file in long pieces (seen on Linux 6.18).
    /// These surroundings start and end at multiples of their length.
    private static let folioByteCount: UInt64 = 2 << 20
    /// The alignment of the end of released pages.
    private static let pieceByteCount: UInt64 = 64 << 10
    /// The max number of touched bytes: the kept ones, the viewed ones, and the pages around both.
    static let maxTouchedByteCount = Int(keptByteCount + 2 * folioByteCount) + (1 << 20) + 4096

    /// The largest view: a window of 1 MiB with the block before it.
    let largestByteCount = (1 << 20) + 4096

    private let file: FileSource
    private let guardNumber: Int32
    private var mapping = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var mappedStart: UInt64 = 0
    /// The bytes that were touched and not released yet, as offsets in the file.
    private var touched: Range<UInt64> = 0..<0
    private var lastThread: pthread_t?

    init(file: FileSource) throws(DecryptionError) {
        let number = chunkwise_guard_open()
        guard number >= 0 else {
            throw .io(operation: "map \(file.path)", code: ENOMEM, reason: "too many files are mapped at once")
        }
        self.file = file
        self.guardNumber = number
    }

    deinit {
        unmap()
        chunkwise_guard_close(guardNumber)
    }

    /// Installs the handler for SIGBUS, once for the process.
    static func installGuard() throws(DecryptionError) {
        let code = chunkwise_guard_install()
        guard code == 0 else {
            throw .io(operation: "sigaction", code: code, reason: Errno(rawValue: code).description)
        }
    }

    func bytes(_ range: Range<UInt64>) throws(DecryptionError) -> UnsafeRawBufferPointer {
        precondition(range.upperBound <= file.byteCount && range.count <= largestByteCount, "a view of \(range)")
        let start = range.lowerBound / Self.partByteCount * Self.partByteCount
        if start != mappedStart || mapping.baseAddress == nil { try map(from: start) }
        let thread = pthread_self()
        if thread != lastThread {
            chunkwise_guard_unblock()
            lastThread = thread
        }
        forget(before: range)
        return UnsafeRawBufferPointer(
            rebasing: mapping[Int(range.lowerBound - start)..<Int(range.upperBound - start)])
    }

    func check() throws(DecryptionError) {
        guard chunkwise_guard_is_broken(guardNumber) != 0 else { return }
        // The current mapping holds zeroes; the next read maps anew.
        unmap()
        let now = try file.identity().byteCount
        guard now >= file.byteCount else {
            throw .truncatedCiphertext(byteCount: now, expected: "\(file.byteCount), as when it was opened")
        }
        throw .io(operation: "read \(file.path)", code: EIO, reason: Errno.ioError.description)
    }

    /// The corresponding C function is `mmap`.
    private func map(from start: UInt64) throws(DecryptionError) {
        try check()
        unmap()
        // A view may reach beyond the part that it starts in.
        let count = Int(min(Self.partByteCount + UInt64(largestByteCount), file.byteCount - start))
        let mapped = try file.map(from: start, count: count)
        chunkwise_guard_set(guardNumber, mapped.baseAddress, count)
        mapping = mapped
        mappedStart = start
        touched = start..<start
    }

    /// The corresponding C function is `munmap`.
    private func unmap() {
        // Unregister first: another mapping may take the addresses right after `munmap`.
        chunkwise_guard_set(guardNumber, nil, 0)
        if let start = mapping.baseAddress { munmap(start, mapping.count) }
        mapping = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// Releases pages before `range` that were touched, if there are many or `range` lies elsewhere.
    ///
    /// The corresponding C function is `madvise` with `MADV_DONTNEED`.
    private func forget(before range: Range<UInt64>) {
        let goesOn =
            range.lowerBound >= touched.lowerBound && range.lowerBound <= touched.upperBound + Self.keptByteCount
        guard goesOn else {
            // The system mapped more than was touched, and does not say how much. Empty page tables cost little.
            if !touched.isEmpty { madvise(mapping.baseAddress, mapping.count, MADV_DONTNEED) }
            touched = range
            return
        }
        let stop = range.lowerBound / Self.pieceByteCount * Self.pieceByteCount
        if stop > touched.lowerBound, stop - touched.lowerBound >= Self.keptByteCount {
            // Include what the system mapped before the first touched page.
            let from = max(mappedStart, touched.lowerBound / Self.folioByteCount * Self.folioByteCount)
            let behind = UnsafeMutableRawBufferPointer(
                rebasing: mapping[Int(from - mappedStart)..<Int(stop - mappedStart)])
            madvise(behind.baseAddress, behind.count, MADV_DONTNEED)
            touched = stop..<range.upperBound
        } else {
            touched = touched.lowerBound..<max(touched.upperBound, range.upperBound)
        }
    }
}
