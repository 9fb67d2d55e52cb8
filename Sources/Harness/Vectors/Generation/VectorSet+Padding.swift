import ByteSources
import RandomAccess

extension VectorSet {
    static var paddedStrategies: [Strategy] { smallStrategies.filter { $0.padding == .pkcs7 } }

    /// Blocks that look like padding, in the middle of a plaintext and, if there is no padding, at its end.
    package static func paddingLookalikes() -> [VectorGroup] {
        let plaintext: [UInt8] = [16, 1, 2, 16, 15, 16].flatMap { value in
            [UInt8](repeating: 0x41, count: 16 - Int(value)) + [UInt8](repeating: value, count: Int(value))
        }
        return smallStrategies.enumerated().map { number, strategy in
            let key = key(number)
            let last = UInt64(plaintext.count) - 1
            return held(
                id: "padding-lookalike/\(strategy.label)/aes\(key.byteCount * 8)", flags: [.paddingLookalike],
                strategy: strategy, key: key, plaintext: plaintext, windowByteCounts: [.max, 16],
                patterns: [
                    .product(offsets: [0...last], counts: [1, 16, 20], toEnd: [0], flags: [.paddingLookalike])
                ])
        }
    }

    /// Objects that consist of bytes that look like padding, for readers that cut a read into pieces of 1, 4 or 64 KiB
    /// or of 1 MiB.
    package static func lookalikePieces(shortestByteCount: UInt64 = 0, longestByteCount: UInt64 = .max) -> [VectorGroup]
    {
        let lengths: [UInt64] = [1040, 4112, 262_160, 4_194_320].filter {
            (shortestByteCount...longestByteCount).contains($0)
        }
        let strategies: [Strategy] = [
            .whole(.aesCBC, iv: iv(25)), chunked(65536, iv: iv(26), padding: .none),
        ]
        return lengths.flatMap { length in
            ([1, 2, 8, 16] as [UInt8]).flatMap { value in
                strategies.enumerated().compactMap { index, strategy in
                    // Long objects have only the two extreme values. Objects with chunks have several of them.
                    guard length < 1 << 20 || value == 1 || value == 16, index == 0 || length > 65536 else {
                        return nil
                    }
                    let key = key(index + Int(value))
                    let object = made("an object of one byte") { () throws(DecryptionError) in
                        try RepeatedObject(strategy: strategy, key: key, byte: value, plaintextByteCount: length)
                    }
                    let end = Int(length)
                    return VectorGroup(
                        id: "padding-lookalike/\(length) bytes of \(value)/\(strategy.label)",
                        flags: [.paddingLookalike], strategy: strategy, key: key, ciphertext: object.source,
                        plaintext: object.plaintext, rule: .repeated(object),
                        patterns: [
                            .product(
                                offsets: [0...0], counts: [end / 2 / 16 * 16...end / 2 / 16 * 16, end...end],
                                toEnd: [1],
                                flags: [.paddingLookalike]),
                            .product(
                                offsets: [16...16, 37...37, UInt64(end / 2)...UInt64(end / 2)],
                                counts: [32, 64, 1003], toEnd: [0], flags: [.paddingLookalike]),
                        ])
                }
            }
        }
    }

    /// Ends whose padding is invalid: impossible values, and each position of each padding damaged in turn.
    package static func badPaddings() -> [VectorGroup] {
        var ends: [(String, [UInt8])] = [0, 17, 18, 32, 127, 128, 240, 255].map {
            ("last byte \($0)", [UInt8](repeating: $0, count: 16))
        }
        for count in 2...16 {
            let good = [UInt8](repeating: 0x41, count: 16 - count) + [UInt8](repeating: UInt8(count), count: count)
            for position in 16 - count..<15 {
                var bad = good
                bad[position] ^= position % 2 == 0 ? 0x80 : 0x01
                ends.append(("\(count) bytes, byte \(position) wrong", bad))
            }
        }
        return paddedStrategies.enumerated().flatMap { index, strategy in
            ends.enumerated().map { number, end in
                // The end is the object's only block, its second, or the first or a later block of its second chunk.
                let before = [0, 16, 48, 64][(number + index) % 4]
                let key = key(number)
                let oracle = Oracle(strategy: strategy, key: key)
                return failing(
                    id: "bad-padding/\(strategy.label)/aes\(key.byteCount * 8)/after \(before)/\(end.0)",
                    flag: .badPadding, strategy: strategy, key: key,
                    ciphertext: ciphertext(ending: end.1, after: before, oracle: oracle), error: .invalidPadding)
            }
        }
    }

