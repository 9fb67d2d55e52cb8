package import RandomAccess
internal import Support

/// What the oracle knows of an object of authenticated chunks once it has seen the header.
///
/// Textbook arithmetic of its own: chunk numbers by division, nonces as bytes, keys by libcrypto's HMAC, and nothing
/// of `RandomAccess`.
struct OracleChunks: Sendable {
    let aes: OracleAES
    /// The header that a writer makes for these keys.
    let header: [UInt8]
    let layout: OracleChunkLayout
    private let format: ChunkFormat
    private let baseNonce: [UInt8]

    /// Derives the keys from as many bytes as the format's header has; of Cobblestone's only the salt counts.
    init(
        _ format: ChunkFormat, key: SecretKey, header: [UInt8], layout: OracleChunkLayout
    ) throws(DecryptionError) {
        self.format = format
        self.layout = layout
        let input = key.withUnsafeBytes { Array($0) }
        switch format {
        case .cobblestone(let keyByteCount, let context):
            let name = keyByteCount == 32 ? "AEAD_AES_256_GCM" : "AEAD_AES_128_GCM"
            let salt = Array(header.prefix(24))
            let info = Array("c2sp.org/chunked-encryption@v1+\(name)".utf8) + [0] + salt + context
            let derived = SHAFunction.sha512.expand(input, info: info, byteCount: keyByteCount + 12 + 32)
            self.aes = OracleAES(key: try SecretKey(derived.prefix(keyByteCount)))
            self.baseNonce = Array(derived[keyByteCount..<keyByteCount + 12])
            self.header = salt + derived.suffix(32)
        case .tinkAESGCMHKDF(let associatedData, _, let derivedKeyByteCount):
            let salt = Array(header[1..<1 + derivedKeyByteCount])
            let extracted = SHAFunction.sha256.mac(key: salt, input)
            let derived = SHAFunction.sha256.expand(extracted, info: associatedData, byteCount: derivedKeyByteCount)
            self.aes = OracleAES(key: try SecretKey(derived))
            self.baseNonce = Array(header[(1 + derivedKeyByteCount)...])
            self.header = [UInt8(derivedKeyByteCount + 8)] + header.dropFirst()
        }
    }

    /// The first counter block of a chunk: its nonce, and the number 1.
    func start(ofChunk index: UInt64, isLast: Bool) -> OracleBlock {
        let number = (0..<8).map { UInt8(truncatingIfNeeded: index >> (56 - 8 * $0)) }
        switch format {
        case .cobblestone:
            let nonce = zip(baseNonce, [0, 0, 0, 0] + number).map { $0 ^ $1 }
            return OracleBlock(nonce + [0, 0, 0, 1])
        case .tinkAESGCMHKDF:
            return OracleBlock(baseNonce + number.suffix(4) + [isLast ? 1 : 0] + [0, 0, 0, 1])
        }
    }

    /// The chunk that a plaintext byte lies in; its first block is masked with the counter 2.
    func chunk(with offset: UInt64) -> Oracle.Chunk {
        let index = layout.chunk(at: offset)
        let start = layout.plaintextStart(ofChunk: index)
        return Oracle.Chunk(
            start: start, end: start + layout.byteCount(ofChunk: index),
            ciphertextStart: layout.ciphertextStart(ofChunk: index),
            iv: self.start(ofChunk: index, isLast: index == layout.chunkCount - 1).adding(1))
    }

    /// The hash for tags.
    func makeHash() -> OracleGHASH {
        OracleGHASH(key: aes.encrypt(OracleBlock([UInt8](repeating: 0, count: 16))))
    }

    /// The tag of a chunk's ciphertext.
    func tag(_ ciphertext: UnsafeRawBufferPointer, hash: OracleGHASH, chunk: UInt64, isLast: Bool) -> [UInt8] {
        (hash.hash(ciphertext) ^ aes.encrypt(start(ofChunk: chunk, isLast: isLast))).bytes
    }
}

