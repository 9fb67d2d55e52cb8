import Glibc
package import RandomAccess
import Support
package import SystemPackage

/// The file `NAME.iv` beside an encrypted file `NAME`. It holds the IV and the first 16 bytes of the ciphertext that
/// the IV belongs to, in hexadecimal. A file with an IV alone is accepted as well.
///
/// With another file's IV, CTR gives wrong plaintext and no error. Users may move a file without its IV file, and
/// programs may replace it while it is opened. Therefore an IV is used only for a ciphertext that begins with those 16
/// bytes.
///
/// Two files cannot be replaced at once. While an encrypted file is being replaced, `NAME.iv` holds the IVs of both. So
/// the old file can be read until the new one takes its name, and the new one afterwards, even if the process is killed
/// in between.
package enum IVFile {
    /// The suffix of the name.
    package static let suffix = ".iv"

    /// Returns the path of a file's IV file.
    package static func path(of file: FilePath) -> FilePath { FilePath(file.string + suffix) }

    /// Returns the URL of the IV file that belongs to a URL, and keeps the query.
    package static func url(of url: String) -> String {
        let end = url.firstIndex { "?#".contains($0) } ?? url.endIndex
        return url[..<end] + suffix + url[end...]
    }

    /// Reads the IV of an encrypted file.
    ///
    /// - Parameters:
    ///   - file: The IV file.
    ///   - name: The name of the file in errors.
    ///   - byteCounts: The lengths that an IV may have; `nil` for any.
    ///   - ciphertext: Opens the encrypted file; not called if the file holds an IV alone.
    /// - Returns: The IV.
    /// - Throws: `DecryptionError.invalidParameter` if the file holds no IV, or none for this ciphertext; `.io`.
    package static func iv(
        in file: any ByteSource, named name: String, byteCounts: [Int]?,
        of ciphertext: () throws(DecryptionError) -> any ByteSource
    ) throws(DecryptionError) -> [UInt8] {
        guard let entries = try entries(in: file, byteCounts) else {
            throw .invalidParameter(
                name: "IV file \(name)", value: "\(file.byteCount) bytes",
                expected: "\(expectation(byteCounts)) in it")
        }
        if entries.count == 1, entries[0].start == nil { return entries[0].iv }
        let first = start(try firstBytes(of: ciphertext(), atMost: Block.byteCount))
        // Short ciphertexts may have the same first bytes under two IVs.
        let ivs = Set(entries.filter { $0.start.map(String.init) == first }.map(\.iv))
        guard ivs.count == 1, let iv = ivs.first else {
            let known = entries.compactMap(\.start).joined(separator: ", ")
            throw .invalidParameter(
                name: "IV file \(name)", value: "that of a file that starts with \(known)",
                expected: "that of one that starts with \(first), or --iv")
        }
        return iv
    }

    /// Returns a description of the digits of an IV of some lengths in bytes; `nil` for any length.
    package static func expectation(_ byteCounts: [Int]?) -> String {
        "\(byteCounts.map { $0.map { $0 * 2 }.listed("or") } ?? "an even number of") hexadecimal digits"
    }

    /// Refuses an output whose IV file would replace some other file, which would be lost.
    ///
    /// - Parameters:
    ///   - file: The encrypted file to be written.
    ///   - byteCounts: The lengths that an IV may have; `nil` for any.
    /// - Throws: `DecryptionError.invalidParameter`; `.io`.
    package static func requirePlace(beside file: FilePath, byteCounts: [Int]?) throws(DecryptionError) {
        let path = path(of: file)
        guard access(path.string, F_OK) == 0 else { return }
        let source = try FileSource(path: path)
        guard try entries(in: source, byteCounts) == nil else { return }
        throw .invalidParameter(
            name: "place of the IV, file \(path)", value: "\(source.byteCount) bytes",
            expected: "none, or an IV file, for it would be lost")
    }

    /// An IV, and the first bytes of its ciphertext; `nil` if it applies to any file beside it.
    private typealias Entry = (iv: [UInt8], start: Substring?)

    /// Parses an IV file: an IV alone, or IVs with the starts of their ciphertexts; `nil` for any other content.
    private static func entries(
        in file: any ByteSource, _ byteCounts: [Int]?
    ) throws(DecryptionError) -> [Entry]? {
        let text = String(decoding: try firstBytes(of: file, atMost: maxByteCount), as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map { $0.split(whereSeparator: \.isWhitespace) }
            .filter { !$0.isEmpty }
        let entries = lines.compactMap { fields -> Entry? in
            guard fields.count == 2 || lines.count == 1 && fields.count == 1 else { return nil }
            guard let iv = Hexadecimal.decode(fields[0], allowsUpperCase: true),
                byteCounts?.contains(iv.count) ?? !iv.isEmpty
            else { return nil }
            return (iv, fields.dropFirst().first)
        }
        return entries.isEmpty || entries.count < lines.count ? nil : entries
    }

    /// Gives an encrypted file its name, and writes the IV file beside it.
    ///
    /// - Parameters:
    ///   - sink: The encrypted file, with all its bytes.
    ///   - path: Its name.
    ///   - iv: Its IV.
    /// - Throws: `DecryptionError.io`; an existing file of that name can then be read as before.
    package static func commit(_ sink: FileSink, at path: FilePath, iv: [UInt8]) throws(DecryptionError) {
        for file in try prepare(sink, at: path, iv: iv) { try file.rename() }
    }

    /// Returns the files in the order in which they get their names: the IVs of both, the new ciphertext, its IV.
    static func prepare(_ sink: FileSink, at path: FilePath, iv: [UInt8]) throws(DecryptionError) -> [PreparedFile] {
        let data = try sink.prepare()
        let own = line(iv, try firstBytes(of: FileSource(path: data.hiddenPath, waits: false), atMost: Block.byteCount))
        let ivPath = Self.path(of: path)
        if let old = try? FileSource(path: path), let start = try? firstBytes(of: old, atMost: Block.byteCount),
            let file = try? FileSource(path: ivPath),
            let oldIV = try? Self.iv(
                in: file, named: "", byteCounts: [iv.count], of: { () throws(DecryptionError) in old })
        {
            return [try prepared(line(oldIV, start) + own, ivPath), data, try prepared(own, ivPath)]
        }
        return [try prepared(own, ivPath), data]
    }

    private static func prepared(_ text: String, _ path: FilePath) throws(DecryptionError) -> PreparedFile {
        let sink = try FileSink(path: path)
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        defer { bytes.deallocate() }
        bytes.copyBytes(from: text.utf8)
        try sink.write(UnsafeRawBufferPointer(bytes), at: 0)
        return try sink.prepare()
    }

    private static func line(_ iv: [UInt8], _ bytes: [UInt8]) -> String {
        "\(Hexadecimal.encode(iv)) \(start(bytes))\n"
    }

    /// Returns the first bytes of a ciphertext as text; an empty ciphertext has none.
    private static func start(_ bytes: [UInt8]) -> String { bytes.isEmpty ? "-" : Hexadecimal.encode(bytes) }

    static func firstBytes(
        of source: any ByteSource, atMost count: Int
    ) throws(DecryptionError) -> [UInt8] {
        let byteCount = Int(min(source.byteCount, UInt64(count)))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        defer { buffer.deallocate() }
        try source.fetch(at: 0, into: buffer)
        return Array(buffer)
    }

    /// The max length: two lines with IVs of 1 KiB, and some space.
    private static let maxByteCount = 4352
}
