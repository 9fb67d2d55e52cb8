/// OCB3, after the pseudocode. Source: RFC 7253, section 4.
struct OracleOCB: Sendable {
    let aes: OracleAES

    /// L_*, L_$, L_0, …. Source: section 4.1.
    private var lastMask: OracleBlock { aes.encrypt(.zero) }
    private var tagMask: OracleBlock { lastMask.doubled }

    /// The offsets before block 1, 2, …, from an initial offset on.
    private struct Offsets {
        var offset: OracleBlock
        var number: UInt64 = 0
        /// L_0, and the later ones computed so far.
        var masks: [OracleBlock]

        /// Offset_i = Offset_{i-1} ⊕ L_{ntz(i)}.
        mutating func next() -> OracleBlock {
            number += 1
            let zeros = number.trailingZeroBitCount
            while masks.count <= zeros { masks.append(masks[masks.count - 1].doubled) }
            offset = offset ^ masks[zeros]
            return offset
        }
    }

    private func offsets(from offset: OracleBlock) -> Offsets { Offsets(offset: offset, masks: [tagMask.doubled]) }

    /// Offset_0. Source: section 4.2.
    private func firstOffset(_ nonce: [UInt8]) -> OracleBlock {
        var block = [UInt8](repeating: 0, count: 16 - nonce.count) + nonce
        block[15 - nonce.count] |= 1
        let bottom = Int(block[15] & 63)
        block[15] &= 0xC0
        let top = aes.encrypt(OracleBlock(block)).bytes
        let stretch = top + (0..<8).map { top[$0] ^ top[$0 + 1] }
        let (bytes, bits) = (bottom / 8, bottom % 8)
        return OracleBlock(
            (0..<16).map { index in
                let place = index + bytes
                let pair = UInt16(stretch[place]) << 8 | UInt16(place < 23 ? stretch[place + 1] : 0)
                return UInt8(truncatingIfNeeded: pair >> UInt16(8 - bits))
            })
    }

    /// Processes blocks from index `first` on. A partial block at the end of the message is only XORed with a mask.
    func process(
        _ blocks: UnsafeMutableRawBufferPointer, from first: UInt64, of byteCount: UInt64, nonce: [UInt8],
        isEncrypting: Bool
    ) {
        var offsets = offsets(from: firstOffset(nonce))
        for _ in 0..<first { _ = offsets.next() }
        var number = first
        blocks.forEachBlock { block in
            number += 1
            guard 16 * number <= byteCount else { return block ^ aes.encrypt(offsets.offset ^ lastMask) }
            let offset = offsets.next()
            return offset ^ (isEncrypting ? aes.encrypt(block ^ offset) : aes.decrypt(block ^ offset))
        }
    }

    /// Returns the tag of a plaintext.
    func tag(_ plaintext: [UInt8], nonce: [UInt8], associatedData: [UInt8]) -> [UInt8] {
        var (offsets, sum) = (offsets(from: firstOffset(nonce)), OracleBlock.zero)
        for start in stride(from: 0, to: plaintext.count, by: 16) {
            let piece = plaintext[start..<min(start + 16, plaintext.count)]
            if piece.count < 16 { offsets.offset = offsets.offset ^ lastMask } else { _ = offsets.next() }
            sum = sum ^ OracleBlock(marking: piece)
        }
        return (aes.encrypt(sum ^ offsets.offset ^ tagMask) ^ hash(associatedData)).bytes
    }

    /// HASH. Source: section 4.1.
    private func hash(_ bytes: [UInt8]) -> OracleBlock {
        var (offsets, sum) = (offsets(from: .zero), OracleBlock.zero)
        for start in stride(from: 0, to: bytes.count, by: 16) {
            let piece = bytes[start..<min(start + 16, bytes.count)]
            let offset = piece.count < 16 ? offsets.offset ^ lastMask : offsets.next()
            sum = sum ^ aes.encrypt(OracleBlock(marking: piece) ^ offset)
        }
        return sum
    }
}

