import RandomAccess

/// AES on batches of blocks: their memory and the round keys; belongs to one thread at a time.
final class BitslicedCipher {
    /// The blocks to process, later the processed ones: space for a wide batch.
    let blocks: UnsafeMutableRawPointer
    // Behind the blocks; all of it is secret.
    private let narrowKeys: UnsafeMutablePointer<Plane>
    private let wideKeys: UnsafeMutablePointer<Plane>
    private let byteCount: Int
    private let roundCount: Int
    private let level: VectorLevel

    init(_ key: SecretKey, level: VectorLevel = .ofThisMachine) {
        let (narrow, wide) = (NarrowBatch.planeCount, WideBatch<Plane>.planeCount)
        self.level = level
        self.roundCount = BitslicedKeyExpansion.roundCount(keyByteCount: key.byteCount)
        let keyCount = roundCount + 1
        let planeCount = level.wideBlockCount + keyCount * (narrow + wide)
        self.byteCount = planeCount * MemoryLayout<Plane>.stride
        // A cache line, so that no plane crosses one.
        self.blocks = .allocate(byteCount: byteCount, alignment: 64)
        let planes = blocks.initializeMemory(as: Plane.self, repeating: .repeating(0), count: planeCount)
        self.narrowKeys = planes + level.wideBlockCount
        self.wideKeys = narrowKeys + keyCount * narrow
        BitslicedKeyExpansion.expand(key, scratch: planes)
        for round in 0...roundCount {
            // A batch of equal blocks, so that a plane is all ones or all zeros for each byte of the key.
            let roundKey = BitslicedKeyExpansion.roundKey(round, scratch: planes)
            (narrowKeys + round * narrow).update(repeating: roundKey, count: narrow)
            NarrowBatch.pack(narrowKeys + round * narrow)
            (wideKeys + round * wide).update(repeating: roundKey, count: wide)
            WideBatch.pack(wideKeys + round * wide)
        }
        // Clears the round keys from the unused blocks of a batch, which are processed with the others.
        planes.update(repeating: .repeating(0), count: level.wideBlockCount)
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(start: blocks, count: byteCount))
        blocks.deallocate()
        eraseStack()
    }

    /// Returns the number of blocks to process next, out of `remaining`. A wide batch takes as long as three narrow
    /// ones.
    @inline(__always)
    func batchBlockCount(of remaining: Int) -> Int {
        min(remaining, remaining > 2 * NarrowBatch.blockCount ? level.wideBlockCount : NarrowBatch.blockCount)
    }

    /// CIPHER() or INVCIPHER() of the first `blockCount` of ``blocks``. Source: FIPS 197, sections 5.1 and 5.3.
    func process(blockCount: Int, _ direction: CipherDirection) {
        let isWide = blockCount > NarrowBatch.blockCount
        BatchTask(
            blocks: blocks, keys: isWide ? wideKeys : narrowKeys, roundCount: roundCount, isWide: isWide,
            direction: direction
        ).run(level)
    }
}

/// KEYEXPANSION() without tables: its S-boxes are circuits, too. Source: FIPS 197, section 5.2.
enum BitslicedKeyExpansion {
    /// The number of rounds Nr: 10, 12 or 14. Source: FIPS 197, section 5, table 3.
    static func roundCount(keyByteCount: Int) -> Int {
        keyByteCount / 4 + 6
    }

    /// Writes the words of all round keys to `scratch`, which has 8 planes for work and then Nr + 1 for the words.
    static func expand(_ key: SecretKey, scratch: UnsafeMutablePointer<Plane>) {
        let keyWordCount = key.byteCount / 4
        // Words are little-endian: the first byte of a word is its lowest.
        let words = UnsafeMutableRawPointer(scratch + 8)
        key.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: words, count: key.byteCount).copyMemory(from: $0) }
        func word(_ index: Int) -> UInt32 { words.load(fromByteOffset: 4 * index, as: UInt32.self) }
        var roundConstant: UInt8 = 1
        for i in keyWordCount..<4 * (roundCount(keyByteCount: key.byteCount) + 1) {
            var temp = word(i - 1)
            if i % keyWordCount == 0 {
                // SUBWORD(ROTWORD(temp)) ⊕ Rcon[i/Nk]; Rcon is the next power of x. Equations (5.10), (5.11), table 5.
                temp = substitute(temp &>> 8 | temp &<< 24, scratch: scratch) ^ UInt32(roundConstant)
                roundConstant = GaloisField.xTimes(roundConstant)
            } else if keyWordCount > 6, i % keyWordCount == 4 {
                temp = substitute(temp, scratch: scratch)
            }
            words.storeBytes(of: word(i - keyWordCount) ^ temp, toByteOffset: 4 * i, as: UInt32.self)
        }
    }

    /// Returns the key of a round as a block, after ``expand(_:scratch:)``. From round 1 on, each byte is ⊕ {63}, which
    /// ``SubstitutionCircuits`` omits.
    static func roundKey(_ round: Int, scratch: UnsafeMutablePointer<Plane>) -> Plane {
        round == 0 ? scratch[8] : scratch[8 + round] ^ .repeating(0x6363_6363)
    }

    /// SUBWORD(). Source: FIPS 197, section 5.2, equation (5.11).
    private static func substitute(_ word: UInt32, scratch: UnsafeMutablePointer<Plane>) -> UInt32 {
        scratch.update(repeating: .repeating(word), count: 8)
        BitTransposition.swapWithinBytes(scratch, groupCount: 1)
        SubstitutionCircuits.subBytes(scratch)
        BitTransposition.swapWithinBytes(scratch, groupCount: 1)
        return scratch[0].words[0] ^ 0x6363_6363
    }
}
