import ByteSources
package import RandomAccess

/// An object of the strategy `film`, apart from its bytes and its key.
package struct FilmObject: Hashable, Sendable {
    /// The strategy's name in files and in the subject protocol.
    package static let strategyName = ListStrategy.film.rawValue

    /// The list of samples in JSON; `nil` for a film whose boxes tell.
    package let samples: String?

    package init(samples: String?) { self.samples = samples }

    /// Says whether a backend has the ciphers of all schemes.
    package static func isRead(by backend: any CipherBackend) -> Bool {
        [.aesCBC, .aesCTR].allSatisfy { backend.supports($0, keyByteCount: 16) }
    }

    /// Opens a film with our reader. What is wrong is found in the protocol's order.
    package func open(
        key: SecretKey, backend: any CipherBackend, source: () throws(DecryptionError) -> any ByteSource
    ) throws(DecryptionError) -> OpenPiece {
        let list = try samples.map { (text) throws(DecryptionError) in try ProtectedExtents(list: Array(text.utf8)) }
        guard ProtectedExtents.keyByteCounts.contains(key.byteCount) else {
            throw .invalidKey(byteCount: key.byteCount)
        }
        let source = try source()
        let extents = if let list { list } else { try ProtectedExtents(film: source) }
        return try OpenPiece(PiecePlace(0..<source.byteCount, extents), of: source, backend: backend, keys: .one(key))
    }
}

extension VectorGroup {
    /// A group of a film, of which `strategy` is never used.
    package init(
        id: String, source: String = "generated", flags: [VectorFlag], film: FilmObject, key: SecretKey,
        ciphertext: [UInt8], plaintext: [UInt8] = [], error: ErrorName? = nil, patterns: [ReadPattern] = []
    ) {
        self.init(
            id: id, source: source, flags: flags, strategy: .whole(.aesCBC, iv: Block(bigEndianValue: 0)), key: key,
            ciphertext: MemorySource(ciphertext), plaintext: GroupPlaintext(plaintext), error: error,
            patterns: patterns)
        list = .film(film)
    }
}