/// Where the chunks of an object of a given ciphertext length lie, as the oracle reckons.
package struct OracleChunkLayout: Sendable {
    /// The bytes before the first chunk.
    package let headerByteCount: UInt64
    /// The number of chunks.
    package let chunkCount: UInt64
    let plaintextByteCount: UInt64
    let ciphertextByteCount: UInt64
    /// The plaintext bytes of a full chunk.
    let full: UInt64
    /// The plaintext bytes of the first chunk, if it is full.
    private let firstCapacity: UInt64

    /// For a ciphertext.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has.
    package init(_ format: ChunkFormat, ciphertextByteCount total: UInt64) throws(DecryptionError) {
        let (header, full, first) = Self.sizes(format)
        guard total >= header + 16 else {
            throw .truncatedCiphertext(byteCount: total, expected: "a header and a tag")
        }
        // Chunk by chunk, with big steps: the first one, then whole ones, then what is left.
        var rest = total - header
        var count: UInt64 = 1
        if rest > first + 16 {
            rest -= first + 16
            count += rest / (full + 16)
            rest %= full + 16
            if rest > 0 { count += 1 } else { rest = full + 16 }
        }
        var isPossible = rest >= 16
        if case .cobblestone = format { isPossible = isPossible && rest < full + 16 }
        guard isPossible else { throw .truncatedCiphertext(byteCount: total, expected: "a whole last chunk") }
        self.init(format, count: count, plaintext: total - header - 16 * count, total: total)
    }

    /// The bytes before the first chunk of a format, whatever follows them.
    package static func headerByteCount(of format: ChunkFormat) -> UInt64 { sizes(format).0 }

    /// For a plaintext, as a writer cuts it.
    init(_ format: ChunkFormat, plaintextByteCount length: UInt64) {
        let (header, full, first) = Self.sizes(format)
        let count: UInt64
        if case .cobblestone = format {
            count = length / full + 1
        } else {
            count = length <= first ? 1 : 1 + (length - first + full - 1) / full
        }
        self.init(format, count: count, plaintext: length, total: header + length + 16 * count)
    }

    private init(_ format: ChunkFormat, count: UInt64, plaintext: UInt64, total: UInt64) {
        (self.headerByteCount, self.full, self.firstCapacity) = Self.sizes(format)
        (self.chunkCount, self.plaintextByteCount, self.ciphertextByteCount) = (count, plaintext, total)
    }

    /// The number of the chunk that a plaintext byte lies in.
    func chunk(at offset: UInt64) -> UInt64 { offset < firstCapacity ? 0 : 1 + (offset - firstCapacity) / full }

    /// The number of the chunk that a ciphertext byte lies in, or 0 for one of the header.
    func chunk(atCiphertext offset: UInt64) -> UInt64 {
        let firstEnd = headerByteCount + firstCapacity + 16
        return offset < firstEnd ? 0 : 1 + (offset - firstEnd) / (full + 16)
    }

    /// Where a chunk's plaintext starts.
    func plaintextStart(ofChunk index: UInt64) -> UInt64 { index == 0 ? 0 : firstCapacity + (index - 1) * full }

    /// Where a chunk's ciphertext starts.
    package func ciphertextStart(ofChunk index: UInt64) -> UInt64 {
        headerByteCount + plaintextStart(ofChunk: index) + 16 * index
    }

    /// How many plaintext bytes a chunk holds.
    func byteCount(ofChunk index: UInt64) -> UInt64 {
        index == chunkCount - 1
            ? plaintextByteCount - plaintextStart(ofChunk: index) : index == 0 ? firstCapacity : full
    }

    /// The chunks that hold a range of plaintext, from the first one's start to the last one's end.
    package func ciphertext(of range: Range<UInt64>) -> Range<UInt64> {
        guard !range.isEmpty else { return headerByteCount..<headerByteCount }
        let last = chunk(at: range.upperBound - 1)
        let end = last == chunkCount - 1 ? ciphertextByteCount : ciphertextStart(ofChunk: last + 1)
        return ciphertextStart(ofChunk: chunk(at: range.lowerBound))..<end
    }

    private static func sizes(_ format: ChunkFormat) -> (header: UInt64, full: UInt64, first: UInt64) {
        switch format {
        case .cobblestone: return (56, 16384, 16384)
        case .tinkAESGCMHKDF(_, let segmentByteCount, let keyByteCount):
            let header = UInt64(keyByteCount) + 8
            return (header, segmentByteCount - 16, segmentByteCount - 16 - header)
        }
    }
}

/// GHASH with a table of products for each byte of a block: for tests, not for secrets.
///
/// - Source: NIST SP 800-38D, section 6.4; McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", section 4.1,
///   for the tables.
final class OracleGHASH: Sendable {
    /// The product of the hash key and each byte at each index in a block: entry 256 · index + byte.
    private let products: [OracleBlock]

    init(key: OracleBlock) {
        // H·xⁱ for each bit of a block, the first bit being the one of x⁰.
        var powers: [OracleBlock] = []
        var power = key
        for _ in 0..<128 {
            powers.append(power)
            power = power.timesX
        }
        var products: [OracleBlock] = []
        for index in 0..<16 {
            for byte in 0..<256 {
                var sum = OracleBlock(a: 0, b: 0, c: 0, d: 0)
                for bit in 0..<8 where byte >> (7 - bit) & 1 == 1 { sum = sum ^ powers[8 * index + bit] }
                products.append(sum)
            }
        }
        self.products = products
    }

    /// The hash of a ciphertext, its filling up to whole blocks, and its length.
    func hash(_ ciphertext: UnsafeRawBufferPointer) -> OracleBlock {
        var sum = OracleBlock(a: 0, b: 0, c: 0, d: 0)
        guard let start = ciphertext.baseAddress else { return sum }
        let wholeCount = ciphertext.count / 16
        for index in 0..<wholeCount { sum = times(sum ^ OracleBlock(loadingFrom: start + 16 * index)) }
        if ciphertext.count % 16 > 0 {
            let rest = Array(ciphertext[(16 * wholeCount)...])
            sum = times(sum ^ OracleBlock(rest + [UInt8](repeating: 0, count: 16 - rest.count)))
        }
        let bitCount = UInt64(ciphertext.count) * 8
        let length = OracleBlock(
            a: 0, b: 0, c: UInt32(truncatingIfNeeded: bitCount >> 32), d: UInt32(truncatingIfNeeded: bitCount))
        return times(sum ^ length)
    }

    private func times(_ block: OracleBlock) -> OracleBlock {
        products.withUnsafeBufferPointer { products in
            var sum = OracleBlock(a: 0, b: 0, c: 0, d: 0)
            for (word, value) in [block.a, block.b, block.c, block.d].enumerated() {
                for index in 0..<4 {
                    let byte = Int(value >> UInt32(24 - 8 * index) & 255)
                    sum = sum ^ products[256 * (4 * word + index) + byte]
                }
            }
            return sum
        }
    }
}

extension OracleBlock {
    /// The product with x: one bit to the right, and R where a bit falls out. Source: section 6.3, algorithm 1.
    fileprivate var timesX: OracleBlock {
        let fallsOut = d & 1 == 1
        return OracleBlock(
            a: a >> 1 ^ (fallsOut ? 0xe100_0000 : 0), b: b >> 1 | a << 31, c: c >> 1 | b << 31, d: d >> 1 | c << 31)
    }
}
