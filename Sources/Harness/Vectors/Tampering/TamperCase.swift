import RandomAccess

/// One tampering of one object.
package struct TamperCase: Sendable {
    /// The kind of change.
    package let kind: TamperKind
    /// The location in words, such as `middle chunk, last block, first byte`.
    package let location: String
    /// The changed content, which always differs from the original.
    package let content: TamperContent
    /// The errors of which opening must report one; empty if the object still opens.
    ///
    /// - Source: PROTOCOL.md, "open": lengths that no plaintext has, padding, commitment and last chunk.
    package let openingErrors: [ErrorName]
    /// True if a reader of the whole object must notice the change, as the oracle does.
    package let isNoticed: Bool
    /// The plaintext offsets of the first and the last changed ciphertext byte.
    package let touched: [Int]

    /// The case's name in results.
    package var name: String { "\(kind.rawValue): \(location)" }
}

/// A kind of change to a ciphertext that its writer did not make.
package enum TamperKind: String, CaseIterable, Codable, Hashable, Sendable {
    /// Bytes are missing, at the end or before it.
    case truncate
    /// Bytes are added after the end.
    case extend
    /// A bit is changed.
    case flip
    /// Two parts are exchanged.
    case swap
    /// A part is repeated, next to itself or instead of another.
    case `repeat`
    /// A part is from another object with the same key.
    case splice
    /// The header is changed, or the IV if there is no header.
    case header
}

/// A ciphertext by its parts, original or tampered with.
package struct TamperContent: Hashable, Sendable {
    /// The bytes before the first chunk; empty if the format has no header.
    package var header = TamperedBytes()
    /// Each chunk's ciphertext with its padding or tag; or each file, if the parts of a format are separate files.
    package var chunks: [TamperedBytes]
    /// The index of the IV byte whose lowest bit is flipped. For a playlist, any index means that the media sequence
    /// number is one higher.
    package var damagedIVByte: Int?

    /// The concatenation of header and chunks.
    package var bytes: [UInt8] { joined.bytes }

    /// The concatenation of header and chunks.
    var joined: TamperedBytes { chunks.reduce(header, +) }

    /// Removes all bytes from `count` on.
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
