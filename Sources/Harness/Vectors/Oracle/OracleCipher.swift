import RandomAccess

/// A cipher with its key, as in textbooks: it decrypts data anywhere in a chunk, and computes the tag of a whole chunk.
enum OracleCipher: Sendable {
    case ctr(OracleAES)
    case cbc(OracleAES)
    case gcm(OracleAES, OracleGHASH)
    case chaCha([UInt8], isExtended: Bool)
    case salsa([UInt8])
    /// The ciphers of the data and of the tweak.
    case xts(OracleAES, OracleAES)
    case ocb(OracleOCB)
    case eax(OracleAES)
    /// AES with the key, whose length it keeps, to derive the keys for a nonce.
    case gcmSIV(OracleAES, keyByteCount: Int)
    /// The ciphers of the tag and of the data.
    case siv(OracleAES, OracleAES)

    /// Finds a cipher by its name in descriptions.
    ///
    /// - Throws: `DecryptionError.unsupported` for an unknown name, `.invalidKey` for a wrong key length.
    init(_ name: [UInt8], key: [UInt8]) throws(DecryptionError) {
        func aes(_ key: some Collection<UInt8>) throws(DecryptionError) -> OracleAES {
            OracleAES(key: try SecretKey(Array(key)))
        }
        func longKey() throws(DecryptionError) -> [UInt8] {
            guard key.count == 32 else { throw .invalidKey(byteCount: key.count) }
            return key
        }
        switch String(decoding: name, as: UTF8.self) {
        case "aes-ctr": self = .ctr(try aes(key))
        case "aes-cbc": self = .cbc(try aes(key))
        case "aes-gcm":
            let aes = try aes(key)
            self = .gcm(aes, OracleGHASH(key: aes.encrypt(OracleBlock(a: 0, b: 0, c: 0, d: 0))))
        case "chacha20-poly1305": self = .chaCha(try longKey(), isExtended: false)
        case "xchacha20-poly1305": self = .chaCha(try longKey(), isExtended: true)
        case "xsalsa20-poly1305": self = .salsa(try longKey())
        case "aes-ocb": self = .ocb(OracleOCB(aes: try aes(key)))
        case "aes-eax": self = .eax(try aes(key))
        case "aes-gcm-siv":
            guard key.count != 24 else { throw .invalidKey(byteCount: key.count) }
            self = .gcmSIV(try aes(key), keyByteCount: key.count)
        case let name where name == "aes-xts" || name == "aes-siv":
            let half = key.count / 2
            guard half != 24 || name == "aes-siv", key.count % 2 == 0 else {
                throw .invalidKey(byteCount: key.count)
            }
            let (first, second) = (try aes(key[..<half]), try aes(key[half...]))
            self = name == "aes-xts" ? .xts(first, second) : .siv(first, second)
        case let name: throw .unsupported("the cipher \"\(name)\": expected one that the oracle has")
        }
    }

    /// Says whether the cipher has tags.
    var isAuthenticated: Bool {
        switch self {
        case .ctr, .cbc, .xts: false
        case .gcm, .chaCha, .salsa, .ocb, .eax, .gcmSIV, .siv: true
        }
    }

    /// Says whether the tag is computed from the plaintext, so that decryption starts from the tag.
    var hasSyntheticIV: Bool {
        switch self {
        case .gcmSIV, .siv: true
        default: false
        }
    }

    /// Says whether the cipher accepts a nonce of this length.
    func takes(nonce: [UInt8]) -> Bool {
        switch self {
        case .ctr, .cbc, .xts: nonce.count == 16
        case .gcm, .eax, .siv: !nonce.isEmpty
        case .ocb: (1...15).contains(nonce.count)
        case .gcmSIV: nonce.count == 12
        case .chaCha(_, let isExtended): nonce.count == (isExtended ? 24 : 12)
        case .salsa: nonce.count == 24
        }
    }

