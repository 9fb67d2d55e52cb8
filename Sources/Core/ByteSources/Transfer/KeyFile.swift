import Glibc
public import RandomAccess
import Support
import SystemPackage

/// Why a file or folder with keys is refused.
public enum KeyFileError: LayerError {
    /// The file holds no key of the encoding, or of any. The lengths are those that a key may have; `nil` for any.
    case noKey(path: String, byteCount: Int, encoding: KeyEncoding?, keyByteCounts: [Int]?)
    /// The file holds as many characters of text as a raw key has bytes, of which a key may be made in several ways.
    case text(path: String, byteCount: Int, isHexadecimal: Bool, choice: String)
    /// Others than the owner have access, where that is an error.
    case openToOthers(path: String, permissions: UInt32, expected: UInt32)

    /// What failed, the value, what was expected.
    public var description: String {
        switch self {
        case .noKey(let path, let byteCount, let encoding, let keyByteCounts):
            "key file \(path) has \(byteCount >= 1024 ? "1024 or more" : "\(byteCount)") bytes: expected "
                + (encoding.map { [$0] } ?? KeyEncoding.allCases).map { $0.expectation(keyByteCounts) }
                .joined(separator: ", or ")
        case .text(let path, let byteCount, let isHexadecimal, let choice):
            "key file \(path) has \(byteCount) characters of text and nothing else: that may be a key of \(byteCount) "
                + "bytes\(Self.cipher(byteCount)) that are characters, "
                + (isHexadecimal
                    ? "or of \(byteCount / 2)\(Self.cipher(byteCount / 2)) in hexadecimal"
                    : "or one in Base64 (base64 -d decodes it), or digits of which some are missing")
                + ": expected \(choice)"
        case .openToOthers(let path, let permissions, let expected):
            "\(path) is open to others (permissions \(String(permissions, radix: 8))): "
                + "expected \(String(expected, radix: 8))"
        }
    }

    /// The cipher that has single keys of a length, in words; empty for other lengths.
    private static func cipher(_ byteCount: Int) -> String {
        Cipher.aesGCM.keyByteCounts.contains(byteCount) ? " (AES-\(byteCount * 8))" : ""
    }

    /// The error's name in the subject protocol.
    public var protocolName: String { "invalidKey" }
}

extension DecryptionError {
    /// A file or folder with keys that others have access to; see ``KeyFileError``.
    package static func openToOthers(path: String, permissions: UInt32, expected: UInt32) -> DecryptionError {
        .layer(
            AnyLayerError(KeyFileError.openToOthers(path: path, permissions: permissions, expected: expected)))
    }
}

/// The encoding of a key in a file.
public enum KeyEncoding: String, CaseIterable, Hashable, Sendable {
    /// Its bytes.
    case raw
    /// Hexadecimal digits, with white space around them or none.
    case hex

    /// The content of a file with a key of some lengths in bytes; `nil` for any length.
    fileprivate func expectation(_ byteCounts: [Int]?) -> String {
        switch (self, byteCounts) {
        case (.raw, let counts?): "\(KeyFile.text(counts)) raw bytes"
        case (.hex, let counts?): "\(KeyFile.text(counts.map { $0 * 2 })) hexadecimal digits"
        case (.raw, nil): "1 to \(KeyFile.maxByteCount) raw bytes"
        case (.hex, nil): "an even number of hexadecimal digits"
        }
    }
}

/// Reads keys from files.
package enum KeyFile {
    /// The facts about a key file that are known before it is read.
    package struct Form {
        /// The key's encoding; `nil` to tell it by the file's length.
        package var encoding: KeyEncoding?
        /// The lengths that the key may have; `nil` for any.
        package var byteCounts: [Int]?
        /// The option that the user is told to give where the length does not tell.
        package var choice: String

        /// Creates a form.
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

    /// Some lengths in words.
    package static func text(_ counts: [Int]) -> String {
        let others = counts.dropLast().map(String.init).joined(separator: ", ")
        return (others.isEmpty ? "" : others + " or ") + (counts.last.map(String.init) ?? "0")
    }

    /// Reads a key of a length that the form has: raw bytes, or twice as many hexadecimal digits with white space
    /// around them. Text is raw bytes only if the form says so: bytes that are drawn are never all text, and of a text
    /// that was taken for a key, no error would tell.
    ///
    /// The file may be a pipe. What was read is erased.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - form: What is known of it.
    ///   - isShared: Is called with the permissions of a file that others than its owner can read.
    /// - Returns: The key.
    /// - Throws: `DecryptionError.io` if it cannot be read, `KeyFileError`, what `isShared` throws.
    package static func read(
        _ path: String, _ form: Form = Form(), isShared: (UInt32) throws(DecryptionError) -> Void = { _ in }
    ) throws(DecryptionError) -> SecretKey {
        try withContents(
            of: path, "key file", maxByteCount: maxByteCount, isShared: isShared
        ) { (bytes) throws(DecryptionError) in try key(in: bytes, path, form) }
    }

    /// Reads a file with a secret, which may be a pipe. What was read is erased.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - name: What errors call it, such as `key file`.
    ///   - maxByteCount: The max number of bytes that are expected.
    ///   - isShared: Is called with the permissions of a file that others than its owner can read.
    ///   - body: Is called with the bytes; of a longer file, with one more than expected.
    /// - Returns: What `body` returned.
    /// - Throws: `DecryptionError.io` if it cannot be read, what `isShared` and `body` throw.
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
        in bytes: UnsafeRawBufferPointer, _ path: String, _ form: Form
    ) throws(DecryptionError) -> SecretKey {
        let count = bytes.count
        func isKey(_ byteCount: Int) -> Bool { form.byteCounts?.contains(byteCount) ?? (byteCount > 0) }
        func error(_ error: KeyFileError) -> DecryptionError { .layer(AnyLayerError(error)) }
        let digits = count > maxByteCount ? nil : hexadecimalDigits(bytes)
        let isHexadecimal = form.encoding != .raw && digits.map { isKey($0.count / 2) } == true
        let isRaw = form.encoding != .hex && count <= maxByteCount && isKey(count)
        // Raw bytes have no line feed behind them that makes digits of them.
        if isRaw, form.encoding == nil, PlainText.isASCII(bytes), !isHexadecimal || digits?.count == count {
            throw error(.text(path: path, byteCount: count, isHexadecimal: digits?.count == count, choice: form.choice))
        }
        if isHexadecimal, let digits { return try key(digits) }
        guard isRaw else {
            throw error(
                .noKey(path: path, byteCount: count, encoding: form.encoding, keyByteCounts: form.byteCounts))
        }
        return try SecretKey(material: bytes)
    }

    /// The digits in a text that has hexadecimal digits alone, an even number of them, and white space around them.
    private static func hexadecimalDigits(_ text: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer>? {
        func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return nil }
        let digits = text[first...last]
        return digits.count % 2 == 0 && digits.allSatisfy { value(of: $0) != nil } ? digits : nil
    }

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
