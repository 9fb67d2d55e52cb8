import ByteSources
import RandomAccess

extension VectorSet {
    /// Short lists of reads that the faults of a class usually fail, for programs that run a choice of the vectors.
    /// Each list is chosen as a whole.
    package static func shortLists() -> [VectorGroup] {
        lookalikeEnds() + specialReads() + strideReads() + carryReads() + widthReads() + windowReads()
            + chunkNumberReads()
            + chunkEndReads() + nonceReads()
    }

    /// Says whether a group is such a list.
    package static func isShortList(_ group: VectorGroup) -> Bool { group.id.hasPrefix(shortListPrefix) }

    /// The prefix of the names of such lists.
    static let shortListPrefix = "short-list/"
    private static let prefix = shortListPrefix

    private typealias Range = (offset: UInt64, count: Int)

    private static func list(_ reads: [Range], _ flag: VectorFlag) -> [ReadPattern] {
        reads.map { .product(offsets: [$0.offset...$0.offset], counts: [$0.count], flags: [flag]) }
    }

    /// Reads that end with a data block that looks like padding.
    private static func lookalikeEnds() -> [VectorGroup] {
        let values: [UInt8] = [1, 2, 8, 15, 16, 3]
        let plaintext = values.flatMap { value in
            [UInt8](repeating: 0x41, count: 16 - Int(value)) + [UInt8](repeating: value, count: Int(value))
        }
        return smallStrategies.enumerated().map { number, strategy in
            let reads = ([16, 32, 48, 64, 80] as [UInt64]).flatMap { end -> [Range] in
                [(0, Int(end)), (end - 16, 16), (end - 7, 23)]
            }
            return held(
                id: prefix + "look-alikes/\(strategy.label)", flags: [.paddingLookalike], strategy: strategy,
                key: key(number), plaintext: plaintext, patterns: list(reads, .paddingLookalike))
        }
    }

    /// Reads of blocks of zeros, of ones, or equal to others, alone and next to each other.
    private static func specialReads() -> [VectorGroup] {
        specialBlocks().filter { $0.id.contains("/iv any/") }.map { group in
            let length = group.plaintext.byteCount
            let reads: [Range] = [
                (0, Int(length)), (16, 32), (16, 16), (32, 16), (48, 48), (64, 32), (96, 16), (128, 48), (144, 16),
                (160, 16),
            ]
            return VectorGroup(
                id: prefix + group.id, flags: group.flags, strategy: group.strategy, key: group.key,
                ciphertext: group.ciphertext, plaintext: group.plaintext, patterns: list(reads, .specialBlock))
        }
    }

    /// Reads of a few more blocks than vectorised code processes at a time, with keys of each length.
    private static func strideReads() -> [VectorGroup] {
        let strategies: [Strategy] = [.whole(.aesCTR, iv: iv(28)), .whole(.aesCBC, iv: iv(29))]
        return strategies.flatMap { strategy in
            (0..<3).map { number in
                let counts = [17, 19, 20, 21, 23, 28, 31, 37, 63, 70]
                let reads = counts.flatMap { count -> [Range] in [(0, 16 * count), (32, 16 * count)] }
                return held(
                    id: prefix + "strides/\(strategy.label)/aes\(key(number).byteCount * 8)", flags: [.strideEdge],
                    strategy: strategy, key: key(number),
                    plaintext: streamBytes(seed: UInt64(21000 + number), count: 1200),
                    patterns: list(reads, .strideEdge))
            }
        }
    }

    /// Reads that start at each counter around a carry.
    private static func carryReads() -> [VectorGroup] {
        let carries: [(Int, VectorFlag)] = [
            (8, .counterCarry8), (16, .counterCarry8), (24, .counterCarry8), (32, .counterCarry32),
            (64, .counterCarry64),
            (96, .counterCarry64), (128, .counterWrap),
        ]
        return carries.map { bits, flag in
            let step = UInt128(bits)
            let below: UInt128 = bits == 128 ? .max : (1 << step) - 1
            let high: UInt128 = bits == 128 ? 0 : 0x0123_4567_89ab_cdef_1032_5476_98ba_dcfe & ~below
            let reads = ([0, 16, 32, 48, 64] as [UInt64]).flatMap { start -> [Range] in
                [(start, 16), (start, 200), (start + 9, 40)]
            }
            return held(
                id: prefix + "carries/2^\(bits)", flags: [flag],
                strategy: .whole(.aesCTR, iv: Block(bigEndianValue: high | below - 2)),
                key: key(bits / 8), plaintext: streamBytes(seed: UInt64(21100 + bits), count: 300),
                patterns: list(reads, flag))
        }
    }

