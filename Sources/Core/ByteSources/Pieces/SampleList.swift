package import RandomAccess
package import Support

extension ProtectedExtents {
    /// The max length of a list of samples in bytes: a film of two hours has 30 MB.
    package static let maxListByteCount = 64 << 20
    /// The max number of JSON values: eight lists and texts, and as many numbers, for each of half a million samples.
    private static let maxPartCount = 1 << 22

    /// Parses a list of samples in JSON.
    ///
    /// - Throws: `DecryptionError.invalidParameter`, `.invalidHeader` or `.unsupported` for any other text.
    package init(list text: [UInt8]) throws(DecryptionError) {
        guard text.count <= Self.maxListByteCount else {
            throw .unsupported("\(text.count) bytes: expected at most \(Self.maxListByteCount)")
        }
        let value: JSONValue
        do throws(JSONParser.Mismatch) {
            value = try JSONParser.parse(text, maxValues: 4 * Self.maxPartCount, maxParts: Self.maxPartCount)
        } catch {
            throw .invalidParameter(name: "samples", value: "line \(error.line)", expected: error.expected)
        }
        try self.init(list: value)
    }

    /// Parses a list of samples.
    ///
    /// - Parameter value: An object with `scheme`, `samples` and optionally `cryptBlocks`, `skipBlocks` and
    ///   `constantIV`. Each sample is a list of an offset, a length, an IV and pairs of clear and protected bytes;
    ///   without pairs, all of it is protected.
    /// - Throws: See ``init(list:)``.
    /// - Source: docs/files.md, "Films".
    package init(list value: JSONValue) throws(DecryptionError) {
        func number(_ name: String) throws(DecryptionError) -> Int {
            guard let member = value[name] else { return 0 }
            guard let number = member.integer.flatMap({ Int(exactly: $0) }) else {
                throw .invalidParameter(name: name, value: "\(member.text.prefix(20))", expected: "a number of blocks")
            }
            return number
        }
        guard let scheme = value["scheme"]?.string.flatMap({ CommonEncryption.Scheme(rawValue: $0) }) else {
            throw .invalidParameter(
                name: "scheme", value: "\"\(value["scheme"]?.string?.prefix(20) ?? "")\"",
                expected: CommonEncryption.Scheme.allCases.map(\.rawValue).joined(separator: ", "))
        }
        let encryption = try CommonEncryption(
            scheme, cryptBlockCount: try number("cryptBlocks"), skipBlockCount: try number("skipBlocks"))
        func iv(_ text: String, _ name: String) throws(DecryptionError) -> Block {
            guard let iv = Hexadecimal.decode(text).flatMap({ encryption.iv($0) }) else {
                throw .invalidParameter(
                    name: name, value: "of \(text.utf8.count) characters",
                    expected: "the 32 hexadecimal digits of an IV"
                        + (encryption.cipher == .aesCTR ? ", or the 16 of its first half" : ""))
            }
            return iv
        }
        var builder = Builder()
        let number = try builder.add(encryption)
        let constantIV = try value["constantIV"]?.string.flatMap { $0.isEmpty ? nil : $0 }
            .map { (text) throws(DecryptionError) in try iv(text, "constantIV") }
        guard let samples = value["samples"]?.array else {
            throw .invalidParameter(name: "samples", value: "of no list", expected: "a list")
        }
        for (index, sample) in samples.enumerated() {
            func mismatch(_ expected: String) -> DecryptionError {
                .invalidParameter(name: "sample \(index + 1)", value: "\(sample.text.prefix(60))", expected: expected)
            }
            let fields = sample.array ?? []
            guard (3...4).contains(fields.count), let offset = fields[0].integer, let byteCount = fields[1].integer,
                let text = fields[2].string, let subsamples = fields.count == 4 ? fields[3].array : []
            else { throw mismatch("[offset, length, \"IV\", [[clear bytes, protected bytes], …]]") }
            let ownIV = text.isEmpty ? constantIV : try iv(text, "IV of sample \(index + 1)")
            guard let ownIV else { throw mismatch("an IV, or \"constantIV\" for all") }
            try builder.begin(at: offset, byteCount: byteCount, iv: ownIV, scheme: number)
            for pair in subsamples {
                guard let pair = pair.array, pair.count == 2, let clear = pair[0].integer,
                    let protected = pair[1].integer
                else { throw mismatch("pairs of clear and protected bytes") }
                try builder.add(clearByteCount: clear, protectedByteCount: protected)
            }
            try builder.finishSample()
        }
        self = try builder.finish()
    }
}
