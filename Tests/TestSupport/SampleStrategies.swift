package import RandomAccess

/// The rule by which the chunks of a chunked CBC format get their IVs.
package enum IVRule: String, CaseIterable, Hashable, Sendable {
    /// Every chunk starts from the same IV.
    case fixed
    /// Chunk *k* starts from the IV plus *k*, a 128-bit big-endian sum modulo 2¹²⁸.
    case sequence
}

/// A format of authenticated chunks, as tests of its own know it by heart.
package enum ChunkFormat: Hashable, Sendable {
    /// Source: c2sp.org/chunked-encryption.
    case cobblestone(keyByteCount: Int, context: [UInt8])
    /// Source: Tink's documentation, "Streaming AEAD: AES-GCM-HKDF".
    case tinkAESGCMHKDF(associatedData: [UInt8], segmentByteCount: UInt64, derivedKeyByteCount: Int)

    /// The length of a chunk's tag in bytes.
    package static let tagByteCount = 16

    /// The format's name.
    package var name: String {
        switch self {
        case .cobblestone(let keyByteCount, _): keyByteCount == 32 ? "cobblestone-256" : "cobblestone-128"
        case .tinkAESGCMHKDF: "tink-aes-gcm-hkdf"
        }
    }

    /// The bytes before the first chunk.
    package var headerByteCount: Int {
        switch self {
        case .cobblestone: 24 + 32
        case .tinkAESGCMHKDF(_, _, let derivedKeyByteCount): 1 + derivedKeyByteCount + 7
        }
    }

    /// The length of the AES key that chunks are encrypted with, in bytes.
    package var cipherKeyByteCount: Int {
        switch self {
        case .cobblestone(let keyByteCount, _): keyByteCount
        case .tinkAESGCMHKDF(_, _, let derivedKeyByteCount): derivedKeyByteCount
        }
    }

    /// The ciphertext bytes of a full chunk, tag included.
    package var chunkCiphertextByteCount: UInt64 {
        switch self {
        case .cobblestone: (16 << 10) + UInt64(Self.tagByteCount)
        case .tinkAESGCMHKDF(_, let segmentByteCount, _): segmentByteCount
        }
    }

    /// The plaintext bytes of a full chunk.
    package var chunkByteCount: UInt64 { chunkCiphertextByteCount - UInt64(Self.tagByteCount) }
}

/// A strategy as tests know it by heart.
package enum KnownStrategy: Hashable, Sendable {
    case cbcContinuous(iv: Block, padding: Padding)
    case cbcChunked(chunkByteCount: UInt64, iv: Block, ivRule: IVRule, padding: Padding)
    case ctr(iv: Block)
    case chunked(ChunkFormat)
}

extension Strategy {
    /// One CBC chain over the whole file.
    package static func cbcContinuous(iv: Block, padding: Padding) -> Strategy {
        known("cbc-continuous", ["iv": .block(iv), "padding": .text(padding.rawValue)])
    }

    /// A CBC chain for each chunk of `chunkByteCount` plaintext bytes.
    package static func cbcChunked(
        chunkByteCount: UInt64, iv: Block, ivRule: IVRule, padding: Padding
    ) -> Strategy {
        known(
            "cbc-chunked",
            [
                "iv": .block(iv), "padding": .text(padding.rawValue), "ivRule": .text(ivRule.rawValue),
                "chunkByteCount": .integer(Int128(chunkByteCount)),
            ])
    }

    /// Counter mode over the whole file; `iv` is the initial counter block.
    package static func ctr(iv: Block) -> Strategy { known("ctr", ["iv": .block(iv)]) }

    /// Chunks that are each encrypted and authenticated.
    package static func chunked(_ format: ChunkFormat) -> Strategy {
        switch format {
        case .cobblestone(_, let context): known(format.name, ["context": .bytes(ByteString(context))])
        case .tinkAESGCMHKDF(let associatedData, let segmentByteCount, let derivedKeyByteCount):
            known(
                format.name,
                [
                    "associatedData": .bytes(ByteString(associatedData)),
                    "segmentByteCount": .integer(Int128(segmentByteCount)),
                    "derivedKeyByteCount": .integer(Int128(derivedKeyByteCount)),
                ])
        }
    }

    private static func known(_ name: String, _ values: [String: Value]) -> Strategy {
        guard let format = try? Format.named(name) else {
            preconditionFailure("\(name) comes with the program")
        }
        return Strategy(format, values)
    }

    /// The strategy as it is known by heart; `nil` for any other.
    package var known: KnownStrategy? {
        let iv = iv
        switch name {
        case "cbc-continuous": return .cbcContinuous(iv: iv, padding: padding ?? .pkcs7)
        case "cbc-chunked":
            return .cbcChunked(
                chunkByteCount: number("chunkByteCount"), iv: iv,
                ivRule: self["ivRule"]?.bytes?.text.flatMap(IVRule.init(rawValue:)) ?? .sequence,
                padding: padding ?? .pkcs7)
        case "ctr": return .ctr(iv: iv)
        default: return chunkFormat.map(KnownStrategy.chunked)
        }
    }

    /// The format of authenticated chunks as it is known by heart; `nil` for any other.
    package var chunkFormat: ChunkFormat? {
        switch name {
        case "cobblestone-128", "cobblestone-256":
            .cobblestone(
                keyByteCount: name == "cobblestone-128" ? 16 : 32, context: self["context"]?.bytes?.array ?? [])
        case "tink-aes-gcm-hkdf":
            .tinkAESGCMHKDF(
                associatedData: self["associatedData"]?.bytes?.array ?? [],
                segmentByteCount: number("segmentByteCount"), derivedKeyByteCount: Int(number("derivedKeyByteCount")))
        default: nil
        }
    }

    private func number(_ name: String) -> UInt64 {
        guard case .integer(let value)? = self[name] else { return 0 }
        return UInt64(clamping: value)
    }
}
