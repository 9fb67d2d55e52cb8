internal import ByteSources
internal import RandomAccess

extension VectorSet {
    /// Every value of the last byte: the sixteen right ones, with data before them that looks like more padding, and
    /// with each of their bytes wrong in turn; and the 240 values that are never right.
    package static func paddingBytes() -> [VectorGroup] {
        let strategy = Strategy.cbcContinuous(iv: iv(12), padding: .pkcs7)
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
        // Before the padding: other bytes, and the padding's own value.
        [UInt8(0x41), UInt8(count)].enumerated().map { place, filling in
            let before = [0, 16, 48][(count + place) % 3]
            let data = streamBytes(seed: UInt64(count), count: before) + [UInt8](repeating: filling, count: 16 - count)
            let end = UInt64(data.count)
            return held(
                id: "padding-byte/\(count) bytes after \(before), \(place == 0 ? "other data" : "data alike")",
                flags: [.paddingByte], strategy: strategy, key: key(count + place), plaintext: data,
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

    /// Two bytes are wrong so that a sum, or an exclusive or, over the padding is right.
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

    /// An object that ends in a block that is no padding: its only block, its second or its fourth.
    private static func end(_ block: [UInt8], of strategy: Strategy, number: Int, name: String) -> VectorGroup {
        let before = [0, 16, 48][number % 3]
        let key = key(number)
        return failing(
            id: "padding-byte/\(name), after \(before)", flag: .paddingByte, strategy: strategy, key: key,
            ciphertext: ciphertext(ending: block, after: before, oracle: Oracle(strategy: strategy, key: key)),
            error: .invalidPadding)
    }
}
