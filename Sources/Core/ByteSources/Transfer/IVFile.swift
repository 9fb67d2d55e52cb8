import Glibc
package import RandomAccess
import Support
package import SystemPackage

/// The file `NAME.iv` beside an encrypted file `NAME`: its IV, and the first 16 bytes of the ciphertext that it belongs
/// to, in hexadecimal. An IV alone is read as well.
///
/// With another file's IV, CTR gives wrong plaintext and no error: files may be moved without their IV files, or be
/// replaced while they are opened. Therefore an IV is taken only for the ciphertext that begins as it says.
///
/// No two files can be replaced at once. While an encrypted file is, `NAME.iv` has the IVs of both. So the old file can
/// be read until the new one is there, and the new one from then on, wherever the process was killed.
package enum IVFile {
    /// The end of the name.
    package static let suffix = ".iv"

    /// The path of a file's IV file.
    package static func path(of file: FilePath) -> FilePath { FilePath(file.string + suffix) }

    /// The URL of the IV file of what a URL names, query and all.
    package static func url(of url: String) -> String {
        let end = url.firstIndex { "?#".contains($0) } ?? url.endIndex
        return url[..<end] + suffix + url[end...]
    }

    /// Reads the IV of an encrypted file.
    ///
    /// - Parameters:
    ///   - file: The IV file.
    ///   - name: The file in errors.
    ///   - byteCounts: The lengths that an IV may have; `nil` for any.
    ///   - ciphertext: Opens the encrypted file; asked unless the IV stands alone.
    /// - Returns: The IV.
    /// - Throws: `DecryptionError.invalidParameter` if it has none, or none of this file; `.io`.
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
        // Files of few bytes may be the same in two IVs.
        let ivs = Set(entries.filter { $0.start.map(String.init) == first }.map(\.iv))
        guard ivs.count == 1, let iv = ivs.first else {
            let known = entries.compactMap(\.start).joined(separator: ", ")
            throw .invalidParameter(
                name: "IV file \(name)", value: "that of a file that starts with \(known)",
                expected: "that of one that starts with \(first), or --iv")
        }
        return iv
    }

    /// The digits of an IV of some lengths in bytes, in words; `nil` for any length.
    package static func expectation(_ byteCounts: [Int]?) -> String {
        "\(byteCounts.map { KeyFile.text($0.map { $0 * 2 }) } ?? "an even number of") hexadecimal digits"
    }

    /// Refuses a place that is taken by something else than an IV file, which would be lost.
    ///
    /// - Parameters:
    ///   - file: The encrypted file that is to be.
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

    /// An IV, and how the ciphertext begins that it belongs to; `nil` for whatever lies beside it.
    private typealias Entry = (iv: [UInt8], start: Substring?)

    /// The entries of an IV file: an IV alone, or IVs with the starts of their ciphertexts; `nil` if it is none.
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

    /// Gives an encrypted file its name, and the IV file beside it.
    ///
    /// - Parameters:
    ///   - sink: The encrypted file, with all its bytes.
    ///   - path: Its name.
    ///   - iv: Its IV.
    /// - Throws: `DecryptionError.io`; the file that is there then can be read as before.
    package static func commit(_ sink: FileSink, at path: FilePath, iv: [UInt8]) throws(DecryptionError) {
        for file in try prepare(sink, at: path, iv: iv) { try file.rename() }
    }

    /// The files that get their names one after the other: the IVs of both, the new ciphertext, its IV.
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

    /// The first bytes of a ciphertext in words; one may have none.
    private static func start(_ bytes: [UInt8]) -> String { bytes.isEmpty ? "-" : Hexadecimal.encode(bytes) }

    private static func firstBytes(
        of source: any ByteSource, atMost count: Int
    ) throws(DecryptionError) -> [UInt8] {
        let byteCount = Int(min(source.byteCount, UInt64(count)))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        defer { buffer.deallocate() }
        try source.fetch(at: 0, into: buffer)
        return Array(buffer)
    }

    /// Two lines with IVs of 1 KiB at most, and some space.
    private static let maxByteCount = 4352
}
