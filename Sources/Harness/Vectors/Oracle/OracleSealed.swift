import RandomAccess

/// An encrypted field of a header or a trailer, as the oracle reads and writes it.
struct OracleSealed {
    private let sealed: Format.Field.Sealed
    private let cipher: OracleCipher
    private let nonce: [UInt8]
    private let associatedData: [UInt8]

    /// Finds the cipher, its key and the nonce.
    ///
    /// - Throws: `DecryptionError.unsupported`, `.invalidIV`, `.invalidKey`, `.invalidParameter`.
    init(_ sealed: Format.Field.Sealed, _ known: OracleEvaluator) throws(DecryptionError) {
        self.sealed = sealed
        cipher = try OracleCipher(try known.bytes(sealed.cipher), key: try known.bytes(sealed.key))
        nonce = try known.bytes(sealed.nonce)
        guard cipher.takes(nonce: nonce) else { throw .invalidIV(byteCount: nonce.count) }
        associatedData =
            try sealed.associatedData.map { formula throws(DecryptionError) in try known.bytes(formula) } ?? []
    }

    /// Returns the fields of the plaintext, and whether the tag matches the bytes.
    func opened(
        _ bytes: [UInt8], _ known: OracleEvaluator
    ) throws(DecryptionError) -> (fields: [(name: String, bytes: [UInt8])], isAuthentic: Bool) {
        let tagByteCount = cipher.isAuthenticated ? 16 : 0
        guard bytes.count >= tagByteCount else { throw .headerRejected(expected: "a tag") }
        let ciphertext = Array(bytes.dropLast(tagByteCount))
        // Extends the last block to its full length.
        var plaintext = ciphertext + [UInt8](repeating: 0, count: (16 - ciphertext.count % 16) % 16)
        plaintext.withUnsafeMutableBytes { cipher.decrypt($0, at: 0, nonce: nonce, of: UInt64(ciphertext.count)) }
        var (fields, offset) = ([(name: String, bytes: [UInt8])](), 0)
        for field in sealed.holds {
            let count = Int(try known.number(field.byteCount))
            guard (0...ciphertext.count - offset).contains(count) else { throw .headerRejected(expected: field.name) }
            fields.append((field.name, Array(plaintext[offset..<offset + count])))
            offset += count
        }
        let tag = cipher.tag(ciphertext, nonce: nonce, associatedData: associatedData)
        return (fields, tag == Array(bytes.suffix(tagByteCount)))
    }

    /// Returns the stored bytes of a plaintext.
    func bytes(of plaintext: [UInt8]) -> [UInt8] {
        let (ciphertext, tag) = cipher.seal(plaintext, nonce: nonce, associatedData: associatedData)
        return ciphertext + tag
    }
}

extension OracleEvaluator {
    /// Opens the encrypted fields of which everything is known, and adds the names of the fields in them.
    ///
    /// - Parameters:
    ///   - fields: The fields that are still closed; opened ones are removed.
    ///   - isChecked: True to reject a wrong tag.
    /// - Throws: `DecryptionError.unsupported`, `.invalidIV`, `.invalidKey`; the field's own error for a wrong tag.
    mutating func open(_ fields: inout [Format.Field], isChecked: Bool) throws(DecryptionError) {
        while let index = fields.firstIndex(where: { $0.sealed?.formulas.allSatisfy(knows) ?? true }) {
            let field = fields.remove(at: index)
            guard let sealed = field.sealed, let bytes = names[field.name]?.bytes?.array else { continue }
            let (held, isAuthentic) = try OracleSealed(sealed, self).opened(bytes, self)
            guard isAuthentic || !isChecked else { throw OracleObject.error(field.error, "\"\(field.name)\"") }
            for (name, bytes) in held { names[name] = .bytes(ByteString(bytes)) }
        }
    }

    /// Returns the bytes of an encrypted field as a writer makes them, with known values for its random fields.
    func sealedBytes(_ sealed: Format.Field.Sealed) throws(DecryptionError) -> [UInt8] {
        var plaintext: [UInt8] = []
        for field in sealed.holds {
            if let content = field.content.first {
                plaintext += try bytes(content)
            } else {
                plaintext += names[field.name]?.bytes?.array ?? []
            }
        }
        return try OracleSealed(sealed, self).bytes(of: plaintext)
    }
}
