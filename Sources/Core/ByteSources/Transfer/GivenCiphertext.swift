package import RandomAccess
import Support

/// A ciphertext that the user may have named wrongly.
///
/// CBC and CTR turn any bytes into plaintext. So known signs of other content are an error, unless the user insists. If
/// the end shows the mistake, the error suggests what the file may be.
package enum GivenCiphertext {
    /// Opens a ciphertext.
    ///
    /// - Parameters:
    ///   - source: The ciphertext's bytes.
    ///   - strategy: The strategy that the user named.
    ///   - isAsSaid: True to trust the user rather than the first bytes.
    ///   - open: Opens the ciphertext.
    /// - Returns: The result of `open`.
    /// - Throws: `GivenCiphertextError`; the errors of `open`.
    package static func open<Object>(
        _ source: any ByteSource, _ strategy: Strategy, isAsSaid: Bool,
        _ open: () throws(DecryptionError) -> Object
    ) throws(DecryptionError) -> Object {
        // Tags and headers detect a wrong file by themselves.
        guard !strategy.isAuthenticated, strategy.format.isCiphertextAlone else { return try open() }
        let (source, strategy) = try strategy.inner(of: source)
        if !isAsSaid { try requireStart(of: source, strategy) }
        do throws(DecryptionError) {
            return try open()
        } catch {
            guard let hint = hint(for: error, strategy, byteCount: source.byteCount) else { throw error }
            throw .layer(AnyLayerError(GivenCiphertextError.unlikely(error, hint: hint)))
        }
    }

    /// The mark of `openssl enc` with a password. Source: OpenSSL's `apps/enc.c`, `magic`.
    private static let saltedMark = Array("Salted__".utf8)

    /// Refuses a file that begins as the output of `openssl enc` with a password. Its IV follows from that password.
    ///
    /// - Throws: `GivenCiphertextError.salted`; `DecryptionError.io`.
    package static func requireNoSalt(_ source: any ByteSource) throws(DecryptionError) {
        let start = try IVFile.firstBytes(of: source, atMost: saltedMark.count)
        if start == saltedMark { throw .layer(AnyLayerError(GivenCiphertextError.salted)) }
    }

    private static func requireStart(
        of source: any ByteSource, _ strategy: Strategy
    ) throws(DecryptionError) {
        let count = Int(min(source.byteCount, 64))
        let start = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
        defer { start.deallocate() }
        start.initializeMemory(as: UInt8.self, repeating: 0)
        try source.fetch(at: 0, into: UnsafeMutableRawBufferPointer(rebasing: start[..<count]))
        if start.starts(with: saltedMark) { throw .layer(AnyLayerError(GivenCiphertextError.salted)) }
        // One in five million ciphertexts of 16 bytes is text by chance; a longer one practically never is.
        if count >= 16, PlainText.isASCII(UnsafeRawBufferPointer(rebasing: start[..<count])) {
            throw .layer(AnyLayerError(GivenCiphertextError.text))
        }
        let first = Block(loadingFrom: UnsafeRawBufferPointer(start)).bigEndianValue
        if let error = ivInFront(first, strategy, iv: strategy.iv.bigEndianValue) {
            throw .layer(AnyLayerError(error))
        }
    }

    /// Returns an error if the first 16 bytes are the IV or, in CTR, its nonce with a counter behind it.
    private static func ivInFront(_ first: UInt128, _ strategy: Strategy, iv: UInt128) -> GivenCiphertextError? {
        let rest: GivenCiphertextError.Rest =
            if strategy.chunkByteCount != nil {
                .copy
            } else {
                strategy.cipher == .aesCBC ? .chain : .counter(Block(bigEndianValue: iv &- 1))
            }
        // An IV of zeros proves nothing: files with holes begin with zeros.
        if first == iv, iv != 0 { return .ivInFront(byteCount: 16, rest) }
        // A user decrements the IV to skip the first block, which is the IV itself.
        guard strategy.cipher == .aesCTR, first &- iv > 255 else { return nil }
        let (nonce, counter) = (iv >> 32, UInt32(truncatingIfNeeded: iv))
        if nonce != 0, counter < 3, first >> 32 == nonce {
            return .ivInFront(byteCount: 12, counter == 2 ? .tagged : .copy)
        }
        if iv >> 64 != 0, UInt64(truncatingIfNeeded: iv) == 0, first >> 64 == iv >> 64 {
            return .ivInFront(byteCount: 8, .copy)
        }
        return nil
    }

    /// Returns a guess at a ciphertext whose length or end is impossible for CBC.
    private static func hint(for error: DecryptionError, _ strategy: Strategy, byteCount: UInt64) -> String? {
        switch error {
        case .truncatedCiphertext where strategy.padding != nil && byteCount % 16 != 0:
            let rest = byteCount % 16
            let known = rest == 10 ? ", as WhatsApp's media have" : rest == 4 ? ", or -20 of HMAC-SHA-1" : ""
            return
                "\(rest) byte\(rest == 1 ? "" : "s") too many may be a nonce or header in front, which tail -c "
                + "+\(rest + 1) cuts off, or a MAC behind, which head -c -\(rest) does\(known); and CTR has any length "
                + "(--strategy ctr)"
        case .invalidPadding where strategy.padding == .pkcs7:
            return
                "another padding or none is read with the parameter padding=none, and a MAC behind is cut off by head "
                + "-c -32 (HMAC-SHA-256; -16, -48 or -64 for others)"
        default: return nil
        }
    }
}

