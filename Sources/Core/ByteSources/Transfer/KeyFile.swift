import Glibc
public import RandomAccess
import Support
import SystemPackage

/// The reasons to refuse a file or folder with keys.
public enum KeyFileError: LayerError {
    /// The file holds no key of the given encoding, or of any. The lengths are those that a key may have; `nil` for
    /// any. The file could also have had lines with IDs if `takesLines` is true.
    case noKey(path: String, byteCount: Int, encoding: KeyEncoding?, keyByteCounts: [Int]?, takesLines: Bool)
    /// The file holds text as long as a raw key, which can be turned into a key in several ways.
    case text(path: String, byteCount: Int, isHexadecimal: Bool, choice: String)
    /// A line of a file with several keys is no key with its ID.
    case noKeyInLine(path: String, line: Int, expected: String)
    /// Other users have access to the file, and that is an error here.
    case openToOthers(path: String, permissions: UInt32, expected: UInt32)

    /// The failure, the value, and the expectation.
    public var description: String {
        switch self {
        case .noKey(let path, let byteCount, let encoding, let keyByteCounts, let takesLines):
            "key file \(path) has \(byteCount >= 1024 ? "1024 or more" : "\(byteCount)") bytes: expected "
                + (encoding.map { [$0] } ?? KeyEncoding.allCases).map { $0.expectation(keyByteCounts) }
                .joined(separator: ", or ") + (takesLines ? ", or lines KID:KEY" : "")
        case .text(let path, let byteCount, let isHexadecimal, let choice):
            "key file \(path) has \(byteCount) characters of text and nothing else: that may be a key of \(byteCount) "
                + "bytes\(Self.cipher(byteCount)) that are characters, "
                + (isHexadecimal
                    ? "or of \(byteCount / 2)\(Self.cipher(byteCount / 2)) in hexadecimal"
                    : "or one in Base64 (base64 -d decodes it), or digits of which some are missing")
                + ": expected \(choice)"
        case .noKeyInLine(let path, let line, let expected): "key file \(path), line \(line): expected \(expected)"
        case .openToOthers(let path, let permissions, let expected):
            "\(path) is open to others (permissions \(String(permissions, radix: 8))): "
                + "expected \(String(expected, radix: 8))"
        }
    }

    /// Returns the cipher whose single keys have a length, in words; empty for other lengths.
    private static func cipher(_ byteCount: Int) -> String {
        Cipher.aesGCM.keyByteCounts.contains(byteCount) ? " (AES-\(byteCount * 8))" : ""
    }

    /// The error's name in the subject protocol.
    public var protocolName: String { "invalidKey" }
}

extension DecryptionError {
    /// Returns the error of a file or folder with keys that other users can access; see ``KeyFileError``.
    package static func openToOthers(path: String, permissions: UInt32, expected: UInt32) -> DecryptionError {
        .layer(
            AnyLayerError(KeyFileError.openToOthers(path: path, permissions: permissions, expected: expected)))
    }
}

/// The encoding of a key in a file.
public enum KeyEncoding: String, CaseIterable, Hashable, Sendable {
    /// The raw bytes of the key.
    case raw
    /// Hexadecimal digits, optionally surrounded by white space.
    case hex

    /// Returns the expected content of a file with a key of some lengths in bytes; `nil` for any length.
    fileprivate func expectation(_ byteCounts: [Int]?) -> String {
        switch (self, byteCounts) {
        case (.raw, let counts?): "\(counts.listed("or")) raw bytes"
        case (.hex, let counts?): "\(counts.map { $0 * 2 }.listed("or")) hexadecimal digits"
        case (.raw, nil): "1 to \(KeyFile.maxByteCount) raw bytes"
        case (.hex, nil): "an even number of hexadecimal digits"
        }
    }
}

