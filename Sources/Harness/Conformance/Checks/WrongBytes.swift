internal import RandomAccess
internal import Vectors

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
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 16)
        defer { room.deallocate() }
        try group.plaintext.copy(range, into: room)
        return Array(room)
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
