internal import RandomAccess

extension VectorSet {
    /// Numbers of blocks that vectorised code takes at once.
    private static let gearBlockCounts: [UInt64] = [8, 16, 32, 64, 128]

    /// Each start residue with each length residue modulo 16, at each place where code changes gear.
    ///
    /// Objects of 300 blocks, the chunked ones with an edge at block 256. Reads of 1 to 32 bytes start at every byte of
    /// the first blocks, of those around each gear's length and the edge, and of the last ones; reads of every length
    /// around each gear's start at every byte of the first block and at some of the second.
    package static func residues() -> [VectorGroup] {
        var strategies: [Strategy] = [.ctr(iv: iv(7))]
        for padding in Padding.allCases {
            strategies.append(.cbcContinuous(iv: iv(8), padding: padding))
            for ivRule in IVRule.allCases {
                strategies.append(.cbcChunked(chunkByteCount: 4096, iv: iv(9), ivRule: ivRule, padding: padding))
            }
        }
        return strategies.enumerated().map { number, strategy in
            let key = key(number + 1)
            let length: UInt64 = strategy.padding == Padding.none ? 4800 : 4805
            let blocks = [0...1] + gearBlockCounts.map { $0 - 1...$0 + 1 } + [255...257]
            let places = blocks.map { 16 * $0.lowerBound...16 * $0.upperBound + 15 } + [length - 37...length]
            let lengths = gearBlockCounts.map { 16 * (Int($0) - 1)...16 * (Int($0) + 1) + 15 }
            return held(
                id: "residues/\(strategy.label)/aes\(key.byteCount * 8)", flags: [.unalignedRead, .strideEdge],
                strategy: strategy, key: key, plaintext: streamBytes(seed: UInt64(7000 + number), count: Int(length)),
                windowByteCounts: [.max, 128],
                patterns: [
                    .product(offsets: places, counts: [1...32], toEnd: [], flags: [.unalignedRead]),
                    .product(offsets: [0...17, 31...31], counts: lengths, toEnd: [], flags: [.strideEdge]),
                ])
        }
    }

    /// Every plaintext length from 0 to 513 bytes in one chain: read whole, by its last 1 to 32 bytes, and past its end.
    package static func continuousLengths() -> [VectorGroup] {
        lengths(of: .cbcContinuous(iv: iv(10), padding: .pkcs7), through: 513, seed: 8000)
    }

    /// The same in chunks of ten blocks, each with an IV and padding of its own.
    package static func chunkedLengths() -> [VectorGroup] {
        let strategy = Strategy.cbcChunked(chunkByteCount: 160, iv: iv(11), ivRule: .sequence, padding: .pkcs7)
        return lengths(of: strategy, through: 513, seed: 9000)
    }

    private static func lengths(of strategy: Strategy, through longest: Int, seed: UInt64) -> [VectorGroup] {
        (0...longest).map { length in
            let end = UInt64(length)
            let flags: [VectorFlag] = [.everyLength, .lastBytes] + (length % 16 == 0 ? [.paddingBlock] : [])
            return held(
                id: "lengths/\(strategy.label)/aes\(key(length).byteCount * 8)/\(length)", flags: flags,
                strategy: strategy, key: key(length), plaintext: streamBytes(seed: seed + end, count: length),
                windowByteCounts: [.max, 48],
                patterns: [
                    .product(offsets: [0...0], toEnd: [0, 17], flags: flags),
                    .product(offsets: [end - min(32, end)...end], toEnd: [0, 1], flags: flags),
                    .product(offsets: [end...end + 1], counts: [0, 1, 16], flags: flags),
                ])
        }
    }
}
