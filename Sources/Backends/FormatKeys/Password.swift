package import RandomAccess

/// Passwords in files.
package enum Password {
    /// Parses a password that is the only line of a text, with or without a line break.
    ///
    /// - Throws: `FormatKeyError` if it is empty, or if there are several lines.
    package static func key(in text: UnsafeRawBufferPointer) throws(DecryptionError) -> SecretKey {
        var line = text[...]
        if line.last == UInt8(ascii: "\n") {
            line = line.dropLast()
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        }
        guard !line.isEmpty else { throw .noKey("the password", "is empty", expected: "a line of text") }
        guard !line.contains(UInt8(ascii: "\n")) else {
            throw .noKey("the password", "has several lines", expected: "one line, with an end or without")
        }
        return try SecretKey(material: line)
    }
}
