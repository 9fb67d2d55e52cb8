internal import RandomAccess

extension VectorSet {
    /// Blocks that vectorised code takes at a time.
    private static let strides: [UInt64] = [8, 16, 32, 64, 128]

    /// All strategies; chunks that hold the longest stride and do not end at one.
    private static var strideStrategies: [Strategy] {
        smallStrategies.map { strategy in
            guard case .cbcChunked(_, let iv, let ivRule, let padding) = strategy else { return strategy }
            return .cbcChunked(chunkByteCount: 16 * 130, iv: iv, ivRule: ivRule, padding: padding)
        }
    }

    /// Every residue of start and length modulo 16: at the first block, the second, beside each stride, and at the end.
    package static func positions() -> [VectorGroup] {
        strideStrategies.enumerated().map { index, strategy in
            let length: UInt64 = strategy.padding == Padding.none ? 16 * 140 : 16 * 140 + 9
            let blocks: [UInt64] = [0, 1] + strides.flatMap { [$0 - 1, $0, $0 + 1] } + [length / 16 - 3]
            let readCount = blocks.count * 256
            return group(
                "positions", [.unalignedRead], strategy: strategy, number: index, length: length, seed: 7300,
                windowByteCounts: [.max, 32], readCount: readCount
            ) {
                AnySequence(
                    (0..<readCount).lazy.map { (number) -> RangeRead in
                        let (block, residues): (UInt64, Int) = (blocks[number / 256], number % 256)
                        // Lengths of less than a block, and of one or two blocks and a rest.
                        let count = residues / 16 + 16 * (number % 3)
                        return RangeRead(
                            offset: 16 * block + UInt64(residues % 16), count: count, of: length,
                            flags: [.unalignedRead])
                    })
            }
        }
    }

    /// About 8, 16, 32, 64 and 128 blocks in one read, from the first block on and from others.
    package static func strideEdges() -> [VectorGroup] {
        strideStrategies.enumerated().map { index, strategy in
            let length: UInt64 = strategy.padding == Padding.none ? 16 * 280 : 16 * 280 + 3
            var reads: [RangeRead] = []
            for stride in strides {
                for start in [0, 1, 16, 24, 16 * stride - 1, 16 * stride] {
                    for change in [-17, -16, -15, -1, 0, 1, 15, 16, 17] {
                        reads.append(
                            RangeRead(
                                offset: start, count: Int(16 * stride) + change, of: length, flags: [.strideEdge]))
                    }
                }
            }
            // Every number of blocks up to a few strides: what is left over after any gear.
            for count in 1...70 {
                reads.append(
                    RangeRead(offset: UInt64(count % 5) * 16, count: 16 * count, of: length, flags: [.strideEdge]))
            }
            return generated(
                id: "stride-edges/\(strategy.label)/aes\(key(index).byteCount * 8)", flags: [.strideEdge],
                strategy: strategy, key: key(index), plaintextByteCount: length, seed: UInt64(7400 + index),
                windowByteCounts: [.max, 16 * 33], reads: reads)
        }
    }

    /// Windows of a few KiB: reads of whole ones, of several, and beside their edges.
    package static func smallWindows() -> [VectorGroup] {
        [256, 4096].flatMap { window in
            continuousStrategies.enumerated().map { index, strategy in
                let length = UInt64(window) * 4 + (strategy.padding == Padding.none ? 16 : 5)
                var reads = (0...3).flatMap { number in
                    [1, 2, 3].map {
                        RangeRead(
                            offset: UInt64(number * window), count: $0 * window, of: length, flags: [.wholeWindow])
                    }
                }
                reads += lattice(
                    around: (1...3).map { UInt64($0 * window) }, of: length, flags: [.windowEdge])
                return generated(
                    id: "small-windows/\(strategy.label)/window=\(window)", flags: [.windowEdge], strategy: strategy,
                    key: key(index), plaintextByteCount: length, seed: UInt64(7500 + index),
                    windowByteCounts: [window], reads: reads)
            }
        }
    }

    /// Offsets around 2³¹, 2³², 2³⁵ and 2³⁶, each in an object that ends before the next of them.
    package static func offsetWidths() -> [VectorGroup] {
        let edges: [(VectorFlag, UInt64)] = [
            (.beyond31Bits, 31), (.beyond32Bits, 32), (.beyond35Bits, 35), (.beyond36Bits, 36),
        ]
        let strategies =
            continuousStrategies
            + Padding.allCases.map {
                .cbcChunked(chunkByteCount: 1 << 16, iv: iv(5), ivRule: .sequence, padding: $0)
            }
        return edges.flatMap { flag, bits in
            strategies.enumerated().map { index, strategy in
                let edge = UInt64(1) << bits
                let length = edge + 100_000 / 16 * 16 + (strategy.padding == Padding.none ? 0 : 7)
                var reads = [UInt64(0), edge / 2].flatMap { offset in
                    [1, 100].map { RangeRead(offset: offset, count: $0, of: length, flags: [flag]) }
                }
                for offset in [edge - 4096, edge - 17, edge - 1, edge, edge + 1, edge + 16, edge + 40_000, length - 20]
                {
                    for count in [1, 16, 33, 5000] {
                        reads.append(RangeRead(offset: offset, count: count, of: length, flags: [flag]))
                    }
                }
                return generated(
                    id: "offset-width/2^\(bits)/\(strategy.label)/aes\(key(index).byteCount * 8)", flags: [flag],
                    strategy: strategy, key: key(index), plaintextByteCount: length,
                    seed: UInt64(7600 + 10 * bits) + UInt64(index), reads: reads)
            }
        }
    }

    private static func group(
        _ name: String, _ flags: [VectorFlag], strategy: Strategy, number: Int, length: UInt64, seed: UInt64,
        windowByteCounts: [Int], readCount: Int, reads: @escaping @Sendable () -> AnySequence<RangeRead>
    ) -> VectorGroup {
        let key = key(number)
        let object = generated(
            id: "\(name)/\(strategy.label)/aes\(key.byteCount * 8)", flags: flags, strategy: strategy, key: key,
            plaintextByteCount: length, seed: seed + UInt64(number), reads: [])
        return VectorGroup(
            id: object.id, source: object.source, flags: flags, strategy: strategy, key: key,
            ciphertext: object.ciphertext, plaintext: object.plaintext, opening: object.opening,
            windowByteCounts: windowByteCounts, readCount: readCount, reads: reads)
    }
}
