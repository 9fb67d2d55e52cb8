extension Format.Field {
    /// The plaintext and the encryption of an encrypted field: a part of a header or a trailer that holds a key, or
    /// only a tag over associated data.
    package struct Sealed: Hashable, Sendable {
        /// The cipher's name: a cipher with a tag, or a stream cipher.
        package let cipher: Formula
        package let key: Formula
        package let nonce: Formula
        package let associatedData: Formula?
        /// The fields of the plaintext, in order.
        package var holds: [Format.Field]

        /// The formulas for the encryption.
        package var formulas: [Formula] { [cipher, key, nonce, associatedData].compactMap(\.self) }
    }
}

extension Format.Rules {
    /// The fields of the header, and the fields encrypted in them.
    package var allHeaderFields: [Format.Field] { header.flatMap { [$0] + ($0.sealed?.holds ?? []) } }

    /// The ciphers of encrypted fields that do not depend on the object.
    package var sealedCiphers: [Cipher] {
        (header + trailerFields).compactMap { $0.sealed?.cipher.expression.literal?.bytes?.text.flatMap(Cipher.init) }
    }

    /// True if the trailer depends on the length of the data, with a tag or a code that cannot be made without a key.
    var isTrailerBound: Bool {
        trailerFields.contains { field in
            let codes = field.content.filter { $0.expression.count(of: .hmac) > 0 }
            let names = Set((field.hasTag ? field.sealed?.formulas ?? [] : codes).flatMap(\.expression.names))
            return !names.isDisjoint(with: ["count", Format.Rules.lengthName, "size"])
                && self.names(usedBy: names).contains("key")
        }
    }

    /// The name of the plaintext's length in bytes, for use in a trailer.
    package static let lengthName = "total"
}

extension Format.Field.Sealed {
    /// Returns the names and values of the plaintext's fields.
    ///
    /// - Parameters:
    ///   - bytes: The stored bytes.
    ///   - names: The known names of the object.
    ///   - backend: The library that decrypts; `nil` to use zeros as the plaintext, if only places matter.
    ///   - format: The format's name.
    /// - Returns: `nil` if the tag does not match.
    /// - Throws: `DecryptionError.unsupported`, `.invalidIV`, `.invalidKeyMaterial`, `.backend`, `.invalidParameter`.
    func open(
        _ bytes: ByteString, _ names: [String: Value], backend: (any CipherBackend)?, in format: String
    ) throws(DecryptionError) -> [(name: String, bytes: ByteString)]? {
        guard let backend else { return try fields(ByteString(repeating: 0, count: bytes.count), names, in: format) }
        let cipher = try self.cipher(names, in: format)
        guard bytes.count >= cipher.tagByteCount else { return nil }
        let context = try context(cipher, .decrypt, names, backend, in: format)
        let (nonce, data) = try inputs(names, in: format)
        var isAuthentic = false
        let plaintext = try ByteString(count: bytes.count - cipher.tagByteCount) { output throws(DecryptionError) in
            isAuthentic = try Self.process(bytes, into: output, nonce, data, with: context)
        }
        return isAuthentic ? try fields(plaintext, names, in: format) : nil
    }

    /// Returns the stored bytes of a plaintext with known fields.
    ///
    /// - Throws: As ``open(_:_:backend:in:)``.
    func seal(
        _ names: [String: Value], backend: any CipherBackend, in format: String
    ) throws(DecryptionError) -> ByteString {
        let cipher = try self.cipher(names, in: format)
        let context = try context(cipher, .encrypt, names, backend, in: format)
        let (nonce, data) = try inputs(names, in: format)
        let plaintext = ByteString.concatenation(holds.compactMap { names[$0.name]?.bytes })
        return try ByteString(count: plaintext.count + cipher.tagByteCount) { output throws(DecryptionError) in
            _ = try Self.process(plaintext, into: output, nonce, data, with: context)
        }
    }

    /// Returns whether all values for the encryption are known.
    func isKnown(_ names: [String: Value]) -> Bool { formulas.allSatisfy { $0.isKnown(names) } }