/// Reads keys from files.
package enum KeyFile {
    /// The facts about a key file that are known before it is read.
    package struct Form {
        /// The key's encoding; `nil` to infer it from the file's length.
        package var encoding: KeyEncoding?
        /// The lengths that the key may have; `nil` for any.
        package var byteCounts: [Int]?
        /// The option to suggest to the user if the length does not decide.
        package var choice: String

        package init(
            encoding: KeyEncoding? = nil, byteCounts: [Int]? = [16, 24, 32],
            choice: String = "hexadecimal digits and a line feed behind them"
        ) {
            self.encoding = encoding
            self.byteCounts = byteCounts
            self.choice = choice
        }
    }

    /// The max number of bytes of a file that is read.
    fileprivate static let maxByteCount = 1023

    /// Reads a key of a length that the form allows: raw bytes, or twice as many hexadecimal digits surrounded by white
    /// space. Text counts as raw bytes only if the form says so. Random bytes are never all text, and no error would
    /// show that a text was taken for a key.
    ///
    /// The file may be a pipe. The bytes read are erased.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - form: The known facts about it.
    ///   - isShared: Called with the permissions if other users can read the file.
    /// - Returns: The key.
    /// - Throws: `DecryptionError.io` if the file cannot be read, `KeyFileError`, the errors of `isShared`.
    package static func read(
        _ path: String, _ form: Form = Form(), isShared: (UInt32) throws(DecryptionError) -> Void = { _ in }
    ) throws(DecryptionError) -> SecretKey {
        try withContents(
            of: path, "key file", maxByteCount: maxByteCount, isShared: isShared
        ) { (bytes) throws(DecryptionError) in try key(in: bytes, path, form) }
    }

    /// Reads a key as ``read(_:_:isShared:)`` does, or several with their IDs: a text with a line `KID:KEY` for each,
    /// both in hexadecimal, with or without the hyphens of a UUID in the ID. One line that begins so is enough, and all
    /// others are errors.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - form: The known facts about it.
    ///   - isShared: Called with the permissions if other users can read the file.
    /// - Returns: The key or the keys.
    /// - Throws: See ``read(_:_:isShared:)``.
    package static func readKeys(
        _ path: String, _ form: Form = Form(), isShared: (UInt32) throws(DecryptionError) -> Void = { _ in }
    ) throws(DecryptionError) -> KeySet {
        try withContents(
            of: path, "key file", maxByteCount: maxKeysByteCount, isShared: isShared
        ) { (bytes) throws(DecryptionError) in
            guard form.encoding != .raw, bytes.split(separator: 0x0A).contains(where: { keyID($0) != nil }) else {
                let isFilm = form.encoding != .raw && form.byteCounts == ProtectedExtents.keyByteCounts
                return .one(try key(in: bytes, path, form, takesLines: isFilm))
            }
            guard bytes.count <= maxKeysByteCount else {
                throw .layer(
                    AnyLayerError(
                        KeyFileError.noKeyInLine(
                            path: path, line: bytes.count { $0 == 0x0A } + 1,
                            expected: "at most \(maxKeysByteCount) bytes of keys")))
            }
            return .byID(try keys(in: bytes, path))
        }
    }

    private static let separator = UInt8(ascii: ":")
    /// The max length of a file with several keys: lines of an ID with hyphens, a key, and some spaces.
    private static let maxKeysByteCount = 128 * KeySet.maxCount

    /// Reads a key with its ID from each line that is not empty. An error shows nothing of a line, which may have the
    /// key first.
    private static func keys(
        in text: UnsafeRawBufferPointer, _ path: String
    ) throws(DecryptionError) -> [Block: SecretKey] {
        var keys: [Block: SecretKey] = [:]
        for (index, line) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            func mismatch(_ expected: String) -> DecryptionError {
                .layer(AnyLayerError(KeyFileError.noKeyInLine(path: path, line: index + 1, expected: expected)))
            }
            guard line.contains(where: { !isSpace($0) }) else { continue }
            let rest = line.drop { $0 != separator }.dropFirst()
            guard let id = keyID(line), let digits = hexadecimalDigits(UnsafeRawBufferPointer(rebasing: rest)),
                digits.count == 32
            else {
                throw mismatch("KID:KEY, a key's ID and the key, of 32 hexadecimal digits each")
            }
            guard keys.count < KeySet.maxCount else { throw mismatch("at most \(KeySet.maxCount) keys") }
            guard keys.updateValue(try key(digits), forKey: id) == nil else {
                throw mismatch("another ID than in the lines before")
            }
        }
        return keys
    }

    /// Reads a file with a secret, which may be a pipe. The bytes read are erased.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - name: The kind of file in errors, such as `key file`.
    ///   - maxByteCount: The max number of bytes that are expected.
    ///   - isShared: Called with the permissions if other users can read the file.
    ///   - body: Called with the bytes; with one more than expected if the file is longer.
    /// - Returns: The result of `body`.
    /// - Throws: `DecryptionError.io` if the file cannot be read, the errors of `isShared` and `body`.
    package static func withContents<Result>(
        of path: String, _ name: String, maxByteCount: Int,
        isShared: (UInt32) throws(DecryptionError) -> Void = { _ in },
        _ body: (UnsafeRawBufferPointer) throws(DecryptionError) -> Result
    ) throws(DecryptionError) -> Result {
        let descriptor = try SystemCall.check("open \(name) \(path)") {
            try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        }
        defer { try? descriptor.close() }
        var status = stat()
        _ = try SystemCall.retrying("stat \(name) \(path)") { Int(fstat(descriptor.rawValue, &status)) }
        let permissions = UInt32(status.st_mode) & 0o777
        if status.st_mode & S_IFMT == S_IFREG, permissions & 0o044 != 0 { try isShared(permissions) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: maxByteCount + 1, alignment: 16)
        defer {
            eraseBytes(buffer)
            buffer.deallocate()
        }
        var count = 0
        while count < buffer.count {
            let free = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let read = try SystemCall.check("read \(name) \(path)") { try descriptor.read(into: free) }
            guard read > 0 else { break }
            count += read
        }
        return try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }

    private static func key(
        in bytes: UnsafeRawBufferPointer, _ path: String, _ form: Form, takesLines: Bool = false
    ) throws(DecryptionError) -> SecretKey {
        let count = bytes.count
        func isKey(_ byteCount: Int) -> Bool { form.byteCounts?.contains(byteCount) ?? (byteCount > 0) }
        func error(_ error: KeyFileError) -> DecryptionError { .layer(AnyLayerError(error)) }
        let digits = count > maxByteCount ? nil : hexadecimalDigits(bytes)
        let isHexadecimal = form.encoding != .raw && digits.map { isKey($0.count / 2) } == true
        let isRaw = form.encoding != .hex && count <= maxByteCount && isKey(count)
        // A raw key is not followed by a line feed that would turn it into hexadecimal digits.
        if isRaw, form.encoding == nil, PlainText.isASCII(bytes), !isHexadecimal || digits?.count == count {
            throw error(.text(path: path, byteCount: count, isHexadecimal: digits?.count == count, choice: form.choice))
        }
        if isHexadecimal, let digits { return try key(digits) }
        guard isRaw else {
            throw error(
                .noKey(
                    path: path, byteCount: count, encoding: form.encoding, keyByteCounts: form.byteCounts,
                    takesLines: takesLines && bytes.contains(separator) && PlainText.isASCII(bytes)))
        }
        return try SecretKey(material: bytes)
    }

    /// Returns the digits of a text that consists of an even number of hexadecimal digits, surrounded by white space.
    private static func hexadecimalDigits(_ text: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer>? {
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return nil }
        let digits = text[first...last]
        return digits.count % 2 == 0 && digits.allSatisfy { value(of: $0) != nil } ? digits : nil
    }

    /// Returns the ID in front of a line's colon: 32 digits with any spaces and hyphens.
    private static func keyID(_ line: Slice<UnsafeRawBufferPointer>) -> Block? {
        guard let end = line.firstIndex(of: separator) else { return nil }
        var (id, count) = (UInt128(0), 0)
        for byte in line[..<end] where !isSpace(byte) && byte != UInt8(ascii: "-") {
            guard let digit = value(of: byte) else { return nil }
            id = id << 4 | UInt128(digit)
            count += 1
        }
        return count == 32 ? Block(bigEndianValue: id) : nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private static func key(_ digits: Slice<UnsafeRawBufferPointer>) throws(DecryptionError) -> SecretKey {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: digits.count / 2, alignment: 16)
        defer {
            eraseBytes(buffer)
            buffer.deallocate()
        }
        for index in 0..<buffer.count {
            let high = value(of: digits[digits.startIndex + 2 * index]) ?? 0
            buffer[index] = high << 4 | (value(of: digits[digits.startIndex + 2 * index + 1]) ?? 0)
        }
        return try SecretKey(material: buffer)
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}