    /// Decrypts a part of a chunk in place.
    ///
    /// - Parameters:
    ///   - buffer: The ciphertext: whole blocks in CBC and XTS, otherwise with space for a whole block at the end.
    ///   - offset: Its offset in the chunk's data, a multiple of 16.
    ///   - nonce: The chunk's nonce, IV, counter block or tweak.
    ///   - previous: In CBC the block before it, which is the IV at the start. With a synthetic IV, the chunk's tag.
    ///   - byteCount: The length of the chunk's data, which matters in OCB.
    func decrypt(
        _ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64, nonce: [UInt8], previous: [UInt8] = [],
        of byteCount: UInt64 = .max
    ) {
        switch self {
        case .ctr(let aes):
            var counter = OracleBlock(nonce).adding(offset / 16)
            buffer.forEachBlock { block in
                defer { counter = counter.adding(1) }
                return aes.encrypt(counter) ^ block
            }
        case .gcm(let aes, let hash):
            var counter = Self.firstCounter(hash, nonce)
            // Only the last 32 bits count up. The first block is used for the tag.
            counter.d &+= UInt32(truncatingIfNeeded: offset / 16)
            buffer.forEachBlock { block in
                counter.d &+= 1
                return aes.encrypt(counter) ^ block
            }
        case .cbc(let aes):
            var previous = OracleBlock(previous)
            buffer.forEachBlock { block in
                defer { previous = block }
                return aes.decrypt(block) ^ previous
            }
        case .xts(let aes, let tweakAES):
            var tweak = OracleTweak(tweakAES.encrypt(OracleBlock(nonce)))
            for _ in 0..<offset / 16 { tweak.double() }
            buffer.forEachBlock { block in
                defer { tweak.double() }
                return aes.decrypt(block ^ tweak.block) ^ tweak.block
            }
        case .ocb(let ocb): ocb.process(buffer, from: offset / 16, of: byteCount, nonce: nonce, isEncrypting: false)
        case .eax(let aes):
            let counter = aes.code(0, nonce).adding(offset / 16)
            Self.add(to: buffer) { aes.encrypt(counter.adding($0)) }
        case .gcmSIV(let generator, let keyByteCount):
            let keys = OracleGCMSIV(generator, keyByteCount: keyByteCount, nonce: nonce)
            Self.add(to: buffer) { keys.aes.encrypt(keys.counter(previous, offset / 16 + $0)) }
        case .siv(_, let aes):
            var counter = OracleBlock(previous)
            // Source: RFC 5297, section 2.5.
            (counter.c, counter.d) = (counter.c & 0x7FFF_FFFF, counter.d & 0x7FFF_FFFF)
            Self.add(to: buffer) { aes.encrypt(counter.adding(offset / 16 + $0)) }
        case .chaCha, .salsa:
            // The stream starts with the tag's key. In NaCl the data follow directly.
            var position = offset
            if case .salsa = self { position += 32 } else { position += 64 }
            var mask: [UInt8] = []
            for index in buffer.indices {
                let inBlock = Int((position + UInt64(index)) % 64)
                if mask.isEmpty || inBlock == 0 {
                    mask = streamBlock((position + UInt64(index)) / 64, nonce: nonce)
                }
                buffer[index] ^= mask[inBlock]
            }
        }
    }

    /// XORs each block with a mask that depends on its index.
    private static func add(to buffer: UnsafeMutableRawBufferPointer, _ mask: (UInt64) -> OracleBlock) {
        var number: UInt64 = 0
        buffer.forEachBlock { block in
            defer { number += 1 }
            return block ^ mask(number)
        }
    }

    /// Encrypts all of a chunk's data, and computes its tag; empty for a cipher without tags.
    func seal(
        _ bytes: [UInt8], nonce: [UInt8], associatedData: [UInt8]
    ) -> (ciphertext: [UInt8], tag: [UInt8]) {
        let synthetic = hasSyntheticIV ? tag(ofPlaintext: bytes, nonce: nonce, associatedData: associatedData) : []
        let ciphertext = encrypt(bytes, nonce: nonce, tag: synthetic)
        return (
            ciphertext, tag(ciphertext, nonce: nonce, associatedData: associatedData, found: synthetic)
        )
    }

    /// Encrypts all of a chunk's data, in whole blocks for CBC and XTS. In CBC these may also be later blocks, with the
    /// block before them as the nonce. A cipher with a synthetic IV needs the tag.
    func encrypt(_ bytes: [UInt8], nonce: [UInt8], tag: [UInt8] = []) -> [UInt8] {
        // Extends the last block to its full length.
        var result = bytes + [UInt8](repeating: 0, count: (16 - bytes.count % 16) % 16)
        result.withUnsafeMutableBytes { buffer in
            switch self {
            case .cbc(let aes):
                var previous = OracleBlock(nonce)
                buffer.forEachBlock { block in
                    previous = aes.encrypt(block ^ previous)
                    return previous
                }
            case .xts(let aes, let tweakAES):
                var tweak = OracleTweak(tweakAES.encrypt(OracleBlock(nonce)))
                buffer.forEachBlock { block in
                    defer { tweak.double() }
                    return aes.encrypt(block ^ tweak.block) ^ tweak.block
                }
            case .ocb(let ocb):
                ocb.process(buffer, from: 0, of: UInt64(bytes.count), nonce: nonce, isEncrypting: true)
            // The others XOR a key stream in both directions.
            default: decrypt(buffer, at: 0, nonce: nonce, previous: tag)
            }
        }
        return Array(result[..<bytes.count])
    }

