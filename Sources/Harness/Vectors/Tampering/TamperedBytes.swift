/// A ciphertext or a part of one, made from pieces of others; the lowest bit of some bytes is flipped.
package struct TamperedBytes: Sendable {
    /// The origin of a piece.
    enum Origin: Hashable, Sendable {
        case original
        /// Another object, of the same strategy, key and length.
        case other
        case zeros
    }

    private struct Piece: Sendable {
        let origin: Origin
        /// The bytes. Their indices are offsets in the origin.
        var bytes: ArraySlice<UInt8>
        /// True if this is a single byte whose lowest bit is flipped.
        var isFlipped = false
    }

    private var pieces: [Piece]

    /// All bytes of an origin.
    init(_ bytes: [UInt8] = [], of origin: Origin = .original) {
        pieces = bytes.isEmpty ? [] : [Piece(origin: origin, bytes: bytes[...])]
    }

    /// Returns `count` zeros.
    static func zeros(_ count: Int) -> TamperedBytes {
        TamperedBytes([UInt8](repeating: 0, count: count), of: .zeros)
    }

    /// The number of bytes.
    package var count: Int { pieces.reduce(0) { $0 + $1.bytes.count } }

    /// True if there are no bytes.
    package var isEmpty: Bool { pieces.isEmpty }

    /// The bytes.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for piece in pieces { bytes += piece.isFlipped ? [piece.bytes[piece.bytes.startIndex] ^ 1] : piece.bytes }
        return bytes
    }

    /// Returns some of the bytes.
    subscript(range: Range<Int>) -> TamperedBytes {
        var (part, start) = (TamperedBytes(), 0)
        for piece in pieces {
            let wanted = range.clamped(to: start..<start + piece.bytes.count)
            if !wanted.isEmpty {
                var cut = piece
                cut.bytes = piece.bytes.dropFirst(wanted.lowerBound - start).prefix(wanted.count)
                part.pieces.append(cut)
            }
            start += piece.bytes.count
        }
        return part
    }

    /// Returns the first `count` bytes, or all if there are fewer.
    func prefix(_ count: Int) -> TamperedBytes { self[0..<min(count, self.count)] }

    /// Returns the last `count` bytes, or all if there are fewer.
    func suffix(_ count: Int) -> TamperedBytes { self[max(0, self.count - count)..<self.count] }

    /// Replaces some bytes by others.
    mutating func replaceSubrange(_ range: Range<Int>, with others: TamperedBytes) {
        self = self[0..<range.lowerBound] + others + self[range.upperBound..<count]
    }

    /// Flips the lowest bit of a byte.
    mutating func flip(_ index: Int) {
        var byte = self[index..<index + 1]
        byte.pieces[0].isFlipped.toggle()
        replaceSubrange(index..<index + 1, with: byte)
    }

    static func + (left: TamperedBytes, right: TamperedBytes) -> TamperedBytes {
        var sum = left
        sum.pieces += right.pieces
        return sum
    }

    static func += (left: inout TamperedBytes, right: TamperedBytes) { left = left + right }

    /// Returns the edits of a generated object that produce these bytes. The other object's seed is `otherSeed`.
    func edits(otherSeed: UInt64) -> CiphertextEdits {
        var (edited, flips, offset) = ([CiphertextEdits.Piece](), [UInt64](), UInt64(0))
        for piece in pieces {
            let range = UInt64(piece.bytes.startIndex)..<UInt64(piece.bytes.endIndex)
            if piece.isFlipped { flips.append(offset) }
            offset += UInt64(range.count)
            let origin: CiphertextEdits.Origin =
                switch piece.origin {
                case .original: .object
                case .other: .another(seed: otherSeed)
                case .zeros: .zeros
                }
            if let last = edited.last, last.origin == origin, last.range.upperBound == range.lowerBound {
                edited[edited.count - 1] = .init(last.range.lowerBound..<range.upperBound, origin)
            } else {
                edited.append(.init(range, origin))
            }
        }
        return CiphertextEdits(pieces: edited.isEmpty ? [.init(0..<0)] : edited, flips: flips)
    }
}

extension TamperedBytes: Hashable {
    /// Returns whether both have the same bytes, no matter where they come from.
    package static func == (left: TamperedBytes, right: TamperedBytes) -> Bool {
        left.count == right.count && left.bytes == right.bytes
    }

    package func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
}