extension Format {
    /// True if an object consists of its chunks only, without header and trailer.
    fileprivate var isCiphertextAlone: Bool { self.header.isEmpty && self.start == nil && self.trailer == nil }
}

/// The signs that a file is not the ciphertext that the user named.
package enum GivenCiphertextError: LayerError {
    /// The file begins as the output of `openssl enc` with a password: with `Salted__` and 8 bytes of salt.
    case salted
    /// The file begins with text, as ciphertext in Base64 or hexadecimal does.
    case text
    /// The file begins with its IV, or with the part of the IV before the counter.
    case ivInFront(byteCount: Int, Rest)
    /// The file cannot be opened, and the hint says what it may be.
    indirect case unlikely(DecryptionError, hint: String)

    /// The way to read the ciphertext behind an IV.
    package enum Rest: Hashable, Sendable {
        /// Without a copy: the IV is the first block of a chain.
        case chain
        /// Without a copy: the IV is a block of a stream that begins with this counter.
        case counter(Block)
        /// Only from a copy.
        case copy
        /// Only from a copy without the tag of GCM, whose data begin with the counter 2. Source: NIST SP 800-38D,
        /// section 7.1.
        case tagged
    }

    /// The finding, the expectation, and a command that reads the file.
    package var description: String {
        switch self {
        case .salted:
            "the file begins with \"Salted__\" and a salt, as openssl enc with a password writes it: expected "
                + "ciphertext from the first byte on (chunkwise key openssl derives key and IV, tail -c +17 cuts off "
                + "mark and salt), or --as-is"
        case .text:
            "the file begins with text: expected ciphertext (base64 -d decodes Base64, as openssl enc -a writes it, "
                + "and xxd -r -p hexadecimal digits), or --as-is"
        case .ivInFront(let byteCount, let rest):
            "the file begins with \(byteCount == 16 ? "its IV" : "\(byteCount) bytes of its IV"): expected ciphertext "
                + "from the first byte on (tail -c +\(byteCount + 1) cuts it off\(Self.way(rest))), or --as-is"
        case .unlikely(let error, let hint):
            "\(error); \(hint)"
        }
    }

    private static func way(_ rest: Rest) -> String {
        switch rest {
        case .chain: ", --range 16- with --iv \(String(repeating: "0", count: 32)) reads past it"
        case .counter(let block): ", --range 16- with --iv \(block.hexadecimal) reads past it"
        case .copy: ""
        case .tagged: ", and head -c -16 the tag behind, if it is of AES-GCM"
        }
    }

    /// The error's name in the subject protocol.
    package var protocolName: String {
        if case .unlikely(let error, _) = self { error.protocolName } else { "invalidRequest" }
    }
}