extension OracleAES {
    /// CMAC. Source: RFC 4493, section 2.4.
    func code(_ message: [UInt8]) -> OracleBlock {
        let subkey = encrypt(.zero).doubled
        var sum = OracleBlock.zero
        // All blocks but the last, which may be empty or partial.
        let lastStart = message.isEmpty ? 0 : (message.count - 1) / 16 * 16
        message.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            for offset in stride(from: 0, to: lastStart, by: 16) {
                sum = encrypt(sum ^ OracleBlock(loadingFrom: start + offset))
            }
        }
        let last = message[lastStart...]
        return encrypt(sum ^ OracleBlock(marking: last) ^ (last.count == 16 ? subkey : subkey.doubled))
    }

    /// Returns the code of a number, as a block, followed by a message. Source: Bellare, Rogaway and Wagner, "The EAX
    /// Mode of Operation", figure 1.
    func code(_ number: UInt8, _ message: [UInt8]) -> OracleBlock {
        code([UInt8](repeating: 0, count: 15) + [number] + message)
    }

    /// S2V. Source: RFC 5297, section 2.4.
    func code(strings: [[UInt8]], _ plaintext: [UInt8]) -> OracleBlock {
        var sum = code([UInt8](repeating: 0, count: 16))
        for string in strings { sum = sum.doubled ^ code(string) }
        guard plaintext.count >= 16 else { return code((sum.doubled ^ OracleBlock(marking: plaintext[...])).bytes) }
        return code(plaintext.dropLast(16) + (OracleBlock(Array(plaintext.suffix(16))) ^ sum).bytes)
    }
}

/// The keys of GCM-SIV for a nonce. Source: RFC 8452, section 4.
struct OracleGCMSIV {
    private let hashKey: UInt128
    let aes: OracleAES
    private let nonce: [UInt8]

    init(_ generator: OracleAES, keyByteCount: Int, nonce: [UInt8]) {
        func half(_ number: UInt8) -> [UInt8] {
            Array(generator.encrypt(OracleBlock([number, 0, 0, 0] + nonce)).bytes[..<8])
        }
        self.nonce = nonce
        hashKey = Self.number(half(0) + half(1))
        aes = OracleAES((0..<UInt8(keyByteCount / 8)).flatMap { half(2 + $0) })
    }

    /// Returns the tag of a plaintext. Source: section 4.
    func tag(_ plaintext: [UInt8], associatedData: [UInt8]) -> [UInt8] {
        var sum: UInt128 = 0
        for bytes in [associatedData, plaintext] {
            for start in stride(from: 0, to: bytes.count, by: 16) {
                sum = times(sum ^ Self.number(bytes[start..<min(start + 16, bytes.count)]))
            }
        }
        sum = times(sum ^ (UInt128(plaintext.count * 8) << 64 | UInt128(associatedData.count * 8)))
        sum ^= Self.number(nonce)
        return aes.encrypt(Self.block(sum & (1 << 127 - 1))).bytes
    }

    /// Returns the counter block `count` blocks after the first. Source: section 4.
    func counter(_ tag: [UInt8], _ count: UInt64) -> OracleBlock {
        let first = Self.number(tag) | 1 << 127
        let low = UInt32(truncatingIfNeeded: first) &+ UInt32(truncatingIfNeeded: count)
        return Self.block((first >> 32) << 32 | UInt128(low))
    }

    /// Returns the number in bytes with the least significant byte first. Source: section 3.
    private static func number(_ bytes: some BidirectionalCollection<UInt8>) -> UInt128 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt128($1) }
    }

    private static func block(_ number: UInt128) -> OracleBlock {
        OracleBlock((0..<16).map { UInt8(truncatingIfNeeded: number >> UInt128(8 * $0)) })
    }

    /// Returns dot(a, H) = a · H · x⁻¹²⁸ modulo x¹²⁸ + x¹²⁷ + x¹²⁶ + x¹²¹ + 1, bit by bit. Source: section 3.
    private func times(_ factor: UInt128) -> UInt128 {
        var product: UInt128 = 0
        for bit in 0..<128 {
            if factor >> UInt128(bit) & 1 == 1 { product ^= hashKey }
            // Divides by x, after adding the modulus if the lowest bit is set.
            product = product >> 1 ^ (product & 1 == 1 ? 0b1110_0001 << 120 : 0)
        }
        return product
    }
}

extension OracleBlock {
    static let zero = OracleBlock(a: 0, b: 0, c: 0, d: 0)

    /// Up to 16 bytes; fewer are followed by a 1 bit and zeros.
    init(marking bytes: ArraySlice<UInt8>) {
        self.init(Array((bytes + [0x80] + [UInt8](repeating: 0, count: 15)).prefix(16)))
    }

    /// The product with x, where the first bit is the highest power: one bit to the left.
    var doubled: OracleBlock {
        OracleBlock(
            a: a << 1 | b >> 31, b: b << 1 | c >> 31, c: c << 1 | d >> 31, d: d << 1 ^ (a >> 31 == 1 ? 0x87 : 0))
    }
}
