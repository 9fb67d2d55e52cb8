internal import RandomAccess

extension VectorSet {
    /// Reads that need the given IV, the block before, or a later counter, and nothing else that is hard.
    package static func chaining() -> [VectorGroup] {
        smallStrategies.enumerated().flatMap { index, strategy -> [VectorGroup] in
            let length: UInt64 = strategy.padding == Padding.none ? 48 * 4 : 48 * 4 - 5
            let chunk = strategy.chunkByteCount ?? .max
            // Blocks inside chunks, alone and two at a time; the first chunk's first block.
            let inside = stride(from: UInt64(16), to: length - 16, by: 16).filter { $0 % chunk != 0 }
            let later: VectorFlag = strategy.mode == .ctr ? .counterStart : .previousBlock
            let first = (0..<16).map { ReadPattern.product(offsets: [$0...$0], counts: [1, 16 - Int($0)], flags: []) }
            let others = inside.map { block in
                ReadPattern.product(
                    offsets: [block...block], counts: block % chunk == 16 ? [1, 16, 32] : [1, 16], flags: [])
            }
            let ends = [ReadPattern.product(offsets: inside.map { $0 + 15...$0 + 15 }, counts: [1], flags: [])]
            return [(VectorFlag.firstBlock, first), (later, others + ends)].map { flag, patterns in
                small(
                    "chaining/\(flag.rawValue)", flag, strategy: strategy, key: index, length: length,
                    seed: UInt64(17000 + index), patterns: patterns)
            }
        }
    }

    /// The same reads with keys of every length: for each strategy three objects that differ in nothing else.
    package static func keyLengths() -> [VectorGroup] {
        smallStrategies.enumerated().flatMap { index, strategy in
            (0..<3).map { number in
                let length: UInt64 = strategy.padding == Padding.none ? 144 : 139
                let offsets = stride(from: UInt64(0), to: length, by: 16).map { $0...$0 }
                return small(
                    "key-length", .keyLength, strategy: strategy, key: number, length: length,
                    seed: UInt64(17100 + index), patterns: [.product(offsets: offsets, counts: [1, 16, 33], flags: [])])
            }
        }
    }

    /// Counters that carry from byte to byte.
    package static func counterByteCarries() -> [VectorGroup] {
        let starts: [(String, UInt128)] = [
            ("2^7", 0x0123_4567_89ab_cdef_1032_5476_98ba_dc7d), ("2^8", 0x0123_4567_89ab_cdef_1032_5476_98ba_dcfd),
            ("2^15", 0x0123_4567_89ab_cdef_1032_5476_98ba_7ffd), ("2^16", 0x0123_4567_89ab_cdef_1032_5476_98ba_fffd),
            ("2^24", 0x0123_4567_89ab_cdef_1032_5476_98ff_fffd), ("2^31", 0x0123_4567_89ab_cdef_1032_5476_7fff_fffd),
        ]
        return starts.enumerated().map { number, start in
            let length: UInt64 = 16 * 40 + 5
            let offsets = stride(from: UInt64(0), to: length, by: 8).map { $0...$0 }
            return small(
                "counter-carries/bytes \(start.0)", .counterCarry8, strategy: .ctr(iv: Block(bigEndianValue: start.1)),
                key: number, length: length, seed: UInt64(17200 + number), windowByteCounts: [.max, 64],
                patterns: [.product(offsets: offsets, counts: [1, 17, 130, 700], flags: [])])
        }
    }

    /// A small object of one flag, which all its reads have.
    private static func small(
        _ name: String, _ flag: VectorFlag, strategy: Strategy, key number: Int, length: UInt64, seed: UInt64,
        windowByteCounts: [Int] = [.max], patterns: [ReadPattern]
    ) -> VectorGroup {
        let key = key(number)
        return held(
            id: "\(name)/\(strategy.label)/aes\(key.byteCount * 8)", flags: [flag], strategy: strategy, key: key,
            plaintext: streamBytes(seed: seed, count: Int(length)), windowByteCounts: windowByteCounts,
            patterns: patterns.map { $0.flagged([flag]) })
    }
}
