package import RandomAccess

/// A ciphertext that a user names, and may take for another one than it is.
///
/// CBC and CTR make plaintext of any bytes. What is known not to be theirs is refused, unless the user says that it is.
package enum GivenCiphertext {
    /// Opens a ciphertext.
    ///
    /// - Parameters:
    ///   - source: Its bytes.
    ///   - strategy: What the user says that it is.
    ///   - isAsSaid: Whether the user knows better than the first bytes.
    ///   - open: Opens it.
    /// - Returns: What `open` returns.
    /// - Throws: `GivenCiphertextError`; what `open` throws.
    package static func open<Object>(
        _ source: any ByteSource, _ strategy: Strategy, isAsSaid: Bool,
        _ open: () throws(DecryptionError) -> Object
    ) throws(DecryptionError) -> Object {
        // Authenticated chunks have headers of their own.
        if !isAsSaid, strategy.chunkFormat == nil { try requireStart(of: source) }
        return try open()
    }

    /// Source: OpenSSL's `apps/enc.c`, `magic`.
    private static let saltedMark = Array("Salted__".utf8)

    private static func requireStart(of source: any ByteSource) throws(DecryptionError) {
        let count = Int(min(source.byteCount, UInt64(saltedMark.count)))
        let start = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { start.deallocate() }
        try source.fetch(at: 0, into: start)
        if start.elementsEqual(saltedMark) { throw .layer(AnyLayerError(GivenCiphertextError.salted)) }
    }
}

/// Why a ciphertext is none as it was named.
package enum GivenCiphertextError: LayerError {
    /// It begins as `openssl enc` with a password begins it: with `Salted__` and 8 bytes of salt.
    case salted

    /// What was found, what was expected, and how to read it.
    package var description: String {
        switch self {
        case .salted:
            "the file begins with \"Salted__\" and a salt, as openssl enc with a password writes it: expected ciphertext "
                + "from the first byte on (tail -c +17 cuts both off, openssl enc -d -P shows key and IV), or --as-is"
        }
    }

    /// The error's name in the subject protocol.
    package var protocolName: String { "invalidRequest" }
}
