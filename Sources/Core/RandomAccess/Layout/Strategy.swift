/// What the last block of a CBC chain is filled up with.
public enum Padding: String, CaseIterable, Hashable, Sendable {
    /// 1 to 16 bytes, each of which holds their number. Source: RFC 5652, section 6.3.
    case pkcs7
    /// Nothing: only whole blocks can be held.
    case none
}

/// How the chunks of `cbc-chunked` get their IVs.
public enum IVRule: String, CaseIterable, Hashable, Sendable {
    /// Every chunk starts from the same IV.
    case fixed
    /// Chunk *k* starts from the IV plus *k*, a 128-bit big-endian sum modulo 2¹²⁸.
    case sequence
}

/// How a plaintext becomes ciphertext that can be read from the middle.
public enum Strategy: Hashable, Sendable {
    /// One CBC chain over the whole file.
    case cbcContinuous(iv: Block, padding: Padding)
    /// A CBC chain for each chunk of `chunkByteCount` plaintext bytes (a multiple of 16), each padded where `padding`
    /// says so.
    case cbcChunked(chunkByteCount: UInt64, iv: Block, ivRule: IVRule, padding: Padding)
    /// Counter mode over the whole file; `iv` is the initial counter block.
    case ctr(iv: Block)
    /// Chunks that are each encrypted and authenticated.
    case chunked(ChunkFormat)

    /// The names of all strategies, as they are written on the command line and in the subject protocol.
    public static let names = [
        "cbc-continuous", "cbc-chunked", "ctr", "cobblestone-128", "cobblestone-256", "tink-aes-gcm-hkdf",
    ]

    /// The strategy's name.
    public var name: String {
        switch self {
        case .cbcContinuous: "cbc-continuous"
        case .cbcChunked: "cbc-chunked"
        case .ctr: "ctr"
        case .chunked(let format): format.name
        }
    }

    /// The cipher that the strategy needs of a backend.
    public var cipher: Cipher {
        switch self {
        case .cbcContinuous, .cbcChunked: .aesCBC
        case .ctr: .aesCTR
        case .chunked: .aesGCM
        }
    }

    /// The cipher that a strategy of a name needs; of one that is unknown, any.
    package static func cipher(ofName name: String) -> Cipher {
        switch name {
        case "ctr": .aesCTR
        case "cbc-continuous", "cbc-chunked": .aesCBC
        default: .aesGCM
        }
    }

    /// The plaintext bytes of a full chunk, or `nil` where the whole file is one chunk.
    public var chunkByteCount: UInt64? {
        switch self {
        case .cbcContinuous, .ctr: nil
        case .cbcChunked(let chunkByteCount, _, _, _): chunkByteCount
        case .chunked(let format): format.chunkByteCount
        }
    }

    /// The format of chunks that are authenticated, or `nil` where nothing is.
    public var chunkFormat: ChunkFormat? {
        if case .chunked(let format) = self { format } else { nil }
    }

    /// The padding, or `nil` where the mode needs none.
    public var padding: Padding? {
        switch self {
        case .cbcContinuous(_, let padding), .cbcChunked(_, _, _, let padding): padding
        case .ctr, .chunked: nil
        }
    }

    /// Checks what the types do not: that the chunk length is one that the format knows.
    ///
    /// - Throws: `DecryptionError.invalidParameter`.
    public func validate() throws(DecryptionError) {
        if let chunkFormat { return try chunkFormat.validate() }
        guard let chunkByteCount else { return }
        // Far above any file, far below where sums of two lengths would overflow.
        guard chunkByteCount > 0, chunkByteCount % 16 == 0, chunkByteCount <= 1 << 62 else {
            throw .invalidParameter(
                name: "chunk length", value: "\(chunkByteCount)", expected: "a positive multiple of 16 bytes")
        }
    }
}
