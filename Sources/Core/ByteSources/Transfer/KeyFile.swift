import Glibc
public import RandomAccess
import Support
import SystemPackage

/// Why a file or folder with keys is refused.
public enum KeyFileError: LayerError {
    /// The file holds no key of the encoding, or of any.
    case noKey(path: String, byteCount: Int, encoding: KeyEncoding?)
    /// The file holds as many characters of text as a raw key has bytes, of which a key may be made in several ways.
    case text(path: String, byteCount: Int, isHexadecimal: Bool, choice: String)
    /// Others than the owner have access, where that is an error.
    case openToOthers(path: String, permissions: UInt32, expected: UInt32)

    /// What failed, the value, what was expected.
    public var description: String {
        switch self {
        case .noKey(let path, let byteCount, let encoding):
            "key file \(path) has \(byteCount >= 1024 ? "1024 or more" : "\(byteCount)") bytes: expected "
                + (encoding.map { [$0] } ?? KeyEncoding.allCases).map(\.expectation).joined(separator: ", or ")
        case .text(let path, let byteCount, let isHexadecimal, let choice):
            "key file \(path) has \(byteCount) characters of text and nothing else: that may be a key of \(byteCount) bytes "
                + "(AES-\(byteCount * 8)) that are characters, "
                + (isHexadecimal
                    ? "or of \(byteCount / 2) (AES-\(byteCount * 4)) in hexadecimal"
                    : "or one in Base64 (base64 -d decodes it), or digits of which some are missing")
                + ": expected \(choice)"
        case .openToOthers(let path, let permissions, let expected):
            "\(path) is open to others (permissions \(String(permissions, radix: 8))): "
                + "expected \(String(expected, radix: 8))"
        }
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

    fileprivate var expectation: String {
        switch self {
        case .raw: "16, 24 or 32 raw bytes"
        case .hex: "32, 48 or 64 hexadecimal digits"
        }
    }
}

/// Reads keys from files.
package enum KeyFile {
    /// The facts about a key file that are known before it is read.
    package struct Form {
        /// The key's encoding; `nil` to tell it by the file's length.
        package var encoding: KeyEncoding?
        /// The lengths that the key may have.
        package var byteCounts: [Int]
        /// The option that the user is told to give where the length does not tell.
        package var choice: String

        /// Creates a form.
        package init(
            encoding: KeyEncoding? = nil, byteCounts: [Int] = [16, 24, 32],
            choice: String = "hexadecimal digits and a line feed behind them"
        ) {
            self.encoding = encoding
            self.byteCounts = byteCounts
            self.choice = choice
        }
    }

    /// Reads a key: 16, 24 or 32 raw bytes, or twice as many hexadecimal digits with white space around them. Text is raw
    /// bytes only if the form says so: bytes that are drawn are never all text, and of a text that was taken for a key, no
    /// error would tell.
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
        let descriptor = try SystemCall.check("open key file \(path)") {
            try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        }
        defer { try? descriptor.close() }
        var status = stat()
        _ = try SystemCall.retrying("stat key file \(path)") { Int(fstat(descriptor.rawValue, &status)) }
        let permissions = UInt32(status.st_mode) & 0o777
        if status.st_mode & S_IFMT == S_IFREG, permissions & 0o044 != 0 { try isShared(permissions) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)
        defer {
            eraseBytes(buffer)
            buffer.deallocate()
        }
        var count = 0
        while count < buffer.count {
            let free = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let read = try SystemCall.check("read key file \(path)") { try descriptor.read(into: free) }
            guard read > 0 else { break }
            count += read
        }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        let hexadecimal = form.encoding == .raw ? nil : try hexadecimalKey(bytes)
        let raw = form.encoding == .hex || ![16, 24, 32].contains(count) ? nil : try SecretKey(bytes)
        func error(_ error: KeyFileError) -> DecryptionError { .layer(AnyLayerError(error)) }
        switch (hexadecimal, raw) {
        case (let hexadecimal?, let raw?)
        where form.byteCounts.contains(raw.byteCount) || !form.byteCounts.contains(hexadecimal.byteCount):
            throw error(.text(path: path, byteCount: count, isHexadecimal: true, choice: form.choice))
        case (nil, _?) where form.encoding == nil && PlainText.isASCII(bytes):
            throw error(.text(path: path, byteCount: count, isHexadecimal: false, choice: form.choice))
        case (let key?, _), (nil, let key?): return key
        case (nil, nil): throw error(.noKey(path: path, byteCount: count, encoding: form.encoding))
        }
    }

    private static func hexadecimalKey(_ text: UnsafeRawBufferPointer) throws(DecryptionError) -> SecretKey? {
        func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return nil }
        let digits = text[first...last]
        guard [32, 48, 64].contains(digits.count), digits.allSatisfy({ value(of: $0) != nil }) else { return nil }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: digits.count / 2, alignment: 16)
        defer {
            eraseBytes(buffer)
            buffer.deallocate()
        }
        for index in 0..<buffer.count {
            let high = value(of: digits[first + 2 * index]) ?? 0
            buffer[index] = high << 4 | (value(of: digits[first + 2 * index + 1]) ?? 0)
        }
        return try SecretKey(buffer)
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
