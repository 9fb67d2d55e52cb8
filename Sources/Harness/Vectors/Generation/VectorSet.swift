internal import ByteSources
internal import RandomAccess

/// The generated vectors, class by class. Which there are is the same in every run.
package enum VectorSet {
    /// Everything that `chunkwise verify` runs by default beside the files in `data/vectors`.
    package static func standard() -> [VectorGroup] {
        files.flatMap { $0.groups() }
    }

    /// Key number `index`: 16, 24 and 32 bytes in turn, distinct bytes in each.
    static func key(_ index: Int) -> SecretKey {
        let byteCount = [16, 24, 32][index % 3]
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: 7 * index + 13 * $0 + 1) }
        do {
            return try SecretKey(bytes)
        } catch {
            preconditionFailure("\(byteCount) bytes are an AES key: \(error)")
        }
    }

    /// IV number `index`: sixteen distinct bytes, each of two distinct digits.
    static func iv(_ index: Int) -> Block {
        Block(bigEndianValue: 0x0123_4567_89ab_cdef_1032_5476_98ba_dcfe ^ UInt128(index) << 64)
    }

    /// A small object that is held: a plaintext, and its ciphertext as a writer makes it.
    static func held(
        id: String, source: String = "generated", flags: [VectorFlag], strategy: Strategy, key: SecretKey,
        plaintext: [UInt8], windowByteCounts: [Int] = [.max], interleaving: String? = nil, threadCount: Int = 1,
        patterns: [ReadPattern]
    ) -> VectorGroup {
        VectorGroup(
            id: id, source: source, flags: flags, strategy: strategy, key: key,
            ciphertext: MemorySource(Oracle(strategy: strategy, key: key).encrypt(plaintext)),
            plaintext: GroupPlaintext(plaintext), windowByteCounts: windowByteCounts, interleaving: interleaving,
            threadCount: threadCount, patterns: patterns)
    }

    /// The first bytes of the stream for a seed.
    static func streamBytes(seed: UInt64, count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { SplitMix64Stream(seed: seed).fill($0, from: 0) }
        return bytes
    }

    /// Objects that are computed, and reads of them that are listed.
    static func generated(
        id: String, flags: [VectorFlag], strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64, seed: UInt64,
        windowByteCounts: [Int] = [.max], reads: [RangeRead]
    ) -> VectorGroup {
        generated(
            id: id, flags: flags, strategy: strategy, key: key, plaintextByteCount: plaintextByteCount, seed: seed,
            windowByteCounts: windowByteCounts, patterns: reads.map(ReadPattern.single))
    }

    /// Objects that are computed, and reads of them in few words.
    static func generated(
        id: String, flags: [VectorFlag], strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64, seed: UInt64,
        windowByteCounts: [Int] = [.max], interleaving: String? = nil, threadCount: Int = 1, patterns: [ReadPattern]
    ) -> VectorGroup {
        let object: GeneratedObject
        do {
            object = try GeneratedObject(
                strategy: strategy, key: key, plaintextByteCount: plaintextByteCount, seed: seed)
        } catch {
            preconditionFailure("\(id): \(error)")
        }
        var plaintext = GroupPlaintext(oracle: object.oracle, ciphertext: object.source, byteCount: plaintextByteCount)
        if plaintextByteCount <= 1 << 14 {
            do {
                plaintext = try plaintext.held()
            } catch {
                preconditionFailure("\(id): \(error)")
            }
        }
        return VectorGroup(
            id: id, source: "generated, seed \(seed)", flags: flags, strategy: strategy, key: key,
            ciphertext: object.source, plaintext: plaintext, windowByteCounts: windowByteCounts,
            rule: .generated(object),
            interleaving: interleaving, threadCount: threadCount, patterns: patterns)
    }
}

extension Strategy {
    /// The strategy with what tells it from others, for identifiers.
    package var label: String {
        switch self {
        case .cbcContinuous(_, let padding): "\(name) \(padding.rawValue)"
        case .cbcChunked(let chunkByteCount, _, let ivRule, let padding):
            "\(name) \(ivRule.rawValue) \(padding.rawValue) chunk=\(chunkByteCount)"
        case .ctr: name
        case .chunked(.cobblestone(_, let context)):
            context.isEmpty ? name : "\(name) context of \(context.count)"
        case .chunked(.tinkAESGCMHKDF(_, let segmentByteCount, let derivedKeyByteCount)):
            "\(name) segment=\(segmentByteCount) aes\(derivedKeyByteCount * 8)"
        }
    }
}
