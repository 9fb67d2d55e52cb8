internal import RandomAccess

extension VectorSet {
    /// Reads that need the given IV, the block before, or a later counter, and nothing else that is hard.
    package static func chaining() -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for (index, strategy) in smallStrategies.enumerated() {
            let key = key(index)
            let length: UInt64 = strategy.padding == Padding.none ? 48 * 4 : 48 * 4 - 5
            let chunk = strategy.chunkByteCount ?? .max
            // The first chunk's first block; blocks inside chunks, alone and two at a time.
            let inside = stride(from: UInt64(16), to: length - 16, by: 16).filter { $0 % chunk != 0 }
            let later: VectorFlag = strategy.mode == .ctr ? .counterStart : .previousBlock
            let parts: [(VectorFlag, [(UInt64, Int)])] = [
                (.firstBlock, (0..<16).map { ($0, 16 - Int($0)) } + [(0, 16)]),
                (later, inside.flatMap { [($0, 16), ($0, 1), ($0 + 15, 1), ($0, $0 % chunk == 16 ? 32 : 16)] }),
            ]
            for (flag, ranges) in parts {
                let reads = ranges.map { RangeRead(offset: $0, count: $1, of: length, flags: [flag]) }
                groups.append(
                    generated(
                        id: "chaining/\(flag.rawValue)/\(strategy.label)/aes\(key.byteCount * 8)", flags: [flag],
                        strategy: strategy, key: key, plaintextByteCount: length, seed: UInt64(7000 + index),
                        windowByteCounts: [.max], reads: reads))
            }
        }
        return groups
    }

    /// The same reads with keys of every length: for each strategy three objects that differ in nothing else.
    package static func keyLengths() -> [VectorGroup] {
        smallStrategies.enumerated().flatMap { index, strategy in
            (0..<3).map { number in
                let length: UInt64 = strategy.padding == Padding.none ? 144 : 139
                let key = key(number)
                let reads = stride(from: UInt64(0), to: length, by: 16).flatMap { offset in
                    [1, 16, 33].map { RangeRead(offset: offset, count: $0, of: length, flags: [.keyLength]) }
                }
                return generated(
                    id: "key-length/\(strategy.label)/aes\(key.byteCount * 8)", flags: [.keyLength],
                    strategy: strategy, key: key, plaintextByteCount: length, seed: UInt64(7100 + index), reads: reads)
            }
        }
    }

    /// The ends of objects of every length residue; opening them, which finds the length, stands for the same.
    package static func objectEnds() -> [VectorGroup] {
        smallStrategies.enumerated().flatMap { index, strategy in
            (UInt64(40)...56).filter { strategy.padding != Padding.none || $0 % 16 == 0 }.map { length in
                generated(
                    id: "object-end/\(strategy.label)/\(length)", flags: [.lastBytes], strategy: strategy,
                    key: key(index), plaintextByteCount: length, seed: 7150 + length, reads: ends(of: length))
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
            let reads = stride(from: UInt64(0), to: length, by: 8).flatMap { offset in
                [1, 17, 130, 700].map { RangeRead(offset: offset, count: $0, of: length, flags: [.counterCarry8]) }
            }
            return generated(
                id: "counter-carry/\(start.0)/aes\(key(number).byteCount * 8)", flags: [.counterCarry8],
                strategy: .ctr(iv: Block(bigEndianValue: start.1)), key: key(number), plaintextByteCount: length,
                seed: UInt64(7200 + number), windowByteCounts: [.max, 64], reads: reads)
        }
    }
}
