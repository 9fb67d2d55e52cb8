import ByteSources
package import RandomAccess

/// Changes to a ciphertext that its writer did not make. It is cut into pieces that are put together in another way,
/// and bits of the result are flipped.
package struct CiphertextEdits: Hashable, Sendable {
    /// The origin of a part.
    package enum Origin: Hashable, Sendable {
        /// The group's object.
        case object
        /// The generated object with this seed, and the same strategy, key and length.
        case another(seed: UInt64)
        /// Zeros.
        case zeros
    }

    /// A part of a ciphertext.
    package struct Piece: Hashable, Sendable {
        /// The range of bytes in the origin.
        package let range: Range<UInt64>
        package let origin: Origin

        init(_ range: Range<UInt64>, _ origin: Origin = .object) {
            self.range = range
            self.origin = origin
        }
    }

    /// The parts, in order.
    package let pieces: [Piece]
    /// The offsets in the result at which the lowest bit of a byte is flipped.
    package var flips: [UInt64] = []

    /// Returns the edited ciphertext.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a piece or a flip beyond the end.
    package func apply(to object: GeneratedObject) throws(DecryptionError) -> any ByteSource {
        var parts: [(source: any ByteSource, range: Range<UInt64>)] = []
        var byteCount: UInt64 = 0
        for piece in pieces {
            var source = object.source
            switch piece.origin {
            case .object: break
            case .zeros: source = Zeros(byteCount: piece.range.upperBound)
            case .another(let seed):
                source = try GeneratedObject(
                    strategy: object.strategy, key: object.key, plaintextByteCount: object.plaintextByteCount,
                    seed: seed
                ).source
            }
            guard piece.range.upperBound <= source.byteCount else {
                throw .invalidParameter(
                    name: "piece", value: "\(piece.range)", expected: "a part of \(source.byteCount) bytes")
            }
            // Each piece lies within the ciphertext of an object of at most 2⁶² bytes.
            byteCount += piece.range.upperBound - piece.range.lowerBound
            guard byteCount <= SourceLength.max else {
                throw .invalidParameter(
                    name: "pieces", value: "of \(byteCount) bytes and more together",
                    expected: "at most \(SourceLength.max) bytes")
            }
            parts.append((source, piece.range))
        }
        let edited = EditedSource(parts: parts, byteCount: byteCount, flips: flips)
        guard flips.allSatisfy({ $0 < edited.byteCount }) else {
            throw .invalidParameter(name: "flips", value: "\(flips)", expected: "offsets in \(edited.byteCount) bytes")
        }
        return edited
    }
}

/// A source of zeros.
struct Zeros: ByteSource {
    let byteCount: UInt64

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let rest = buffers.prefix(Int(min(UInt64(buffers.byteCount), byteCount - offset)))
        rest.forEach { _, buffer in buffer.initializeMemory(as: UInt8.self, repeating: 0) }
        return rest.byteCount
    }
}

/// Parts of sources, one after the other, with flipped bits.
private struct EditedSource: ByteSource {
    let parts: [(source: any ByteSource, range: Range<UInt64>)]
    let byteCount: UInt64
    let flips: [UInt64]

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        var start: UInt64 = 0
        for part in parts {
            let end = start + UInt64(part.range.count)
            if offset < end {
                let inPart = part.range.lowerBound + offset - start
                let rest = buffers.prefix(Int(min(UInt64(buffers.byteCount), end - offset)))
                let count = try part.source.read(at: inPart, into: rest)
                rest.prefix(count).forEach { start, buffer in
                    for flip in flips where flip >= offset + UInt64(start) {
                        let index = Int(flip - offset) - start
                        if index < buffer.count { buffer[index] ^= 1 }
                    }
                }
                return count
            }
            start = end
        }
        return 0
    }
}

/// The rule that generates a ciphertext that no file holds.
package enum CiphertextRule: Sendable {
    /// The rule of ``GeneratedObject``.
    case generated(GeneratedObject)
    /// The same, then tampered with.
    case edited(GeneratedObject, CiphertextEdits)
    /// The rule of ``RepeatedObject``.
    case repeated(RepeatedObject)
    /// The thousand blocks that a step of ``MonteCarlo`` decrypts. The first of them is given.
    case monteCarlo(firstBlock: Block)
}
