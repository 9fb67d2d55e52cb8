#if Network
import ByteSources
import Glibc
package import RandomAccess
import enum NIOCore.System
import Support
import Synchronization
package import SystemPackage

/// Encrypted files that the server decrypts: a list of files by name, or all files of a folder.
///
/// A request opens its file. The file stays open until the request is answered, or for the short time that
/// ``KnownContents`` keeps it.
package struct EncryptedFiles: ContentCatalogue {
    /// The rule by which ciphertext becomes an object.
    package struct Format: Sendable {
        /// The strategy and its parameters. Entity tags depend on them, the file and the key.
        package var description: String
        /// The files' key.
        package var key: SecretKey
        /// The IV of every file, or `nil` if each file `NAME` has a file `NAME.iv` beside it.
        package var iv: [UInt8]?
        /// The lengths in bytes that an IV in a file may have; `nil` for any.
        package var ivByteCounts: [Int]?
        /// Opens an object.
        package var open: @Sendable (any ByteSource, [UInt8]) throws(DecryptionError) -> EncryptedObject

        package init(
            description: String, iv: [UInt8]?, ivByteCounts: [Int]? = [Block.byteCount], key: SecretKey,
            open: @escaping @Sendable (any ByteSource, [UInt8]) throws(DecryptionError) -> EncryptedObject
        ) {
            self.description = description
            self.key = key
            self.iv = iv
            self.ivByteCounts = ivByteCounts
            self.open = open
        }
    }

    /// The suffix of a file's name that its plaintext goes without.
    private static let encryptedSuffix = ".enc"

    private let origin: Origin
    private let format: Format

    private enum Origin {
        case files([String: FilePath])
        case folder(ServedFolder)

        /// Returns the version of a file; `nil` if there is no such file.
        func identity(of path: [String]) -> FileIdentity? {
            switch self {
            case .folder(let folder): return folder.identity(of: path)
            case .files(let paths):
                guard path.count == 1, let file = paths[path[0]] else { return nil }
                return FileIdentity(ofFile: file.string)
            }
        }
    }

    /// Serves a list of files, each under the last part of its path.
    ///
    /// - Throws: `DecryptionError.invalidParameter` if two files have the same name.
    package init(files: [FilePath], format: Format) throws(DecryptionError) {
        var paths: [String: FilePath] = [:]
        for file in files {
            guard let name = file.lastComponent?.string, name != "..", name != "." else {
                throw .invalidParameter(name: "file", value: file.string, expected: "a file's path")
            }
            if let other = paths.updateValue(file, forKey: name) {
                throw .invalidParameter(
                    name: "file", value: file.string, expected: "a name other than that of \(other)")
            }
        }
        self.origin = .files(paths)
        self.format = format
    }

    /// Serves all files below a folder.
    ///
    /// - Throws: `DecryptionError.io` if the folder cannot be opened.
    package init(folder: FilePath, format: Format) throws(DecryptionError) {
        self.origin = .folder(try ServedFolder(path: folder))
        self.format = format
    }

    /// Opens the current version of a file; `NAME.enc` is also found as `NAME`.
    package func content(at path: [String]) throws(DecryptionError) -> ServedContent? {
        guard let name = path.last, format.iv != nil || !name.hasSuffix(IVFile.suffix) else { return nil }
        let asked = path
        var (path, found) = (path, try open(path))
        if found == nil {
            path = Self.encrypted(path)
            found = try open(path)
        }
        guard let source = found else { return nil }
        let isPinned = source.canBePinned()
        let iv: [UInt8]
        if let given = format.iv { iv = given } else { iv = try sidecarIV(of: path, source) }
        let object = try format.open(PinnedSource(source), iv)
        let version = source.opened
        var content = ServedContent(
            contentType: ContentType.ofFile(named: name), byteCount: object.plaintextByteCount,
            entityTag: source.entityTag(
                [format.description, Hexadecimal.encode(iv)], key: format.key, isPinned: isPinned),
            modified: isPinned ? version.modifiedSeconds : nil
        ) { () throws(DecryptionError) in
            try object.makeCursor()
        }
        content.readerByteCount = object.cursorByteCount
        let (byteCount, all) = (object.plaintextByteCount, 0..<source.byteCount)
        content.mayWait = { source.mayWait(for: $0, of: byteCount, in: all) }
        // An IV in a file would be a second version to check. Content that may mix two versions is not kept.
        if format.iv != nil, isPinned {
            content.isCurrent = { [origin] in
                (origin.identity(of: asked) ?? origin.identity(of: Self.encrypted(asked))) == version
            }
            let readers = IdleReaders(object.reading(from: PinnedSource(PageCacheSource(source))))
            content.readAtOnce = { readers.read(at: $0, into: $1) }
        }
        return content
    }

    private static func encrypted(_ path: [String]) -> [String] {
        path.dropLast() + [(path.last ?? "") + encryptedSuffix]
    }

    /// Returns the files by the names that clients should use. Files with IVs are left out, and `NAME.enc` becomes
    /// `NAME` unless another file has that name.
    package func listing() throws(DecryptionError) -> [[String]] {
        let all: [[String]]
        switch origin {
        case .files(let paths): all = paths.keys.sorted().map { [$0] }
        case .folder(let folder): all = try folder.files()
        }
        let known = Set(all)
        return all.filter { format.iv != nil || $0.last?.hasSuffix(IVFile.suffix) == false }.map { path in
            guard let name = path.last, name.hasSuffix(Self.encryptedSuffix), name != Self.encryptedSuffix else {
                return path
            }
            let plain = Array(path.dropLast()) + [String(name.dropLast(Self.encryptedSuffix.count))]
            return known.contains(plain) ? path : plain
        }
    }

    private func open(_ path: [String]) throws(DecryptionError) -> FileSource? {
        switch origin {
        case .folder(let folder):
            return try folder.open(path)
        case .files(let paths):
            guard path.count == 1, let file = paths[path[0]] else { return nil }
            return try open(file)
        }
    }

    /// Opens a file that the user named; it may be a link.
    private func open(_ file: FilePath) throws(DecryptionError) -> FileSource? {
        let descriptor: FileDescriptor
        do throws(DecryptionError) {
            descriptor = try SystemCall.check("open \(file)") {
                try FileDescriptor.open(file, .readOnly, options: [.closeOnExec, .nonBlocking])
            }
        } catch {
            // A file that is missing or not accessible counts as not found. Other failures, such as a failing disk or
            // too many open files, are errors.
            if case .io(_, let code, _) = error, [ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, ENXIO].contains(code) {
                return nil
            }
            throw error
        }
        return try FileSource(adopting: descriptor, path: file)
    }

    private func sidecarIV(of path: [String], _ ciphertext: FileSource) throws(DecryptionError) -> [UInt8] {
        let file: FileSource?
        switch origin {
        case .folder(let folder):
            file = try folder.open(path.dropLast() + [(path.last ?? "") + IVFile.suffix])
        case .files(let paths):
            if let path = paths[path[0]] { file = try open(IVFile.path(of: path)) } else { file = nil }
        }
        let name = (path.last ?? "") + IVFile.suffix
        guard let file else {
            throw .io(
                operation: "read \(name)", code: 0,
                reason: "no such file: expected \(IVFile.expectation(format.ivByteCounts)) in it")
        }
        return try IVFile.iv(in: file, named: name, byteCounts: format.ivByteCounts) { () throws(DecryptionError) in
            ciphertext
        }
    }
}

