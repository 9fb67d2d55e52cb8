internal import RandomAccess
internal import Vectors

/// Small objects for checks that are about something else than ranges.
enum ExternalFixture {
    /// A generated object as a group without reads.
    static func group(
        id: String, strategy: Strategy, keyByteCount: Int, number: Int, plaintextByteCount: UInt64
    ) -> VectorGroup? {
        let bytes = (0..<keyByteCount).map { UInt8(truncatingIfNeeded: 29 * number + 11 * $0 + 3) }
        guard let key = try? SecretKey(bytes),
            let object = try? GeneratedObject(
                strategy: strategy, key: key, plaintextByteCount: plaintextByteCount, seed: UInt64(7000 + number))
        else { return nil }
        return VectorGroup(
            id: id, source: "generated, seed \(7000 + number)", flags: [], strategy: strategy, key: key,
            ciphertext: object.source,
            plaintext: GroupPlaintext(
                oracle: object.oracle, ciphertext: object.source, byteCount: plaintextByteCount),
            opening: .opens(plaintextByteCount: plaintextByteCount), reads: [])
    }

    /// A playlist as a group without reads; its segments are of a third of the plaintext each.
    static func playlist(id: String, number: Int, plaintextByteCount: UInt64) -> VectorGroup {
        let byteCount = Int(plaintextByteCount)
        return PlaylistSet.plain(
            id: id, number: number,
            segmentByteCounts: [byteCount / 3, byteCount / 3, byteCount - byteCount / 3 * 2])
    }

    /// A strategy that the subject has, the simplest first.
    static func strategy(of hello: ExternalHello) -> Strategy? { strategies(of: hello).first }

    /// The strategies that the subject has, one of each name.
    static func strategies(of hello: ExternalHello) -> [Strategy] {
        let iv = Block(bigEndianValue: 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff)
        let known: [Strategy] = [
            .cbcContinuous(iv: iv, padding: .pkcs7),
            .cbcChunked(chunkByteCount: 64, iv: iv, ivRule: .sequence, padding: .pkcs7), .ctr(iv: iv),
        ]
        return known.filter { hello.strategies.contains($0.name) }
    }
}

extension Strategy {
    /// The same strategy from another IV for another number.
    func replacingIV(number: Int) -> Strategy {
        let change = UInt128(truncatingIfNeeded: number) << 64
        switch self {
        case .ctr(let iv): return .ctr(iv: Block(bigEndianValue: iv.bigEndianValue ^ change))
        case .cbcContinuous(let iv, let padding):
            return .cbcContinuous(iv: Block(bigEndianValue: iv.bigEndianValue ^ change), padding: padding)
        case .cbcChunked(let chunkByteCount, let iv, let ivRule, let padding):
            let iv = Block(bigEndianValue: iv.bigEndianValue ^ change)
            return .cbcChunked(chunkByteCount: chunkByteCount, iv: iv, ivRule: ivRule, padding: padding)
        case .chunked: return self
        }
    }
}