    /// Returns a 64-byte block of the key stream.
    private func streamBlock(_ number: UInt64, nonce: [UInt8]) -> [UInt8] {
        switch self {
        case .chaCha(let key, isExtended: false): OracleStream.chaCha(key, UInt32(truncatingIfNeeded: number), nonce)
        case .chaCha(let key, isExtended: true):
            OracleStream.chaCha(
                OracleStream.hChaCha(key, Array(nonce[..<16])), UInt32(truncatingIfNeeded: number),
                [0, 0, 0, 0] + nonce[16...])
        case .salsa(let key):
            OracleStream.salsa(OracleStream.hSalsa(key, Array(nonce[..<16])), number, Array(nonce[16...]))
        default: preconditionFailure("no stream of 64-byte blocks")
        }
    }

    /// Returns the tag of a chunk's plaintext, for ciphers that compute it from the plaintext.
    private func tag(ofPlaintext plaintext: [UInt8], nonce: [UInt8], associatedData: [UInt8]) -> [UInt8] {
        switch self {
        case .ocb(let ocb): ocb.tag(plaintext, nonce: nonce, associatedData: associatedData)
        case .gcmSIV(let generator, let keyByteCount):
            OracleGCMSIV(generator, keyByteCount: keyByteCount, nonce: nonce)
                .tag(plaintext, associatedData: associatedData)
        case .siv(let aes, _): aes.code(strings: [associatedData, nonce], plaintext).bytes
        default: preconditionFailure("a tag of the ciphertext")
        }
    }

    /// Returns the tag of a chunk's ciphertext; empty for a cipher without tags. A cipher with a synthetic IV decrypts
    /// with the tag that was found.
    func tag(_ ciphertext: [UInt8], nonce: [UInt8], associatedData: [UInt8], found: [UInt8] = []) -> [UInt8] {
        switch self {
        case .ctr, .cbc, .xts: return []
        case .gcm(let aes, let hash):
            let sum = hash.hash(ciphertext, associatedData: associatedData)
            return (sum ^ aes.encrypt(Self.firstCounter(hash, nonce))).bytes
        case .eax(let aes):
            return (aes.code(0, nonce) ^ aes.code(1, associatedData) ^ aes.code(2, ciphertext)).bytes
        case .ocb, .gcmSIV, .siv:
            var plaintext = ciphertext + [UInt8](repeating: 0, count: (16 - ciphertext.count % 16) % 16)
            plaintext.withUnsafeMutableBytes {
                decrypt($0, at: 0, nonce: nonce, previous: found, of: UInt64(ciphertext.count))
            }
            return tag(
                ofPlaintext: Array(plaintext[..<ciphertext.count]), nonce: nonce, associatedData: associatedData)
        case .salsa: return OraclePoly1305.tag(ciphertext, key: Array(streamBlock(0, nonce: nonce)[..<32]))
        case .chaCha:
            func filled(_ bytes: [UInt8]) -> [UInt8] {
                bytes + [UInt8](repeating: 0, count: (16 - bytes.count % 16) % 16)
            }
            func length(_ bytes: [UInt8]) -> [UInt8] {
                (0..<8).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
            }
            let message = filled(associatedData) + filled(ciphertext) + length(associatedData) + length(ciphertext)
            return OraclePoly1305.tag(message, key: Array(streamBlock(0, nonce: nonce)[..<32]))
        }
    }

    /// Returns the counter block of the tag. Source: NIST SP 800-38D, section 7.1, step 2.
    private static func firstCounter(_ hash: OracleGHASH, _ nonce: [UInt8]) -> OracleBlock {
        nonce.count == 12 ? OracleBlock(nonce + [0, 0, 0, 1]) : hash.hash(nonce, associatedData: [])
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Replaces each whole block; a partial one at the end stays.
    func forEachBlock(_ change: (OracleBlock) -> OracleBlock) {
        guard let start = baseAddress else { return }
        for index in 0..<count / 16 {
            change(OracleBlock(loadingFrom: start + 16 * index)).store(to: start + 16 * index)
        }
    }
}

/// A tweak of XTS: 128 bits, the least significant byte first.
///
/// - Source: IEEE 1619-2007, section 5.2.
private struct OracleTweak {
    private var value: UInt128

    init(_ block: OracleBlock) { value = block.bytes.reversed().reduce(0) { $0 << 8 | UInt128($1) } }

    var block: OracleBlock { OracleBlock((0..<16).map { UInt8(truncatingIfNeeded: value >> UInt128(8 * $0)) }) }

    /// Multiplies by the primitive element.
    mutating func double() { value = value << 1 ^ (value >> 127 == 1 ? 0x87 : 0) }
}
