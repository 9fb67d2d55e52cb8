import RandomAccess

/// One tampering of one object.
package struct TamperCase: Sendable {
    /// What is done.
    package let kind: TamperKind
    /// Where, in words, such as `middle chunk, last block, first byte`.
    package let location: String
    /// What comes of it; never what was there before.
    package let content: TamperContent
    /// The errors, one of which opening must end with; empty where the object opens all the same.
    ///
    /// - Source: PROTOCOL.md, "open": lengths that no plaintext has, padding, commitment and last chunk.
    package let openingErrors: [ErrorName]
    /// Says whether who reads all of it has to notice, as the oracle does.
    package let isNoticed: Bool
    /// The plaintext offsets of the first and the last ciphertext byte that is another one.
    package let touched: [Int]

    /// The case's name in results.
    package var name: String { "\(kind.rawValue): \(location)" }
}

/// What is done to a ciphertext behind its writer's back.
package enum TamperKind: String, CaseIterable, Codable, Hashable, Sendable {
    /// Something is missing, at the end or before it.
    case truncate
    /// Something stands behind the end.
    case extend
    /// A bit is another one.
    case flip
    /// Two parts stand in each other's stead.
    case swap
    /// A part stands there twice, beside or instead of another.
    case `repeat`
    /// A part is from another object with the same key.
    case splice
    /// The header, or the IV where that stands for one, is another one.
    case header
}

/// A ciphertext by its parts, whole or tampered with.
package struct TamperContent: Hashable, Sendable {
    /// What stands before the first chunk; empty where the format has no header.
    package var header = TamperedBytes()
    /// Each chunk's ciphertext, padding or tag included; where a format's parts are files of their own, each file's.
    package var chunks: [TamperedBytes]
    /// The byte of the IV whose lowest bit is flipped; for a playlist, any number stands for a media sequence number
    /// that is one more.
    package var damagedIVByte: Int?

    /// Header and chunks in a row.
    package var bytes: [UInt8] { joined.bytes }

    /// Header and chunks in a row.
    var joined: TamperedBytes { chunks.reduce(header, +) }

    /// Leaves out all behind so many bytes.
    mutating func cut(to count: Int) {
        var rest = count
        func first(_ part: TamperedBytes) -> TamperedBytes {
            let part = part.prefix(rest)
            rest -= part.count
            return part
        }
        header = first(header)
        chunks = chunks.map(first)
    }
}
