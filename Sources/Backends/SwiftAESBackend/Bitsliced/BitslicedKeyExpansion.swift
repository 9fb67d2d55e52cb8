internal import RandomAccess

/// KEYEXPANSION() without tables: its S-boxes are circuits, too. Source: FIPS 197, section 5.2.
enum BitslicedKeyExpansion {
    /// The number of rounds Nr: 10, 12 or 14. Source: FIPS 197, section 5, table 3.
    static func roundCount(keyByteCount: Int) -> Int {
        keyByteCount / 4 + 6
    }

    /// Leaves the words of all round keys in `room`, which has 8 planes to work in and then Nr + 1 for them.
    static func expand(_ key: SecretKey, room: UnsafeMutablePointer<Plane>) {
        let keyWordCount = key.byteCount / 4
        // Words are little-endian: the first byte of a word is its lowest.
        let words = UnsafeMutableRawPointer(room + 8)
        key.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: words, count: key.byteCount).copyMemory(from: $0) }
        func word(_ index: Int) -> UInt32 { words.load(fromByteOffset: 4 * index, as: UInt32.self) }
        var roundConstant: UInt8 = 1
        for i in keyWordCount..<4 * (roundCount(keyByteCount: key.byteCount) + 1) {
            var temp = word(i - 1)
            if i % keyWordCount == 0 {
                // SUBWORD(ROTWORD(temp)) ⊕ Rcon[i/Nk]; Rcon is the next power of x. Equations (5.10), (5.11), table 5.
                temp = substitute(temp &>> 8 | temp &<< 24, room: room) ^ UInt32(roundConstant)
                roundConstant = GaloisField.xTimes(roundConstant)
            } else if keyWordCount > 6, i % keyWordCount == 4 {
                temp = substitute(temp, room: room)
            }
            words.storeBytes(of: word(i - keyWordCount) ^ temp, toByteOffset: 4 * i, as: UInt32.self)
        }
    }

    /// The key of a round as a block, once ``expand(_:room:)`` has made it; from round 1 on it is ⊕ {63} in each byte,
    /// which ``SubstitutionCircuits`` leaves out.
    static func roundKey(_ round: Int, room: UnsafeMutablePointer<Plane>) -> Plane {
        round == 0 ? room[8] : room[8 + round] ^ .repeating(0x6363_6363)
    }

    /// SUBWORD(). Source: FIPS 197, section 5.2, equation (5.11).
    private static func substitute(_ word: UInt32, room: UnsafeMutablePointer<Plane>) -> UInt32 {
        room.update(repeating: .repeating(word), count: 8)
        BitTransposition.swapWithinBytes(room, groupCount: 1)
        SubstitutionCircuits.subBytes(room)
        BitTransposition.swapWithinBytes(room, groupCount: 1)
        return room[0].words[0] ^ 0x6363_6363
    }
}
