package import RandomAccess
import Support
import Synchronization
package import SystemPackage

/// A strategy whose file is a list of pieces rather than the object.
package enum ListStrategy: String, CaseIterable, Sendable {
    /// A media playlist, or a master playlist that leads to one. Source: RFC 8216.
    case playlist = "hls-aes128"
    /// A document; see ``PieceFile``.
    case pieces
    /// A fragmented MP4 file of Common Encryption, as a list of one piece.
    case film
}

/// The pieces of a document, in files beside it; see `PieceDocument`. A film is one piece by itself.
package final class PieceFile: PieceList {
    /// The document's path.
    package let path: FilePath

    private let folder: RootedFolder
    private let pieces: [PieceDocument.Piece]
    /// The files, each once, and for each piece the index of its file.
    private let files: [String]
    private let numbers: [Int]
    private let keys: [String: Result<KeySet, DecryptionError>]
    private let key: KeySet?
    private let record: Mutex<Record>
    /// The encrypted extents of each film piece that was opened.
    private let films: Mutex<[Int: ProtectedExtents]> = Mutex([:])
    /// The boxes `moov` of films, by the names of their files.
    private let starts: Mutex<[String: Result<FilmStart, DecryptionError>]> = Mutex([:])
    /// True if the file is a film itself.
    private let isFilm: Bool
    /// The file with the film's box `moov`, if it is not the film.
    private let filmStart: FilePath?

    /// The files read so far: the document, keys, lists of samples, and the opened sources.
    private struct Record {
        /// The first version of each file, by its path.
        var versions: [String: FileIdentity] = [:]
        /// `true` if no program writes to any of them.
        var isSettled = true

        mutating func note(_ file: FileSource, _ path: FilePath) {
            versions[path.string] = versions[path.string] ?? file.opened
            isSettled = isSettled && file.canBePinned()
        }
    }

    /// Reads a document and the keys that it names.
    ///
    /// - Parameters:
    ///   - path: The document.
    ///   - key: The key of pieces without one in the document, or several for films.
    ///   - strategy: Makes a strategy of its text and an IV, if there is one beside it.
    ///   - readKey: Reads a key of one of the given lengths from a file, or several for a film.
    /// - Throws: `DecryptionError.io`; `PartError` with the path and a `DescriptionError`, which has line and column.
    ///   The faults of single pieces, such as a missing key, are not thrown.
    package convenience init(
        path: FilePath, key: KeySet?, strategy: (String, [UInt8]?) throws(DecryptionError) -> Strategy,
        readKey: (FilePath, [Int]) throws(DecryptionError) -> KeySet
    ) throws(DecryptionError) {
        let (source, text) = try Self.contents(of: path, maxByteCount: PieceDocument.maxByteCount)
        let pieces: [PieceDocument.Piece]
        do throws(DescriptionError) {
            pieces = try PieceDocument(text, strategy: strategy).pieces
        } catch {
            throw .inPart(path.string, .layer(AnyLayerError(error)))
        }
        try self.init(path, pieces, key, source, readKey: readKey)
    }

    /// Opens a film as a list of one piece.
    ///
    /// - Parameters:
    ///   - path: The film.
    ///   - start: The file with its box `moov`, if that is another file.
    ///   - key: The film's key, or several.
    /// - Throws: `DecryptionError.io`. Faults of the film itself are not thrown here.
    package convenience init(film path: FilePath, start: FilePath?, key: KeySet?) throws(DecryptionError) {
        guard let name = path.lastComponent?.string else {
            throw .invalidParameter(name: "file", value: path.string, expected: "the name of a film")
        }
        try self.init(
            path, [PieceDocument.Piece(film: name, start: start?.string)], key, isFilm: true, filmStart: start,
            try FileSource(path: path)
        ) { (path, _) throws(DecryptionError) in throw .unsupported("the key file \(path)") }
    }

    /// Reads a file that holds a list. Stops one byte after the limit, which shows that the file is too long.
    private static func contents(
        of path: FilePath, maxByteCount: Int
    ) throws(DecryptionError) -> (source: FileSource, bytes: [UInt8]) {
        let source = try FileSource(path: path)
        let text = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(source.byteCount, UInt64(maxByteCount) + 1)), alignment: 16)
        defer { text.deallocate() }
        try source.fetch(at: 0, into: text)
        try source.checkVersion()
        return (source, Array(text))
    }

    private init(
        _ path: FilePath, _ pieces: [PieceDocument.Piece], _ key: KeySet?, isFilm: Bool = false,
        filmStart: FilePath? = nil, _ source: FileSource,
        readKey: (FilePath, [Int]) throws(DecryptionError) -> KeySet
    ) throws(DecryptionError) {
        let parent = path.removingLastComponent()
        let folder = try RootedFolder(parent.isEmpty ? "." : parent)
        var (files, numbers, known): ([String], [Int], [String: Int]) = ([], [], [:])
        var keys: [String: Result<KeySet, DecryptionError>] = [:]
        var record = Record()
        record.note(source, path)
        for piece in pieces {
            let number = known[piece.file] ?? files.count
            if number == files.count { files.append(piece.file) }
            known[piece.file] = number
            numbers.append(number)
            guard let file = piece.keyFile, keys[file] == nil else { continue }
            let byteCounts = piece.content.keyByteCounts ?? [16, 32]
            do throws(DecryptionError) {
                let path = try folder.path(FilePath(file), named: file)
                // Looked up before the read, so that a key that is replaced meanwhile counts as changed.
                record.versions[path.string] = FileIdentity(ofFile: path.string)
                // Refuses a pipe, on which the read would block.
                _ = try FileSource(path: path)
                keys[file] = .success(try readKey(path, byteCounts))
            } catch {
                keys[file] = .failure(error)
            }
        }
        (self.path, self.key, self.folder, self.isFilm, self.pieces) = (path, key, folder, isFilm, pieces)
        (self.files, self.numbers, self.keys, self.filmStart) = (files, numbers, keys, filmStart)
        self.record = Mutex(record)
    }

    /// The paths of the document and of all existing files that it names.
    package var paths: [FilePath] {
        [path] + (files + keys.keys).compactMap { try? folder.path(FilePath($0), named: $0) }
            + pieces.compactMap(\.indexFile).compactMap { try? indexPath($0) }
    }

    /// All available keys.
    package var allKeys: [SecretKey] {
        (keys.sorted { $0.key < $1.key }.map { try? $0.value.get() } + [key]).flatMap { $0?.all ?? [] }
    }

    /// `true` if no program writes to any file that was opened so far.
    package var canBePinned: Bool { record.withLock { $0.isSettled } }

    /// The versions of all files read so far, by path.
    package var versions: [String: FileIdentity] { record.withLock { $0.versions } }

    package var count: Int { pieces.count }

    package var sourceCount: Int { files.count }

    package func openSource(_ source: Int) throws(DecryptionError) -> any ByteSource {
        let path = try folder.path(FilePath(files[source]), named: files[source])
        let file = try FileSource(path: path)
        record.withLock { $0.note(file, path) }
        return PinnedSource(file)
    }

    package func source(of piece: Int) -> Int { numbers[piece] }

    package func place(of piece: Int, in source: any ByteSource) throws(DecryptionError) -> PiecePlace {
        let known = films.withLock { $0[piece] }
        let place = try pieces[piece].place(
            in: source, known, samples: { (file) throws(DecryptionError) in try samples(in: file) },
            start: { (file) throws(DecryptionError) in try start(in: file) })
        if known == nil, let found = place.extents { films.withLock { $0[piece] = found } }
        return place
    }

    /// Returns the path of a list of samples, or of a file with `moov`. The user names that of a film.
    private func indexPath(_ file: String) throws(DecryptionError) -> FilePath {
        if let filmStart { filmStart } else { try folder.path(FilePath(file), named: file) }
    }

    private func start(in file: String) throws(DecryptionError) -> FilmStart {
        // One file is read at a time, and each once, even if that fails.
        try starts.withLock { starts in
            let start = starts[file] ?? Result { () throws(DecryptionError) in try readStart(in: file) }
            starts[file] = start
            return start
        }.get()
    }

    private func readStart(in file: String) throws(DecryptionError) -> FilmStart {
        let path = try indexPath(file)
        let source = try FileSource(path: path)
        record.withLock { $0.note(source, path) }
        do throws(DecryptionError) {
            let start = try FilmStart(source)
            try source.checkVersion()
            return start
        } catch {
            throw .inPart(file, error)
        }
    }

    private func samples(in file: String) throws(DecryptionError) -> ProtectedExtents {
        let path = try indexPath(file)
        let (source, text) = try Self.contents(of: path, maxByteCount: ProtectedExtents.maxListByteCount)
        record.withLock { $0.note(source, path) }
        do throws(DecryptionError) {
            return try ProtectedExtents(list: text)
        } catch {
            throw .inPart(file, error)
        }
    }

    package func keys(of piece: Int) throws(DecryptionError) -> KeySet? {
        let piece = pieces[piece]
        guard let name = piece.content.name else { return nil }
        guard let found = piece.keyFile.map({ keys[$0] }) ?? key.map({ .success($0) }) else {
            throw .invalidKeyMaterial(
                byteCount: 0, expected: "a key file, named for the piece or for all, for \(name)")
        }
        if case .film = piece.content { return try found.get() }
        return .one(try found.get().single(for: name))
    }

    package func name(of piece: Int) -> String {
        if isFilm { return pieces[piece].file }
        return "piece \(piece + 1) (line \(pieces[piece].place.line), \(pieces[piece].file))"
    }

    /// Opens several pieces at once.
    package func map<Result: Sendable>(_ transform: @escaping @Sendable (Int) -> Result) -> [Result] {
        Parallel.map(Array(pieces.indices), transform)
    }
}
