import ByteSources
import RandomAccess
import Support
import Vectors

/// Describes what is wrong with delivered bytes, and where they may come from.
struct WrongBytes {
    let group: VectorGroup
    let offset: UInt64
    let expectedByteCount: Int
    /// The bytes that a vector lists, or `nil` for those of the group's plaintext.
    let listed: [UInt8]?

    /// Returns what is wrong, or `nil`.
    ///
    /// - Throws: `DecryptionError` if the vector's own source fails.
    func mismatch(in delivered: [UInt8]) throws(DecryptionError) -> String? {
        let index = try firstWrongIndex(delivered)
        var parts: [String] = []
        if delivered.count != expectedByteCount {
            parts.append("\(delivered.count) bytes delivered: expected \(expectedByteCount)")
            if index == nil { parts += [try lengthGuess(delivered)].compactMap { $0 } }
        }
        if let index {
            let part = index..<min(index + 8, delivered.count, expectedByteCount)
            let right = try expected(part)
            parts.append(
                "byte \(index) is wrong: \(Hexadecimal.encode(delivered[part])), "
                    + "expected \(Hexadecimal.encode(right))")
            parts += [try originGuess(delivered, index)].compactMap { $0 }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private func firstWrongIndex(_ delivered: [UInt8]) throws(DecryptionError) -> Int? {
        let count = min(delivered.count, expectedByteCount)
        var start = 0
        while start < count {
            let end = min(start + 1 << 20, count)
            let right = try expected(start..<end)
            if right[...] != delivered[start..<end] {
                return zip(right, delivered[start..<end]).enumerated().first { $1.0 != $1.1 }.map { start + $0.offset }
            }
            start = end
        }
        return nil
    }

    private func expected(_ indices: Range<Int>) throws(DecryptionError) -> [UInt8] {
        if let listed { return Array(listed[indices]) }
        return try plaintext(offset + UInt64(indices.lowerBound)..<offset + UInt64(indices.upperBound))
    }

    private func plaintext(_ range: Range<UInt64>) throws(DecryptionError) -> [UInt8] {
        try group.plaintext.bytes(range)
    }

    /// Returns a likely reason for too few or too many bytes, if the delivered ones are right.
    private func lengthGuess(_ delivered: [UInt8]) throws(DecryptionError) -> String? {
        let end = offset + UInt64(delivered.count)
        if delivered.count < expectedByteCount {
            guard let chunk = group.strategy.chunkByteCount, end % chunk == 0, end > 0 else { return nil }
            return "they end where chunk \(end / chunk - 1) ends"
        }
        let surplus = delivered[expectedByteCount...]
        if surplus.allSatisfy({ $0 == 0 }) { return "the surplus is zeros" }
        let isPadding = surplus.allSatisfy { $0 == surplus.last } && (1...16).contains(surplus.last ?? 0)
        if isPadding, surplus.count <= 16 { return "the surplus is padding" }
        guard end <= group.plaintext.byteCount else { return nil }
        let right = try plaintext(offset + UInt64(expectedByteCount)..<end)
        return right[...] == surplus ? "the surplus is what follows in the plaintext" : nil
    }

    /// Returns a likely origin of wrong bytes: zeros, another part of the plaintext, or another IV.
    private func originGuess(_ delivered: [UInt8], _ index: Int) throws(DecryptionError) -> String? {
        let wrong = delivered[index...].prefix(16)
        guard wrong.count >= 4 else { return nil }
        if wrong.allSatisfy({ $0 == 0 }) { return "zeros came instead" }
        if group.hasStrategy, let iv = try IVGuess(group: group).guess(delivered, from: offset, wrongFrom: index) {
            return iv
        }
        guard wrong.count >= 8 else { return nil }
        let start = offset + UInt64(index)
        for distance in 1...UInt64(64) {
            for candidate in [start &- distance, start + distance]
            where candidate < group.plaintext.byteCount
                && candidate + UInt64(wrong.count) <= group.plaintext.byteCount
            {
                if try plaintext(candidate..<candidate + UInt64(wrong.count)) == Array(wrong) {
                    return "these are the bytes at \(candidate)"
                }
            }
        }
        return nil
    }
}

/// Finds out which block a subject took for the IV, or which counter it encrypted.
///
/// In CBC a block's plaintext is D(C[i]) ⊕ IV. So the IV used is the wrong plaintext ⊕ the right one ⊕ the right IV. In
/// CTR the key stream of each candidate is computed.
///
/// - Source: NIST SP 800-38A, sections 6.2 and 6.5.
struct IVGuess {
    let group: VectorGroup

    private typealias Candidate = (name: String, block: Block)

    /// The delivered part of a plaintext block.
    private struct DeliveredBlock {
        /// The offset of the block in the plaintext, and the index of its chunk.
        var start: UInt64
        var chunk: UInt64
        /// The block's index in its chunk.
        var index: UInt64
        /// The offsets of the block and of its chunk in the ciphertext.
        var ciphertextStart: UInt64
        var chunkCiphertextStart: UInt64
        /// The range of its bytes that were delivered.
        var bytes: Range<Int>
    }

    /// Describes what was used instead of the right block, or `nil` if it cannot be found out.
    func guess(_ delivered: [UInt8], from offset: UInt64, wrongFrom index: Int) throws(DecryptionError) -> String? {
        let first = block(with: offset + UInt64(index), delivered: offset..<offset + UInt64(delivered.count))
        // A few bytes agree by chance; the next block has more. A chunk that is delivered is always authentic.
        guard let first, first.bytes.count >= 4, group.strategy.isStreaming else { return nil }
        let lower = Int(first.start + UInt64(first.bytes.lowerBound) - offset)
        let wrong = Array(delivered[lower..<lower + first.bytes.count])
        return group.strategy.cipher == .aesCTR ? try counterGuess(wrong, first) : try chainGuess(wrong, first)
    }

    private func block(with offset: UInt64, delivered: Range<UInt64>) -> DeliveredBlock? {
        let chunkByteCount = group.strategy.chunkByteCount ?? 1 << 62
        let (chunk, inChunk) = offset.quotientAndRemainder(dividingBy: chunkByteCount)
        let chunkCiphertext = chunk * (chunkByteCount + (group.strategy.padding == .pkcs7 ? 16 : 0))
        let start = offset - inChunk % 16
        guard group.plaintext.byteCount > start else { return nil }
        let end = min(start + 16, delivered.upperBound, group.plaintext.byteCount)
        let lower = max(start, delivered.lowerBound)
        guard lower < end else { return nil }
        return DeliveredBlock(
            start: start, chunk: chunk, index: inChunk / 16, ciphertextStart: chunkCiphertext + inChunk / 16 * 16,
            chunkCiphertextStart: chunkCiphertext, bytes: Int(lower - start)..<Int(end - start))
    }

    private func chainGuess(_ wrong: [UInt8], _ block: DeliveredBlock) throws(DecryptionError) -> String? {
        let start = block.start + UInt64(block.bytes.lowerBound)
        let expected = try group.plaintext.bytes(start..<start + UInt64(wrong.count))
        let (index, iv) = (block.index, group.strategy.iv)
        let chunkIV = group.strategy.hasOneIV ? iv : iv.advanced(by: block.chunk)
        let right: Candidate =
            index == 0
            ? ("the chunk's IV", chunkIV)
            : ("C[\(index - 1)]", try ciphertextBlock(at: block.ciphertextStart - 16) ?? chunkIV)
        let used = block.bytes.enumerated().map { wrong[$0] ^ expected[$0] ^ right.block.bytes[$1] }
        for candidate in try candidates(block, iv) where candidate.block != right.block {
            if Array(candidate.block.bytes[block.bytes]) == used {
                let chunk = group.strategy.chunkByteCount == nil ? "" : " of chunk \(block.chunk)"
                return "the IV used for block \(index)\(chunk) was \(candidate.name): expected \(right.name)"
            }
        }
        return nil
    }

    private func candidates(_ block: DeliveredBlock, _ iv: Block) throws(DecryptionError) -> [Candidate] {
        let (index, chunk) = (block.index, block.chunk)
        var found: [Candidate] = [
            ("all zeros", Block(bigEndianValue: 0)), ("the object's IV", iv),
            ("the object's IV backwards", Block(bigEndianValue: iv.bigEndianValue.byteSwapped)),
        ]
        for number in 1...min(chunk + 2, 1 << 12) { found.append(("the IV + \(number)", iv.advanced(by: number))) }
        for bits in [8, 32, 64] {
            found.append(
                ("the IV + \(chunk) without a carry past \(bits) bits", iv.advanced(by: chunk, bitWidth: bits)))
        }
        found.append(("the IV + \(chunk), little-endian", Self.littleEndianSum(iv, chunk)))
        let (here, chunkStart) = (block.ciphertextStart, block.chunkCiphertextStart)
        let neighbours: [(String, UInt64?)] = [
            ("C[\(index &- 2)]", index >= 2 ? here - 32 : nil),
            ("the block's own ciphertext C[\(index)]", here),
            ("C[\(index + 1)], the block after", here + 16),
            ("the last block of the chunk before", chunkStart >= 16 ? chunkStart - 16 : nil),
            ("the last block but one of the chunk before", chunkStart >= 32 ? chunkStart - 32 : nil),
            ("C[\(index &- 1)], which lies in the chunk", index >= 1 ? here - 16 : nil),
            ("C[0] of the chunk", chunkStart), ("the file's first block", 0),
        ]
        for (name, start) in neighbours {
            if let start, let block = try ciphertextBlock(at: start) { found.append((name, block)) }
        }
        return found
    }

    private func counterGuess(_ wrong: [UInt8], _ block: DeliveredBlock) throws(DecryptionError) -> String? {
        let (index, iv) = (block.start / 16, group.strategy.iv)
        var found: [Candidate] = [
            ("the initial counter block", iv), ("all zeros", Block(bigEndianValue: 0)),
            ("the block's number alone", Block(bigEndianValue: UInt128(index))),
        ]
        for distance in 1...UInt64(4) {
            found.append(("\(distance) too high", iv.advanced(by: index + distance)))
            let lower = iv.bigEndianValue &+ UInt128(index) &- UInt128(distance)
            found.append(("\(distance) too low", Block(bigEndianValue: lower)))
        }
        for bits in [8, 16, 32, 64, 96] {
            found.append(("the sum without a carry past \(bits) bits", iv.advanced(by: index, bitWidth: bits)))
        }
        found.append(("the little-endian sum", Self.littleEndianSum(iv, index)))
        guard let ciphertext = try bytes(block.ciphertextStart, count: block.bytes.upperBound) else { return nil }
        for candidate in found where candidate.block != iv.advanced(by: index) {
            let plaintext = GroupPlaintext(
                oracle: Oracle(strategy: .whole(.aesCTR, iv: candidate.block), key: group.key),
                ciphertext: MemorySource(ciphertext), byteCount: UInt64(ciphertext.count))
            if try plaintext.bytes(0..<plaintext.byteCount)[block.bytes] == wrong[...] {
                return "the counter used for block \(index) was \(candidate.name): expected the IV + \(index)"
            }
        }
        return nil
    }

    private static func littleEndianSum(_ iv: Block, _ number: UInt64) -> Block {
        Block(bigEndianValue: (iv.bigEndianValue.byteSwapped &+ UInt128(number)).byteSwapped)
    }

    private func ciphertextBlock(at start: UInt64) throws(DecryptionError) -> Block? {
        try bytes(start, count: 16).map { (bytes) throws(DecryptionError) in try Block(bytes) }
    }

    private func bytes(_ start: UInt64, count: Int) throws(DecryptionError) -> [UInt8]? {
        guard start + UInt64(count) <= group.ciphertext.byteCount else { return nil }
        return try group.ciphertext.bytes(start..<start + UInt64(count))
    }
}

extension Block {
    /// Returns the sum with a number, without carry past the lowest `bitWidth` bits.
    func advanced(by number: UInt64, bitWidth: Int) -> Block {
        let low = UInt128(1) << UInt128(bitWidth) - 1
        return Block(bigEndianValue: bigEndianValue & ~low | (bigEndianValue &+ UInt128(number)) & low)
    }
}
