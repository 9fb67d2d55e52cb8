import ByteSources
import Glibc
import RandomAccess
import Support
import SystemPackage

/// Lookup of formats by name, or by the path of a description.
enum FormatFiles {
    /// Returns whether a word is a path. Names of formats have neither dots nor slashes.
    static func isPath(_ word: String) -> Bool { word.contains { "./".contains($0) } }

    /// The formats that a word names: a known format, all in a file, or the one of `FILE#NAME`.
    ///
    /// - Throws: `CommandFailure`.
    static func formats(_ word: String) throws -> [Format] {
        if isPath(word) { return try formats(inFile: word) }
        guard let format = try? Format.named(word) else {
            if let colon = word.firstIndex(of: ":"), (try? Format.named(String(word[..<colon]))) != nil {
                throw CommandFailure(
                    .usage, "format \"\(word)\" with parameters: expected \(word[..<colon]), with all its parameters")
            }
            let hint = Nearest.hint(word, in: Format.names)
            throw CommandFailure(.usage, "unknown format \"\(word)\"\(hint), or a path such as ./\(word).yml")
        }
        return [format]
    }

    /// The single format that a word names: a known format, the only one in a file, or the one of `FILE#NAME`.
    ///
    /// - Throws: `CommandFailure`.
    static func format(_ word: String) throws -> Format {
        guard isPath(word) else { return try formats(word)[0] }
        let (path, name) = parts(word)
        let text = try bytes(path)
        return try located(path) { () throws(DescriptionError) in try Format.named(name, in: text) }
    }

    /// All formats of a file, or the one of `FILE#NAME`.
    ///
    /// - Throws: `CommandFailure` with the path, the line and the column.
    static func formats(inFile word: String) throws -> [Format] {
        let (path, name) = parts(word)
        let text = try bytes(path)
        return try located(path) { () throws(DescriptionError) in
            if let name { [try Format.named(name, in: text)] } else { try Format.read(text) }
        }
    }

    /// The parts of a word: the path, and after the last `#` the name of a format, which has neither dots nor slashes.
    static func parts(_ word: String) -> (path: String, name: String?) {
        guard let mark = word.lastIndex(of: "#") else { return (word, nil) }
        let name = String(word[mark...].dropFirst())
        return isPath(name) ? (word, nil) : (String(word[..<mark]), name)
    }

    /// The user's format at a path; `nil` for a word that is not a path.
    ///
    /// - Throws: `CommandFailure`.
    static func described(_ word: String) throws -> Format? {
        isPath(word) ? try format(word) : nil
    }

    private static func located<Value>(
        _ path: String, _ body: () throws(DescriptionError) -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch {
            throw CommandFailure(.badData, "\(path):\(error.place.line):\(error.place.column): \(error.message)")
        }
    }

    private static let maxByteCount = 1 << 16

    /// The bytes of a description, a regular file of at most 64 KiB. The corresponding C functions are `open` and
    /// `fstat`.
    ///
    /// - Throws: `CommandFailure`.
    static func bytes(_ path: String) throws -> [UInt8] {
        try require(!path.utf8.contains(0), .missingInput, "a path with a NUL: expected the path of a description")
        let descriptor: FileDescriptor
        do {
            // Without `nonBlocking`, opening a pipe waits for a writer.
            descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec, .nonBlocking])
        } catch {
            throw CommandFailure(.missingInput, "open \(path): \(error): expected a description of a format")
        }
        defer { try? descriptor.close() }
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(.missingInput, "\(path) is not a regular file: expected a description of a format")
        }
        let bytes = try attempt { try descriptor.readToEnd(FilePath(path), maxByteCount: maxByteCount) }
        try require(
            bytes.count <= maxByteCount, .badData,
            "\(path): more than \(maxByteCount) bytes: expected a description, 64 KiB at most")
        return bytes
    }
}
