package import RandomAccess

/// The header of an age file: stanzas, each with a wrapped file key. The reader that decrypts the file checks the
/// header's MAC.
///
/// - Source: c2sp.org/age, "age file format v1".
package struct AgeHeader {
    /// A wrapped file key.
    struct Stanza {
        /// The kind, such as `X25519`, and its arguments.
        let arguments: [String]
        /// The wrapped key.
        let body: [UInt8]

        /// The kind.
        var type: String { arguments[0] }
    }

    /// The stanzas, in order.
    let stanzas: [Stanza]

    private static let version = "age-encryption.org/v1"

    /// Parses the header at the start of a file.
    ///
    /// - Throws: `FormatKeyError` if the header is invalid.
    package init(_ bytes: [UInt8]) throws(DecryptionError) {
        var lines = Lines(rest: bytes[...])
        let first = try lines.next()
        guard first.elementsEqual(Self.version.utf8) else {
            let isArmored = first.starts(with: "-----BEGIN AGE ENCRYPTED FILE".utf8)
            throw lines.error(
                isArmored ? "is that of a file in Base64" : "is that of another format, or of another version",
                expected: isArmored ? "one without armor, as age writes it without -a" : Self.version)
        }
        var stanzas: [Stanza] = []
        while true {
            let line = try lines.next()
            let fields = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            if fields.first?.elementsEqual("---".utf8) == true {
                guard !stanzas.isEmpty else { throw lines.error("is the last one", expected: "a stanza before it") }
                self.stanzas = stanzas
                return
            }
            guard fields.count > 1, fields[0].elementsEqual("->".utf8),
                fields.allSatisfy({ field in !field.isEmpty && field.allSatisfy { (0x21...0x7E).contains($0) } })
            else { throw lines.error("is no stanza's first", expected: "->, and words with one space between them") }
            var body: [UInt8] = []
            while true {
                let line = try lines.next()
                guard line.count <= 64, let bytes = Digits.bytes(line) else {
                    throw lines.error("is no stanza's body", expected: "at most 64 digits of Base64, without padding")
                }
                body += bytes
                if line.count < 64 { break }
            }
            stanzas.append(
                Stanza(arguments: fields.dropFirst().map { String(decoding: $0, as: UTF8.self) }, body: body))
        }
    }

    /// The kinds of the first stanzas in words, since a file may have any number of stanzas.
    var types: String {
        stanzas.prefix(8).map { String($0.type.prefix(32)) }.joined(separator: ", ") + (stanzas.count > 8 ? ", …" : "")
    }

    /// Lines, read from the front.
    private struct Lines {
        var rest: ArraySlice<UInt8>
        private var number = 0

        init(rest: ArraySlice<UInt8>) { self.rest = rest }

        /// Returns the next line, without its end.
        mutating func next() throws(DecryptionError) -> ArraySlice<UInt8> {
            number += 1
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
                throw error("does not end", expected: "a header of at most 1 MiB, whose last line begins with ---")
            }
            defer { rest = rest[(end + 1)...] }
            return rest[..<end]
        }

        /// Returns an error about the last line read.
        func error(_ value: String, expected: String) -> DecryptionError {
            .noKey("the header's line \(number)", value, expected: expected)
        }
    }
}
