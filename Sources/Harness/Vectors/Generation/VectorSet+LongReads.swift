internal import RandomAccess

extension VectorSet {
    /// Reads of a hundred kilobytes to tens of megabytes, over many windows and chunks; chunks of one block, and of more
    /// than 32 bits; and a source that delivers a long read in small parts.
    package static func longReads() -> [VectorGroup] {
        let chunked: [Strategy] = [
            .cbcChunked(chunkByteCount: 4096, iv: iv(21), ivRule: .sequence, padding: .pkcs7),
            .cbcChunked(chunkByteCount: 65536, iv: iv(22), ivRule: .fixed, padding: .none),
        ]
        var groups = (continuousStrategies + chunked).enumerated().map { index, strategy in
            let length: UInt64 = 5 << 20 + (strategy.padding == Padding.none ? 0 : 5)
            let ranges: [(UInt64, Int)] = [
                (0, 65537), (1, 131_090), (7, 200_001), (16, 262_144), (4095, 1_048_577), (33, 3_200_000),
                (0, 5 << 20 + 9),
            ]
            return generated(
                id: "long-reads/\(strategy.label)/aes\(key(index).byteCount * 8)", flags: [.longRead],
                strategy: strategy, key: key(index), plaintextByteCount: length, seed: UInt64(18000 + index),
                windowByteCounts: [.max, 65536],
                patterns: ranges.map { .product(offsets: [$0.0...$0.0], counts: [$0.1], flags: [.longRead]) })
        }
        for (index, strategy) in continuousStrategies.enumerated() where strategy.padding != Padding.none {
            groups.append(
                generated(
                    id: "long-reads/\(strategy.label)/34 MB", flags: [.longRead], strategy: strategy,
                    key: key(index + 1), plaintextByteCount: 40_000_003, seed: UInt64(18100 + index),
                    windowByteCounts: [.max],
                    patterns: [.product(offsets: [5...5], counts: [34_000_003], flags: [.longRead])]))
            groups.append(
                generated(
                    id: "long-reads/\(strategy.label)/in parts", flags: [.shortReads], strategy: strategy,
                    key: key(index), plaintextByteCount: 300_005, seed: UInt64(18200 + index),
                    windowByteCounts: [.max],
                    patterns: [
                        .product(
                            offsets: [0...0, 9...9, 99_999...99_999], counts: [70_000, 200_001], flags: [.shortReads])
                    ]
                ).supplied(.shortReads))
        }
        return groups + extremeChunks()
    }

    /// Chunks of one block, every range; and chunks whose length and number need many bits.
    private static func extremeChunks() -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for padding in Padding.allCases {
            for ivRule in IVRule.allCases {
                let number = groups.count
                let small = Strategy.cbcChunked(chunkByteCount: 16, iv: iv(23), ivRule: ivRule, padding: padding)
                groups.append(
                    held(
                        id: "chunks-of-a-block/\(small.label)", flags: [.chunkEdge], strategy: small, key: key(number),
                        plaintext: streamBytes(seed: UInt64(18300 + number), count: padding == .none ? 96 : 91),
                        windowByteCounts: [.max, 16], patterns: [.exhaustive(past: 1, flags: [.chunkEdge])]))
                let chunk: UInt64 = 5 << 30
                let large = Strategy.cbcChunked(chunkByteCount: chunk, iv: iv(24), ivRule: ivRule, padding: padding)
                let edges = [chunk, 2 * chunk].map { $0 - 17...$0 + 1 }
                groups.append(
                    generated(
                        id: "large-chunks/\(large.label)", flags: [.largeOffset], strategy: large, key: key(number),
                        plaintextByteCount: 12 << 30, seed: UInt64(18400 + number),
                        patterns: [
                            .product(offsets: edges, counts: [1, 18, 33], flags: [.largeOffset]),
                            .product(
                                offsets: [1 << 31...1 << 31 + 1, 1 << 32...1 << 32 + 1], counts: [40],
                                flags: [.largeOffset]),
                        ]))
            }
        }
        return groups
    }
}
