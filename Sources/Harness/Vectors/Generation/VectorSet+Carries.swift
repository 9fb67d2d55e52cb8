internal import ByteSources
internal import RandomAccess

extension VectorSet {
    /// Objects whose offsets need more than 31, 32 and 36 bits, and reads that jump about in them.
    package static func largeOffsets() -> [VectorGroup] {
        let length: UInt64 = 65 << 30
        let strategies =
            continuousStrategies
            + IVRule.allCases.map {
                .cbcChunked(chunkByteCount: 16_000_000, iv: iv(5), ivRule: $0, padding: .pkcs7)
            }
        return strategies.enumerated().map { number, strategy in
            let key = key(number)
            var patterns = lattice(around: [1 << 31, 1 << 32, 1 << 35, 1 << 36], of: length, flags: [.largeOffset])
            // 2³² blocks of padding and data away from the start: 2³⁶ bytes of ciphertext.
            let stream = SplitMix64Stream(seed: UInt64(number))
            for index in 0..<UInt64(64) {
                let count = Int(stream.word(2 * index + 1) % 4096)
                patterns.append(
                    .single(
                        RangeRead(
                            offset: stream.word(2 * index) % length, count: count, of: length,
                            flags: [.largeOffset, .seekStorm])))
            }
            patterns += [UInt64(1) << 53 - 1, 1 << 63, .max - 15, .max].map {
                .single(RangeRead(offset: $0, count: 16, of: length, flags: [.largeOffset]))
            }
            patterns += ends(of: length)
            return generated(
                id: "large-offsets/\(strategy.label)/aes\(key.byteCount * 8)", flags: [.largeOffset],
                strategy: strategy, key: key, plaintextByteCount: length, seed: UInt64(4000 + number),
                windowByteCounts: [.max, 1 << 20], patterns: patterns)
        }
    }

    /// Counters that carry past 32, 64 and 128 bits a few blocks into the object.
    package static func counterCarries() -> [VectorGroup] {
        let starts: [(String, UInt128, VectorFlag)] = [
            ("2^32", 0x0123_4567_89ab_cdef_0011_2233_ffff_fffd, .counterCarry32),
            ("2^64", 0x0123_4567_89ab_cdef_ffff_ffff_ffff_fffd, .counterCarry64),
            ("2^96", 0x0123_4567_ffff_ffff_ffff_ffff_ffff_fffd, .counterCarry64),
            ("2^128", 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffd, .counterWrap),
        ]
        return starts.enumerated().map { number, start in
            // Long enough for the eight-blocks-at-once code of every library, with the carry at several of its lanes.
            let length: UInt64 = 16 * 40 + 5
            return held(
                id: "counter-carry/\(start.0)/aes\(key(number).byteCount * 8)", flags: [start.2],
                strategy: .ctr(iv: Block(bigEndianValue: start.1)), key: key(number),
                plaintext: streamBytes(seed: UInt64(5000 + number), count: Int(length)), windowByteCounts: [.max, 64],
                patterns: [.product(offsets: [0...length], counts: [1, 16, 17, 130, 700], flags: [start.2])])
        }
    }

    /// IVs of all ones and near carries, so that the sum with a chunk's number wraps.
    package static func sequenceCarries() -> [VectorGroup] {
        let starts: [(String, UInt128)] = [
            ("2^64", 0x0123_4567_89ab_cdef_ffff_ffff_ffff_fffe), ("2^128", .max), ("2^128-1", .max - 1),
            ("2^32", 0xffff_fffe), ("2^8", 0xfe),
        ]
        var groups: [VectorGroup] = []
        for start in starts {
            for padding in Padding.allCases {
                let number = groups.count
                let length: UInt64 = padding == .none ? 32 * 6 : 32 * 5 + 7
                let strategy = Strategy.cbcChunked(
                    chunkByteCount: 32, iv: Block(bigEndianValue: start.1), ivRule: .sequence, padding: padding)
                groups.append(
                    held(
                        id: "sequence-carry/\(start.0)/\(padding.rawValue)/aes\(key(number).byteCount * 8)",
                        flags: [.sequenceCarry], strategy: strategy, key: key(number),
                        plaintext: streamBytes(seed: UInt64(6000 + number), count: Int(length)),
                        windowByteCounts: [.max, 16],
                        patterns: [
                            .product(offsets: [0...length - 1], counts: [1, 17, 40, 200], flags: [.sequenceCarry])
                        ]))
            }
        }
        return groups
    }
}
