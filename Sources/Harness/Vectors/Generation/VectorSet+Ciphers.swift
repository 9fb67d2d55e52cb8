import ByteSources
import RandomAccess

extension VectorSet {
    /// Reads that need the given IV, the block before, or a later counter, and are otherwise simple.
    package static func chaining() -> [VectorGroup] {
        smallStrategies.enumerated().flatMap { index, strategy -> [VectorGroup] in
            let length: UInt64 = strategy.padding == Padding.none ? 48 * 4 : 48 * 4 - 5
            let chunk = strategy.chunkByteCount ?? .max
            // Blocks inside chunks, one and two at a time; and the first block of the first chunk.
            let inside = stride(from: UInt64(16), to: length - 16, by: 16).filter { $0 % chunk != 0 }
            let later: VectorFlag = strategy.cipher == .aesCTR ? .counterStart : .previousBlock
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

    /// The same reads with keys of every length: for each strategy, three objects that differ in nothing else.
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
                "counter-carries/bytes \(start.0)", .counterCarry8,
                strategy: .whole(.aesCTR, iv: Block(bigEndianValue: start.1)), key: number, length: length,
                seed: UInt64(17200 + number), windowByteCounts: [.max, 64],
                patterns: [.product(offsets: offsets, counts: [1, 17, 130, 700], flags: [])])
        }
    }

    /// Counter blocks made of a nonce of 12 or 8 bytes and zeros, as most libraries expect them.
    package static func shortNonces() -> [VectorGroup] {
        let nonces: [(String, UInt128)] = [
            ("12 bytes", 0x0102_0304_0506_0708_090a_0b0c_0000_0000),
            ("8 bytes", 0x0102_0304_0506_0708_0000_0000_0000_0000),
            ("12 bytes, others", 0xf0e1_d2c3_b4a5_9687_7869_5a4b_0000_0000),
            ("8 bytes, others", 0xf0e1_d2c3_b4a5_9687_0000_0000_0000_0000),
        ]
        return nonces.enumerated().map { number, nonce in
            let length: UInt64 = 16 * 40 + 5
            let offsets = stride(from: UInt64(0), to: length, by: 8).map { $0...$0 }
            return small(
                "short-nonce/\(nonce.0)", .shortNonce, strategy: .whole(.aesCTR, iv: Block(bigEndianValue: nonce.1)),
                key: 2 - number % 3, length: length, seed: UInt64(17300 + number), windowByteCounts: [.max, 64],
                patterns: [.product(offsets: offsets, counts: [1, 16, 130, 700], flags: [])])
        }
    }

    /// Returns a small object in which all reads have one flag.
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

    /// Objects whose offsets need more than 31, 32 and 36 bits, with reads that jump back and forth.
    package static func largeOffsets() -> [VectorGroup] {
        let length: UInt64 = 65 << 30
        let strategies =
            continuousStrategies
            + [true, false].map { chunked(16_000_000, iv: iv(5), isOneIV: $0, padding: .pkcs7) }
        return strategies.enumerated().map { number, strategy in
            let key = key(number)
            var patterns = lattice(around: [1 << 31, 1 << 32, 1 << 35, 1 << 36], of: length, flags: [.largeOffset])
            // Offsets up to more than 2³² blocks from the start, which is 2³⁶ bytes of ciphertext.
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
            // Long enough for the eight-block code of every library, with the carry in several of its lanes.
            let length: UInt64 = 16 * 40 + 5
            return held(
                id: "counter-carry/\(start.0)/aes\(key(number).byteCount * 8)", flags: [start.2],
                strategy: .whole(.aesCTR, iv: Block(bigEndianValue: start.1)), key: key(number),
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
                let strategy = chunked(32, iv: Block(bigEndianValue: start.1), padding: padding)
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

    /// Blocks that programs may mistake for something else: zeros, ones, blocks equal to each other or to the IV, in
    /// the ciphertext and in the plaintext; and IVs of zeros and of ones.
    package static func specialBlocks() -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for (index, strategy) in smallStrategies.enumerated() {
            let ivs = [("any", strategy.iv.bigEndianValue), ("zeros", 0), ("ones", .max)]
            for (ivIndex, (ivName, iv)) in ivs.enumerated() {
                let strategy = strategy.changingIV { _ in iv }
                let number = 3 * index + ivIndex
                let blocks = Self.blocks(seed: UInt64(19000 + number), iv: strategy.iv)
                let name = "special-blocks/\(strategy.label)/iv \(ivName)"
                groups.append(
                    held(
                        id: "\(name)/plaintext", flags: [.specialBlock], strategy: strategy, key: key(number),
                        plaintext: strategy.padding == Padding.none ? blocks : Array(blocks.dropLast(3)),
                        windowByteCounts: [.max, 32], patterns: [patterns]))
                if strategy.padding != .pkcs7 {
                    groups.append(decrypted(id: "\(name)/ciphertext", strategy: strategy, key: key(number), blocks))
                }
            }
        }
        return groups
    }

    private static let patterns = ReadPattern.product(
        offsets: [0...191], counts: [1, 16, 17, 48, 192], flags: [.specialBlock])

    /// Returns twelve blocks.
    private static func blocks(seed: UInt64, iv: Block) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 16)
        let ones = [UInt8](repeating: 0xff, count: 16)
        let some = streamBytes(seed: seed, count: 16)
        let other = streamBytes(seed: seed + 500, count: 16)
        return [some, zeros, zeros, other, other, other, ones, some, iv.bytes, ones, zeros, other].flatMap { $0 }
    }

    /// Returns an object that is defined by its ciphertext.
    private static func decrypted(
        id: String, strategy: Strategy, key: SecretKey, _ ciphertext: [UInt8]
    ) -> VectorGroup {
        let source = MemorySource(ciphertext)
        let plaintext = GroupPlaintext(
            oracle: Oracle(strategy: strategy, key: key), ciphertext: source, byteCount: UInt64(ciphertext.count))
        return VectorGroup(
            id: id, flags: [.specialBlock], strategy: strategy, key: key, ciphertext: source,
            plaintext: made(id) { () throws(DecryptionError) in try plaintext.held() },
            windowByteCounts: [.max, 32], patterns: [patterns])
    }

    /// The steps of the published decryption runs of the Monte Carlo test. Each is an object of a thousand blocks.
    package static func monteCarlo() -> [VectorGroup] {
        MonteCarloSeed.published.filter { $0.direction == .decrypt }.flatMap { seed in
            made(seed.name) { () throws(DecryptionError) in
                var run = try seed.start()
                var groups: [VectorGroup] = []
                for index in 0..<MonteCarlo.stepCount {
                    let step = try run.step()
                    let firstBlock = try Block(Array(step.inputs.prefix(16)))
                    groups.append(group(step, firstBlock: firstBlock, name: seed.name, count: index))
                }
                return groups
            }
        }
    }

    private static func group(_ step: MonteCarlo.Step, firstBlock: Block, name: String, count: Int) -> VectorGroup {
        let last = UInt64(step.outputs.count) - 16
        let middle = UInt64(count) * 150 + 3
        return VectorGroup(
            id: "monte-carlo/\(name)/\(count)", source: "NIST CAVP, \(name).rsp, [DECRYPT], COUNT = \(count)",
            flags: [.monteCarlo], strategy: .whole(.aesCBC, iv: step.iv, padding: Padding.none), key: step.key,
            ciphertext: MemorySource(step.inputs), plaintext: GroupPlaintext(step.outputs),
            rule: .monteCarlo(firstBlock: firstBlock),
            patterns: [
                .single(RangeRead(offset: last, count: 16, of: last + 16, flags: [.monteCarlo, .knownAnswer])),
                .product(
                    offsets: [0...0, middle...middle, last - 1...last + 1], counts: [1, 33], flags: [.monteCarlo]),
                .product(offsets: [0...0], toEnd: [0], flags: [.monteCarlo]),
            ])
    }
}