    /// Reads that cross an offset at which one more bit is needed.
    private static func widthReads() -> [VectorGroup] {
        let widths: [(UInt64, VectorFlag)] = [
            (31, .beyond31Bits), (32, .beyond32Bits), (35, .beyond35Bits), (36, .beyond36Bits),
        ]
        return widths.flatMap { bits, flag in
            continuousStrategies.enumerated().map { index, strategy in
                let edge = UInt64(1) << bits
                let reads: [Range] = [
                    (edge - 100, 200), (edge - 16, 32), (edge - 1, 2), (edge - 5, 5), (edge, 16), (edge + 7, 40),
                ]
                return generated(
                    id: prefix + "widths/2^\(bits)/\(strategy.label)", flags: [flag], strategy: strategy,
                    key: key(index),
                    plaintextByteCount: edge + 4096, seed: 21200 + 10 * bits + UInt64(index),
                    patterns: list(reads, flag))
            }
        }
    }

    /// Reads of whole windows, as readers with buffers of 4 KiB to 1 MiB make them.
    private static func windowReads() -> [VectorGroup] {
        continuousStrategies.enumerated().map { index, strategy in
            let reads = [4096, 16384, 65536, 1 << 20].flatMap { window -> [Range] in
                let start = UInt64(window)
                return [(0, window), (start, window), (0, 2 * window), (start - 5, 10)]
            }
            return generated(
                id: prefix + "windows/\(strategy.label)", flags: [.windowEdge, .wholeWindow], strategy: strategy,
                key: key(index), plaintextByteCount: 3 << 20, seed: UInt64(21300 + index),
                patterns: list(reads, .wholeWindow))
        }
    }

    /// Reads around chunks at which the chunk number needs one more byte.
    private static func chunkNumberReads() -> [VectorGroup] {
        made("chunk numbers") { () throws(DecryptionError) in
            let vectors = DescribedVectors.known
            return try vectors.counters(of: vectors.kinds)
        }.map { group in
            let reads = group.reads.filter { $0.offset > 0 && $0.count == 33 }
            return list(of: group, reads, .chunkCounter)
        }
    }

    /// Reads around the end of objects that end with a full chunk, after which some formats have an empty one.
    private static func chunkEndReads() -> [VectorGroup] {
        made("chunk ends") { () throws(DecryptionError) in
            let vectors = DescribedVectors.known
            return try vectors.lengths(of: vectors.kinds) { [$0.first, $0.first + $0.full] }
        }.map { group in
            list(of: group, group.reads.filter { $0.offset == 0 || $0.flags.contains(.lastBytes) }, .chunkEdge)
        }
    }

    /// Returns a list with some reads of a group.
    private static func list(of group: VectorGroup, _ reads: [RangeRead], _ flag: VectorFlag) -> VectorGroup {
        VectorGroup(
            id: prefix + group.id, flags: group.flags, strategy: group.strategy, key: group.key,
            ciphertext: group.ciphertext, plaintext: group.plaintext, rule: group.rule,
            patterns: list(reads.map { ($0.offset, $0.count) }, flag))
    }

    /// Reads that start at the first counters of a short nonce.
    private static func nonceReads() -> [VectorGroup] {
        shortNonces().map { group in
            let reads: [Range] = [(0, 16), (0, 200), (16, 16), (16, 200), (32, 33), (40, 130), (80, 16)]
            return VectorGroup(
                id: prefix + group.id, flags: group.flags, strategy: group.strategy, key: group.key,
                ciphertext: group.ciphertext, plaintext: group.plaintext, patterns: list(reads, .shortNonce))
        }
    }
}
