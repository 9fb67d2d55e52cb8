internal import RandomAccess

/// AES on batches of blocks: the space for them and the round keys; belongs to one thread at a time.
final class BitslicedCipher {
    // 32 planes of space for blocks; then the narrow and the wide planes of the round keys. All of it is secret.
    private let batch: UnsafeMutablePointer<Plane>
    private let narrowKeys: UnsafeMutablePointer<Plane>
    private let wideKeys: UnsafeMutablePointer<Plane>
    private let planeCount: Int
    private let roundCount: Int

    init(_ key: SecretKey) {
        let (narrow, wide) = (NarrowBatch.blockCount, WideBatch.blockCount)
        self.roundCount = BitslicedKeyExpansion.roundCount(keyByteCount: key.byteCount)
        let keyCount = roundCount + 1
        self.planeCount = wide + keyCount * (narrow + wide)
        self.batch = .allocate(capacity: planeCount)
        batch.initialize(repeating: .repeating(0), count: planeCount)
        self.narrowKeys = batch + wide
        self.wideKeys = narrowKeys + keyCount * narrow
        BitslicedKeyExpansion.expand(key, room: batch)
        for round in 0...roundCount {
            // As many equal blocks as a batch has, so that a plane is all ones or all zeros for each byte of the key.
            let roundKey = BitslicedKeyExpansion.roundKey(round, room: batch)
            (narrowKeys + round * narrow).update(repeating: roundKey, count: narrow)
            NarrowBatch.pack(narrowKeys + round * narrow)
            (wideKeys + round * wide).update(repeating: roundKey, count: wide)
            WideBatch.pack(wideKeys + round * wide)
        }
        // No round key may be left where blocks that nobody asked for are processed with the others.
        batch.update(repeating: .repeating(0), count: wide)
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(start: batch, count: planeCount)))
        batch.deallocate()
    }

    /// The blocks to process, and then the processed ones: 512 bytes.
    var blocks: UnsafeMutableRawPointer { UnsafeMutableRawPointer(batch) }

    /// How many of `remaining` blocks to process next: whole wide batches while there are such, then narrow ones.
    @inline(__always)
    static func batchBlockCount(of remaining: Int) -> Int {
        remaining >= WideBatch.blockCount ? WideBatch.blockCount : min(remaining, NarrowBatch.blockCount)
    }

    /// CIPHER() of the first `blockCount` of ``blocks``, at most 32. Source: FIPS 197, section 5.1, algorithm 1.
    func encrypt(blockCount: Int) {
        if blockCount > NarrowBatch.blockCount {
            WideBatch.encrypt(batch, keys: wideKeys, roundCount: roundCount)
        } else {
            NarrowBatch.encrypt(batch, keys: narrowKeys, roundCount: roundCount)
        }
    }

    /// INVCIPHER() of the first `blockCount` of ``blocks``, at most 32. Source: FIPS 197, section 5.3, algorithm 3.
    func decrypt(blockCount: Int) {
        if blockCount > NarrowBatch.blockCount {
            WideBatch.decrypt(batch, keys: wideKeys, roundCount: roundCount)
        } else {
            NarrowBatch.decrypt(batch, keys: narrowKeys, roundCount: roundCount)
        }
    }
}
