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
        var flags: [VectorFlag] = [.exhaustive]
        if length == 0 { flags.append(.emptyObject) }
        if strategy.padding == .pkcs7, length % 16 == 0 { flags.append(.paddingBlock) }
        // One window that is not a multiple of 16, one that does not divide a chunk, one that is a chunk.
        let window = [16, 40, 32, 48, 64][number % 5]
        return held(
            id: "exhaustive/\(strategy.label)/aes\(key.byteCount * 8)/\(length)", source: "generated, seed \(seed)",
            flags: flags, strategy: strategy, key: key, plaintext: streamBytes(seed: seed, count: length),
            windowByteCounts: [.max, window], patterns: [.exhaustive(past: 2, flags: flags)])
    }
}