    /// Ciphertext lengths that no plaintext has, and last chunks that no writer produces.
    package static func impossibleLengths() -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for strategy in smallStrategies where strategy.cipher == .aesCBC {
            for byteCount in Array(1...65) + [113] where byteCount % 16 != 0 {
                groups.append(
                    failing(
                        id: "partial-block/\(strategy.label)/\(byteCount)", flag: .partialBlock, strategy: strategy,
                        key: key(byteCount), ciphertext: [UInt8](repeating: 0x5a, count: byteCount),
                        error: .truncatedCiphertext))
            }
        }
        for (index, strategy) in paddedStrategies.enumerated() {
            groups.append(
                failing(
                    id: "empty-ciphertext/\(strategy.label)", flag: .emptyCiphertext, strategy: strategy,
                    key: key(index), ciphertext: [], error: .truncatedCiphertext))
        }
        let chunked = paddedStrategies.filter { $0.chunkByteCount != nil }
        for (index, strategy) in chunked.enumerated() {
            let key = key(index)
            let oracle = Oracle(strategy: strategy, key: key)
            let nothing = ciphertext(ending: [UInt8](repeating: 16, count: 16), after: 48, oracle: oracle)
            groups.append(
                failing(
                    id: "last-chunk-empty/\(strategy.label)", flag: .impossibleLastChunk, strategy: strategy, key: key,
                    ciphertext: nothing, error: .invalidPadding))
            for count in 1...15 {
                let end =
                    [UInt8](repeating: 0x41, count: 16 - count) + [UInt8](repeating: UInt8(count), count: count)
                // Three blocks of data, and up to fifteen bytes more than a chunk holds.
                for chunksBefore in [0, 1] {
                    let first = chunksBefore == 1 ? oracle.encrypt([UInt8](repeating: 0x42, count: 48)) : []
                    let last = oracle.encrypt(
                        blocks: [UInt8](repeating: 0x43, count: 48) + end, chunk: UInt64(chunksBefore))
                    groups.append(
                        failing(
                            id: "last-chunk-long/\(strategy.label)/chunk \(chunksBefore)/\(16 - count) too many",
                            flag: .impossibleLastChunk, strategy: strategy, key: key, ciphertext: first + last,
                            error: .invalidPadding))
                }
            }
        }
        return groups
    }

    /// Returns a ciphertext whose last block decrypts to `end`, after `byteCount` plaintext bytes (a multiple of 16).
    static func ciphertext(ending end: [UInt8], after byteCount: Int, oracle: Oracle) -> [UInt8] {
        let chunkByteCount = oracle.strategy.chunkByteCount.map { Int($0) } ?? .max
        let data = [UInt8](repeating: 0x42, count: byteCount)
        guard byteCount >= chunkByteCount else { return oracle.encrypt(blocks: data + end) }
        return oracle.encrypt([UInt8](repeating: 0x42, count: chunkByteCount))
            + oracle.encrypt(blocks: Array(data.dropFirst(chunkByteCount)) + end, chunk: 1)
    }

    /// Returns an object that does not open.
    static func failing(
        id: String, flag: VectorFlag, strategy: Strategy, key: SecretKey, ciphertext: [UInt8], error: ErrorName
    ) -> VectorGroup {
        VectorGroup(
            id: id, flags: [flag], strategy: strategy, key: key, ciphertext: MemorySource(ciphertext), error: error)
    }

    /// Every value of the last byte: the sixteen valid ones, preceded by data that looks like more padding, and with
    /// each padding byte wrong in turn; and the 240 values that are never valid.
    package static func paddingBytes() -> [VectorGroup] {
        let strategy = Strategy.whole(.aesCBC, iv: iv(12))
        var groups: [VectorGroup] = []
        for count in 1...16 {
            groups += rightEnds(count, strategy: strategy) + wrongEnds(count, strategy: strategy)
            groups += balancedEnds(count, strategy: strategy)
        }
        for value in [UInt8(0)] + [UInt8](17...255) {
            let same = [UInt8](repeating: value, count: 16)
            let alone = [UInt8](repeating: 16, count: 15) + [value]
            groups.append(
                end(same, of: strategy, number: Int(value), name: "last byte \(value), and so are the others"))
            groups.append(
                end(alone, of: strategy, number: Int(value), name: "last byte \(value), after fifteen of 16"))
        }
        return groups
    }

    private static func rightEnds(_ count: Int, strategy: Strategy) -> [VectorGroup] {
        // Before the padding are other bytes, or bytes with the padding's value.
        [UInt8(0x41), UInt8(count)].enumerated().map { number, filling in
            let before = [0, 16, 48][(count + number) % 3]
            let data = streamBytes(seed: UInt64(count), count: before) + [UInt8](repeating: filling, count: 16 - count)
            let end = UInt64(data.count)
            return held(
                id: "padding-byte/\(count) bytes after \(before), \(number == 0 ? "other data" : "data alike")",
                flags: [.paddingByte], strategy: strategy, key: key(count + number), plaintext: data,
                windowByteCounts: [.max, 16],
                patterns: [
                    .product(offsets: [end - min(32, end)...end], counts: [1], toEnd: [0, 1], flags: [.paddingByte])
                ])
        }
    }

    private static func wrongEnds(_ count: Int, strategy: Strategy) -> [VectorGroup] {
        let good = [UInt8](repeating: 0x41, count: 16 - count) + [UInt8](repeating: UInt8(count), count: count)
        return (16 - count..<15).flatMap { position in
            [UInt8(count + 1), UInt8(count - 1)].map { value in
                var bad = good
                bad[position] = value
                return end(
                    bad, of: strategy, number: count + position, name: "\(count) bytes, byte \(position) is \(value)")
            }
        }
    }

    /// Returns padding with two wrong bytes, so that the sum or the exclusive or of the padding is still right.
    private static func balancedEnds(_ count: Int, strategy: Strategy) -> [VectorGroup] {
        guard count >= 3 else { return [] }
        let good = [UInt8](repeating: 0x41, count: 16 - count) + [UInt8](repeating: UInt8(count), count: count)
        var (sum, folded) = (good, good)
        (sum[16 - count], sum[17 - count]) = (sum[16 - count] + 1, sum[17 - count] - 1)
        (folded[16 - count], folded[17 - count]) = (folded[16 - count] ^ 0x80, folded[17 - count] ^ 0x80)
        return [("sum", sum), ("exclusive or", folded)].map { name, block in
            end(block, of: strategy, number: count, name: "\(count) bytes, two wrong with the right \(name)")
        }
    }

    /// Returns an object that ends in a block without valid padding: its only block, its second or its fourth.
    private static func end(_ block: [UInt8], of strategy: Strategy, number: Int, name: String) -> VectorGroup {
        let before = [0, 16, 48][number % 3]
        let key = key(number)
        return failing(
            id: "padding-byte/\(name), after \(before)", flag: .paddingByte, strategy: strategy, key: key,
            ciphertext: ciphertext(ending: block, after: before, oracle: Oracle(strategy: strategy, key: key)),
            error: .invalidPadding)
    }

    /// The vectors for mutants: every class of bugs, in objects that take little time. The vectors that most mutants
    /// fail come first.
    package static func mutation() -> [VectorGroup] {
        var groups = exhaustive(blockCounts: 0...1)
        groups += chaining() + keyLengths() + readOrders() + interleavings() + concurrentReads() + circumstances()
        groups += badPaddings() + paddingBytes() + impossibleLengths() + paddingLookalikes()
        groups += lookalikePieces(longestByteCount: 1 << 20)
        groups += sequenceCarries() + counterCarries() + counterByteCarries() + shortNonces()
        groups += smallWindows() + offsetWidths() + seekStorms() + Array(monteCarlo().prefix(3))
        groups += specialBlocks() + longReads().filter { $0.plaintext.byteCount < 10 << 20 }
        // The largest classes are thinned out: all short objects, those that end at a block's edge or around the first
        // chunk's edge, and some others, with a part of their reads. The same flags kill each mutant in less time.
        groups += (continuousLengths() + chunkedLengths()).filter { group in
            let length = group.plaintext.byteCount
            return length <= 48 || length % 16 < 2 || length % 5 == 0 || (145...175).contains(length)
        }.map { $0.choosingEvery(3) }
        groups += residues().filter { $0.strategy.padding != Padding.none }.map { $0.choosingEvery(5) } + strideRests()
        groups += chunkEdges().filter { ($0.strategy.chunkByteCount ?? .max) <= 4096 }
        groups += windowEdges().filter { ($0.windowByteCounts.first ?? .max) <= 4096 }
        groups += chunkRests() + largeChunks() + chunkReads()
        groups += made("formats") { () throws(DecryptionError) in try DescribedVectors.known.chosenGroups() }
        groups += PlaylistSet.all + FilmSet.all.map { $0.choosingEvery(5) }
        return groups + largeOffsets().filter { $0.strategy.chunkByteCount == nil }
    }
}