/// Idle readers of one object, for use by any thread.
private final class IdleReaders: Sendable {
    private struct Reader: @unchecked Sendable {
        let base: any RandomAccessDecryptor
    }

    private let object: EncryptedObject
    private let idle = Mutex<[Reader]>([])
    /// The max number of idle readers; an event loop uses one at a time.
    private let maxCount: Int

    init(_ object: EncryptedObject) {
        self.object = object
        // Readers that buffer chunks are not kept, because their memory is not counted here.
        maxCount = object.cursorByteCount == 0 ? System.coreCount : 0
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard let reader = idle.withLock({ $0.popLast() }) ?? (try? object.makeCursor()).map(Reader.init) else {
            return false
        }
        defer { idle.withLock { if $0.count < maxCount { $0.append(reader) } } }
        return (try? reader.base.read(at: offset, into: buffer)) == buffer.count
    }
}

extension FileSource {
    /// Returns whether reading a part of an object in this file may have to wait for the disk.
    ///
    /// The position of the ciphertext is estimated in proportion to the plaintext.
    ///
    /// - Parameters:
    ///   - range: A plaintext range within the object.
    ///   - plaintextByteCount: The object's length in bytes.
    ///   - slice: The object's range in the file.
    /// - Returns: `false` only if the bytes near the part's ciphertext are in memory.
    func mayWait(
        for range: Range<UInt64>, of plaintextByteCount: UInt64, in slice: Range<UInt64>
    ) -> Bool {
        let share = Double(slice.count) / Double(max(1, plaintextByteCount))
        func place(_ offset: UInt64) -> UInt64 {
            min(slice.upperBound, slice.lowerBound + UInt64(Double(offset) * share))
        }
        return !isInMemory(place(range.lowerBound)..<place(range.upperBound))
    }
}
#endif