    private static func process(
        _ input: ByteString, into output: UnsafeMutableRawBufferPointer, _ nonce: ByteString, _ data: ByteString?,
        with context: any CipherContext
    ) throws(DecryptionError) -> Bool {
        // An empty plaintext needs an address all the same.
        var nothing: UInt8 = 0
        return try withUnsafeMutablePointer(to: &nothing) { nothing throws(DecryptionError) in
            try input.withUnsafeBytes { input throws(DecryptionError) in
                try nonce.withUnsafeBytes { nonce throws(DecryptionError) in
                    let start = output.baseAddress ?? UnsafeMutableRawPointer(nothing)
                    guard let data else { return try context.process(input, into: start, nonce: nonce) }
                    return try data.withUnsafeBytes { data throws(DecryptionError) in
                        try context.process(input, into: start, nonce: nonce, associatedData: data)
                    }
                }
            }
        }
    }

    private func cipher(_ names: [String: Value], in format: String) throws(DecryptionError) -> Cipher {
        let text = try cipher.bytes(names, in: format).text ?? "?"
        guard let cipher = Cipher(rawValue: text) else {
            throw .unsupported("the cipher \"\(text)\" of \(format)")
        }
        return cipher
    }

    private func context(
        _ cipher: Cipher, _ direction: CipherDirection, _ names: [String: Value], _ backend: any CipherBackend,
        in format: String
    ) throws(DecryptionError) -> any CipherContext {
        let bytes = try key.bytes(names, in: format)
        let key = try bytes.withUnsafeBytes { bytes throws(DecryptionError) in try SecretKey(material: bytes) }
        return try backend.makeContext(cipher, direction, key: key)
    }

    private func inputs(
        _ names: [String: Value], in format: String
    ) throws(DecryptionError) -> (nonce: ByteString, associatedData: ByteString?) {
        (
            try nonce.bytes(names, in: format),
            try associatedData.map { formula throws(DecryptionError) in try formula.bytes(names, in: format) }
        )
    }

    private func fields(
        _ plaintext: ByteString, _ names: [String: Value], in format: String
    ) throws(DecryptionError) -> [(name: String, bytes: ByteString)] {
        var offset = 0
        return try holds.map { field throws(DecryptionError) in
            let count = try field.count(names, after: offset, in: format)
            guard offset + count <= plaintext.count else {
                throw .headerRejected(expected: "a plaintext of \"\(field.name)\" and what is in front of it")
            }
            defer { offset += count }
            return (field.name, plaintext.slice(offset..<offset + count))
        }
    }
}

extension Expression {
    /// Returns the sum of integers.
    static func sum(_ terms: [Expression]) -> Expression {
        terms.dropFirst().reduce(terms.first ?? .integer(0)) { .operation(.plus, $0, $1) }
    }

    /// The tag length in bytes of the cipher that the expression names, as a word or a choice between words; `nil` for
    /// any other expression.
    var tagByteCount: Expression? {
        switch self {
        case .bytes(let name):
            name.text.flatMap(Cipher.init(rawValue:)).map { .integer(Int128($0.tagByteCount)) }
        case .choice(let condition, let yes, let no):
            if let yes = yes.tagByteCount, let no = no.tagByteCount { .choice(condition, yes, no) } else { nil }
        default: nil
        }
    }

    /// The ciphers that the expression names, as a word or a choice between words.
    var namedCiphers: [Cipher] {
        switch self {
        case .bytes(let name): name.text.flatMap(Cipher.init(rawValue:)).map { [$0] } ?? []
        case .choice(_, let yes, let no): yes.namedCiphers + no.namedCiphers
        default: []
        }
    }
}

extension Format.Field {
    /// True if the field is encrypted with a tag, at least for some ciphers: then a reader detects a change.
    var hasTag: Bool { sealed.map { $0.cipher.expression.tagByteCount != .integer(0) } ?? false }
}

extension Formula {
    /// Refuses bytes that do not have their field's length.
    func check(_ bytes: ByteString, count: Int, in format: String) throws(DecryptionError) {
        guard bytes.count != count else { return }
        throw failure(EvaluationFailure("\(bytes.count) bytes: expected \(count)"), in: format)
    }
}

extension ByteString {
    /// Returns random bytes, and leaves no copy elsewhere: they may include a key.
    static func drawn(_ count: Int, _ random: (Int) -> [UInt8]) -> ByteString {
        var bytes = random(count)
        defer { bytes.withUnsafeMutableBytes { eraseBytes($0) } }
        return ByteString(bytes)
    }
}
