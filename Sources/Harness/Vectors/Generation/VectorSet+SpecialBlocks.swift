internal import ByteSources
internal import RandomAccess

extension VectorSet {
    /// Blocks that programs may take for something else: of zeros, of ones, equal to each other or to the IV, in the
    /// ciphertext and in the plaintext; and IVs of zeros and of ones.
    package static func specialBlocks() -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for (index, strategy) in smallStrategies.enumerated() {
            let ivs: [Block] = [
                strategy.iv, Block(bigEndianValue: 0), Block(bigEndianValue: .max),
            ]
            for (place, iv) in ivs.enumerated() {
                let strategy = strategy.replacingIV(with: iv)
                let number = 3 * index + place
                let blocks = Self.blocks(seed: UInt64(19000 + number), iv: iv)
                let name = "special-blocks/\(strategy.label)/iv \(["any", "zeros", "ones"][place])"
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

    /// Twelve blocks.
    private static func blocks(seed: UInt64, iv: Block) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 16)
        let ones = [UInt8](repeating: 0xff, count: 16)
        let some = streamBytes(seed: seed, count: 16)
        let other = streamBytes(seed: seed + 500, count: 16)
        return [some, zeros, zeros, other, other, other, ones, some, iv.bytes, ones, zeros, other].flatMap { $0 }
    }

    /// An object that is defined by its ciphertext.
    private static func decrypted(
        id: String, strategy: Strategy, key: SecretKey, _ ciphertext: [UInt8]
    ) -> VectorGroup {
        let source = MemorySource(ciphertext)
        let plaintext = GroupPlaintext(
            oracle: Oracle(strategy: strategy, key: key), ciphertext: source, byteCount: UInt64(ciphertext.count))
        do {
            return VectorGroup(
                id: id, source: "generated", flags: [.specialBlock], strategy: strategy, key: key, ciphertext: source,
                plaintext: try plaintext.held(), windowByteCounts: [.max, 32], patterns: [patterns])
        } catch {
            preconditionFailure("\(id): \(error)")
        }
    }
}

extension Strategy {
    /// The given IV or counter block.
    fileprivate var iv: Block {
        switch self {
        case .ctr(let iv), .cbcContinuous(let iv, _), .cbcChunked(_, let iv, _, _): iv
        case .chunked: Block(bigEndianValue: 0)
        }
    }

    /// The same strategy from another IV.
    fileprivate func replacingIV(with iv: Block) -> Strategy {
        switch self {
        case .ctr: .ctr(iv: iv)
        case .chunked: self
        case .cbcContinuous(_, let padding): .cbcContinuous(iv: iv, padding: padding)
        case .cbcChunked(let chunkByteCount, _, let ivRule, let padding):
            .cbcChunked(chunkByteCount: chunkByteCount, iv: iv, ivRule: ivRule, padding: padding)
        }
    }
}
