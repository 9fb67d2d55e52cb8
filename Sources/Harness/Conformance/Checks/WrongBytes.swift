import ByteSources
import RandomAccess
import Vectors

/// Says what is wrong with delivered bytes, and where they may come from instead.
struct WrongBytes {
    let group: VectorGroup
    let offset: UInt64
    let expectedByteCount: Int
    /// The bytes that a vector lists, or `nil` for those of the group's plaintext.
    let listed: [UInt8]?

    /// What is wrong, or `nil`.
    ///
    /// - Throws: `DecryptionError` if the vector's own source fails.
    func mismatch(in delivered: [UInt8]) throws(DecryptionError) -> String? {
        let place = try firstWrongPlace(delivered)
        var parts: [String] = []
        if delivered.count != expectedByteCount {
            parts.append("\(delivered.count) bytes delivered: expected \(expectedByteCount)")
            if place == nil { parts += [try lengthGuess(delivered)].compactMap { $0 } }
        }
        if let place {
            let end = min(place + 8, delivered.count, expectedByteCount)
            let right = try expected(place..<end)
            parts.append(
                "byte \(place) is wrong: \(Self.hex(delivered[place..<end])), expected \(Self.hex(right[...]))")
            parts += [try originGuess(delivered, place)].compactMap { $0 }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private func firstWrongPlace(_ delivered: [UInt8]) throws(DecryptionError) -> Int? {
        let count = min(delivered.count, expectedByteCount)
        var place = 0
        while place < count {
            let end = min(place + 1 << 20, count)
            let right = try expected(place..<end)
            if right[...] != delivered[place..<end] {
                return zip(right, delivered[place..<end]).enumerated().first { $1.0 != $1.1 }.map { place + $0.offset }
            }
            place = end
        }
        return nil
    }

    private func expected(_ places: Range<Int>) throws(DecryptionError) -> [UInt8] {
        if let listed { return Array(listed[places]) }
        return try plaintext(offset + UInt64(places.lowerBound)..<offset + UInt64(places.upperBound))
    }

    private func plaintext(_ range: Range<UInt64>) throws(DecryptionError) -> [UInt8] {
        try group.plaintext.bytes(range)
    }

    /// Why too few or too many bytes may have come, where those that came are right.
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

    /// Where wrong bytes come from: zeros, another place of the plaintext, or another IV.
    private func originGuess(_ delivered: [UInt8], _ place: Int) throws(DecryptionError) -> String? {
        let wrong = delivered[place...].prefix(16)
        guard wrong.count >= 4 else { return nil }
        if wrong.allSatisfy({ $0 == 0 }) { return "zeros came instead" }
        if group.playlist == nil, let iv = try IVGuess(group: group).guess(delivered, from: offset, wrongFrom: place) {
            return iv
        }
        guard wrong.count >= 8 else { return nil }
        let start = offset + UInt64(place)
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

    private static func hex(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// Finds out which block a subject took for the IV, or which counter it encrypted.
///
/// In CBC a block's plaintext is D(C[i]) ⊕ IV, so that the wrong plaintext ⊕ the right one ⊕ the right IV is the IV that
/// was used. In CTR each candidate's key stream is computed.
///
/// - Source: NIST SP 800-38A, sections 6.2 and 6.5.
struct IVGuess {
    let group: VectorGroup

    private struct Candidate {
        var name: String
        var block: Block
    }

    /// A block of plaintext, as far as it was delivered.
    private struct Place {
        /// Where it starts in the plaintext, and its chunk.
        var start: UInt64
        var chunkStart: UInt64
        var chunk: UInt64
        /// Where it starts in the ciphertext, and its chunk.
        var ciphertextStart: UInt64
        var chunkCiphertextStart: UInt64
        /// Which of its bytes were delivered.
        var bytes: Range<Int>

        var indexInChunk: UInt64 { (start - chunkStart) / 16 }
    }

    /// What was used instead of the right block, in words, or `nil` if that cannot be told.
    func guess(_ delivered: [UInt8], from offset: UInt64, wrongFrom place: Int) throws(DecryptionError) -> String? {
        let first = self.place(of: offset + UInt64(place), delivered: offset..<offset + UInt64(delivered.count))
        // A few bytes agree by chance; the block after has more.
        guard let first, first.bytes.count >= 4 else { return nil }
        let lower = Int(first.start + UInt64(first.bytes.lowerBound) - offset)
        let wrong = Array(delivered[lower..<lower + first.bytes.count])
        switch group.strategy {
        case .ctr(let iv): return try counterGuess(wrong, first, iv)
        case .cbcContinuous(let iv, _): return try chainGuess(wrong, first, iv, .fixed)
        case .cbcChunked(_, let iv, let ivRule, _): return try chainGuess(wrong, first, iv, ivRule)
        // Nothing but an authentic chunk is ever delivered.
        case .chunked: return nil
        }
    }

    private func place(of offset: UInt64, delivered: Range<UInt64>) -> Place? {
        let chunkByteCount = group.strategy.chunkByteCount ?? 1 << 62
        let (chunk, inChunk) = offset.quotientAndRemainder(dividingBy: chunkByteCount)
        let chunkCiphertext = chunk * (chunkByteCount + (group.strategy.padding == .pkcs7 ? 16 : 0))
        let start = offset - inChunk % 16
        guard group.plaintext.byteCount > start else { return nil }
        let end = min(start + 16, delivered.upperBound, group.plaintext.byteCount)
        let lower = max(start, delivered.lowerBound)
        guard lower < end else { return nil }
        return Place(
            start: start, chunkStart: chunk * chunkByteCount, chunk: chunk,
            ciphertextStart: chunkCiphertext + inChunk / 16 * 16, chunkCiphertextStart: chunkCiphertext,
            bytes: Int(lower - start)..<Int(end - start))
    }

    private func chainGuess(
        _ wrong: [UInt8], _ place: Place, _ iv: Block, _ rule: IVRule
    ) throws(DecryptionError) -> String? {
        let start = place.start + UInt64(place.bytes.lowerBound)
        let expected = try group.plaintext.bytes(start..<start + UInt64(wrong.count))
        let index = place.indexInChunk
        let chunkIV = rule == .sequence ? iv.advanced(by: place.chunk) : iv
        let right =
            index == 0
            ? Candidate(name: "the chunk's IV", block: chunkIV)
            : Candidate(name: "C[\(index - 1)]", block: try block(at: place.ciphertextStart - 16) ?? chunkIV)
        let used = place.bytes.enumerated().map { wrong[$0] ^ expected[$0] ^ right.block.bytes[$1] }
        for candidate in try candidates(place, iv) where candidate.block != right.block {
            if Array(candidate.block.bytes[place.bytes]) == used {
                let chunk = group.strategy.chunkByteCount == nil ? "" : " of chunk \(place.chunk)"
                return "the IV used for block \(index)\(chunk) was \(candidate.name): expected \(right.name)"
            }
        }
        return nil
    }

    private func candidates(_ place: Place, _ iv: Block) throws(DecryptionError) -> [Candidate] {
        let index = place.indexInChunk
        var found = [
            Candidate(name: "all zeros", block: Block(bigEndianValue: 0)),
            Candidate(name: "the object's IV", block: iv),
            Candidate(
                name: "the object's IV backwards", block: Block(bigEndianValue: iv.bigEndianValue.byteSwapped)),
        ]
        for number in 1...min(place.chunk + 2, 1 << 12) {
            found.append(Candidate(name: "the IV + \(number)", block: iv.advanced(by: number)))
        }
        let value = iv.bigEndianValue
        for bits in [8, 32, 64] as [UInt128] {
            let mask = (UInt128(1) << bits) - 1
            let sum = value & ~mask | (value &+ UInt128(place.chunk)) & mask
            found.append(
                Candidate(
                    name: "the IV + \(place.chunk) without a carry past \(bits) bits", block: Block(bigEndianValue: sum)
                ))
        }
        let littleEndian = (value.byteSwapped &+ UInt128(place.chunk)).byteSwapped
        found.append(
            Candidate(name: "the IV + \(place.chunk), little-endian", block: Block(bigEndianValue: littleEndian)))
        let here = place.ciphertextStart
        let neighbours: [(String, UInt64?)] = [
            ("C[\(index &- 2)]", index >= 2 ? here - 32 : nil),
            ("the block's own ciphertext C[\(index)]", here),
            ("C[\(index + 1)], the block after", here + 16),
            (
                "the last block of the chunk before",
                place.chunkCiphertextStart >= 16 ? place.chunkCiphertextStart - 16 : nil
            ),
            (
                "the last block but one of the chunk before",
                place.chunkCiphertextStart >= 32 ? place.chunkCiphertextStart - 32 : nil
            ),
            ("C[\(index &- 1)], which lies in the chunk", index >= 1 ? here - 16 : nil),
            ("C[0] of the chunk", place.chunkCiphertextStart), ("the file's first block", 0),
        ]
        for (name, start) in neighbours {
            if let start, let block = try block(at: start) { found.append(Candidate(name: name, block: block)) }
        }
        return found
    }

    private func counterGuess(_ wrong: [UInt8], _ place: Place, _ iv: Block) throws(DecryptionError) -> String? {
        let index = place.start / 16
        let value = iv.bigEndianValue
        var found = [
            Candidate(name: "the initial counter block", block: iv),
            Candidate(name: "all zeros", block: Block(bigEndianValue: 0)),
            Candidate(name: "the block's number alone", block: Block(bigEndianValue: UInt128(index))),
        ]
        for distance in 1...UInt64(4) {
            found.append(Candidate(name: "\(distance) too high", block: iv.advanced(by: index + distance)))
            let lower = Block(bigEndianValue: value &+ UInt128(index) &- UInt128(distance))
            found.append(Candidate(name: "\(distance) too low", block: lower))
        }
        for bits in [8, 16, 32, 64, 96] as [UInt128] {
            let mask = (UInt128(1) << bits) - 1
            let sum = value & ~mask | (value &+ UInt128(index)) & mask
            found.append(
                Candidate(name: "the sum without a carry past \(bits) bits", block: Block(bigEndianValue: sum)))
        }
        let littleEndian = (value.byteSwapped &+ UInt128(index)).byteSwapped
        found.append(Candidate(name: "the little-endian sum", block: Block(bigEndianValue: littleEndian)))
        guard let ciphertext = try bytes(place.ciphertextStart, count: place.bytes.upperBound) else { return nil }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ciphertext.count, alignment: 16)
        defer { buffer.deallocate() }
        for candidate in found where candidate.block != iv.advanced(by: index) {
            try Oracle(strategy: .ctr(iv: candidate.block), key: group.key).decrypt(
                ciphertext: MemorySource(ciphertext), plaintextByteCount: UInt64(ciphertext.count),
                range: 0..<UInt64(ciphertext.count), into: buffer)
            if Array(buffer[place.bytes]) == wrong {
                return "the counter used for block \(index) was \(candidate.name): expected the IV + \(index)"
            }
        }
        return nil
    }

    private func block(at start: UInt64) throws(DecryptionError) -> Block? {
        try bytes(start, count: 16).map { (bytes) throws(DecryptionError) in try Block(bytes) }
    }

    private func bytes(_ start: UInt64, count: Int) throws(DecryptionError) -> [UInt8]? {
        guard start + UInt64(count) <= group.ciphertext.byteCount else { return nil }
        return try group.ciphertext.bytes(start..<start + UInt64(count))
    }
}
