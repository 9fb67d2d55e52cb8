internal import ByteSources
internal import RandomAccess

extension VectorSet {
    /// Every range of small objects, including counts past the end and offsets past it.
    ///
    /// The objects have 16*b* − 3 to 16*b* + 3 bytes for each *b* of `blockCounts`; without padding, 16*b*.
    package static func exhaustive(blockCounts: ClosedRange<Int> = 0...7) -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for (index, strategy) in smallStrategies.enumerated() {
            let lengths =
                strategy.padding == Padding.none
                ? blockCounts.map { 16 * $0 }
                : blockCounts.flatMap { b in (16 * b - 3...16 * b + 3).filter { $0 >= 0 } }
            for (place, length) in lengths.enumerated() {
                groups.append(
                    everyRange(of: length, strategy: strategy, number: place, seed: UInt64(index * 1000 + length)))
            }
        }
        return groups
    }

    /// All strategies; chunks of three blocks, so that ranges cross several.
    static var smallStrategies: [Strategy] {
        var strategies: [Strategy] = [.ctr(iv: iv(0))]
        for padding in Padding.allCases {
            strategies.append(.cbcContinuous(iv: iv(1), padding: padding))
            for ivRule in IVRule.allCases {
                strategies.append(.cbcChunked(chunkByteCount: 48, iv: iv(2), ivRule: ivRule, padding: padding))
            }
        }
        return strategies
    }

    private static func everyRange(of length: Int, strategy: Strategy, number: Int, seed: UInt64) -> VectorGroup {
        let key = key(number)
        let oracle = Oracle(strategy: strategy, key: key)
        var bytes = [UInt8](repeating: 0, count: length)
        bytes.withUnsafeMutableBytes { SplitMix64Stream(seed: seed).fill($0, from: 0) }
        var flags: [VectorFlag] = [.exhaustive]
        if length == 0 { flags.append(.emptyObject) }
        if strategy.padding == .pkcs7, length % 16 == 0 { flags.append(.paddingBlock) }
        // One window that is not a multiple of 16, one that does not divide a chunk, one that is a chunk.
        let window = [16, 40, 32, 48, 64][number % 5]
        let readFlags = flags
        return VectorGroup(
            id: "exhaustive/\(strategy.label)/aes\(key.byteCount * 8)/\(length)", source: "generated, seed \(seed)",
            flags: flags, strategy: strategy, key: key, ciphertext: MemorySource(oracle.encrypt(bytes)),
            plaintext: GroupPlaintext(bytes), opening: .opens(plaintextByteCount: UInt64(length)),
            windowByteCounts: [.max, window],
            // An offset n bytes before the end is read with 0 to n + 2 bytes, two offsets past the end with 0 to 2.
            readCount: (0...length).reduce(0) { $0 + $1 + 3 } + 6
        ) {
            AnySequence(
                (0...length + 2).lazy.flatMap { offset in
                    (0...max(0, length - offset) + 2).lazy.map { count in
                        RangeRead(offset: UInt64(offset), count: count, of: UInt64(length), flags: readFlags)
                    }
                })
        }
    }
}
