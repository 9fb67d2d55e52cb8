internal import RandomAccess
internal import Vectors

extension Mutant {
    /// Faults in many blocks at once, and in the memory around them.
    static let strides: [Mutant] =
        [8, 16, 32, 64, 128].map { width in
            .backend(
                "stride-\(width)-in-place", "In place, block \(width) is chained to plaintext.", flag: .strideEdge,
                source: "Legrandin/pycryptodome#582, intel/isa-l_crypto#143"
            ) { (cipher, base, stretch) throws(DecryptionError) in
                guard cipher == .aesCBC, stretch.blockCount > width else { return try stretch.process(with: base) }
                try stretch.part(0..<width, iv: stretch.iv).process(with: base)
                // If the decryption is in place, this is already plaintext.
                let next = stretch.ciphertext(width - 1)
                try stretch.part(width..<stretch.blockCount, iv: next).process(with: base)
            }
        }
        + [24, 32].flatMap { keyByteCount in
            ["ctr", "cbc"].map { mode in
                .backend(
                    "stride-rest-\(mode)-\(keyByteCount * 8)",
                    "With keys of \(keyByteCount * 8) bits, a step of four blocks that is left over is wrong in "
                        + "\(mode).",
                    flag: .strideEdge, source: "openssl/openssl#32883"
                ) { (cipher, base, stretch) throws(DecryptionError) in
                    try stretch.process(with: base)
                    let whole = stretch.blockCount / 8 * 8
                    guard cipher.mode == mode, stretch.keyByteCount == keyByteCount, stretch.blockCount - whole >= 4,
                        stretch.blockCount > 16
                    else { return }
                    let rest = stretch.output + 16 * whole
                    rest.storeBytes(of: rest.load(as: UInt8.self) ^ 1, as: UInt8.self)
                }
            }
        } + [
            .backend(
                "chain-of-500", "From the 500th block of a stretch on, the cipher is right and the chain is not.",
                flag: .monteCarlo, source: "NIST AESAVS, section 6.4.2"
            ) { (cipher, base, stretch) throws(DecryptionError) in
                try stretch.process(with: base)
                if cipher == .aesCBC, stretch.blockCount > 500 {
                    stretch.output.storeBytes(
                        of: stretch.output.load(fromByteOffset: 16 * 500, as: UInt8.self) ^ 1, toByteOffset: 16 * 500,
                        as: UInt8.self)
                }
            },
            .backend(
                "stride-tail-dropped", "Blocks left over after eights are not decrypted.", flag: .strideEdge,
                source: "vectorised code without a tail loop"
            ) { (cipher, base, stretch) throws(DecryptionError) in
                let whole = stretch.blockCount / 8 * 8
                guard cipher == .aesCBC, whole > 0, whole < stretch.blockCount else {
                    return try stretch.process(with: base)
                }
                try stretch.part(0..<whole, iv: stretch.iv).process(with: base)
            },
            .backend(
                "stride-counter-lost", "Counters of the blocks after the first eight start again.", flag: .strideEdge,
                source: "vectorised code without a tail loop"
            ) { (cipher, base, stretch) throws(DecryptionError) in
                guard cipher == .aesCTR, stretch.blockCount > 8 else { return try stretch.process(with: base) }
                try stretch.part(0..<8, iv: stretch.iv).process(with: base)
                try stretch.part(8..<stretch.blockCount, iv: stretch.iv).process(with: base)
            },
            .backend(
                "in-place-chained-late", "In place, all blocks after the first are chained to plaintext.",
                flag: .strideEdge, source: "intel/isa-l_crypto#143"
            ) { (cipher, base, stretch) throws(DecryptionError) in
                guard cipher == .aesCBC, stretch.isInPlace else { return try stretch.process(with: base) }
                var iv = stretch.iv
                for index in 0..<stretch.blockCount {
                    try stretch.part(index..<index + 1, iv: iv).process(with: base)
                    iv = stretch.ciphertext(index)
                }
            },
            .backend(
                "counter-starts-at-ffff", "A call whose counter block ends in ffff decrypts its first byte wrongly.",
                flag: .counterCarry8, source: "Legrandin/pycryptodome#582"
            ) { (cipher, base, stretch) throws(DecryptionError) in
                try stretch.process(with: base)
                guard cipher == .aesCTR, stretch.blockCount > 0, stretch.iv.bigEndianValue & 0xffff == 0xffff else {
                    return
                }
                stretch.output.storeBytes(of: stretch.output.load(as: UInt8.self) ^ 1, as: UInt8.self)
            },
            .delivery(
                "touches-behind-count", "The byte behind the delivered ones is touched.", flag: .bufferBounds,
                source: "openssl/openssl#10498"
            ) { read in
                if read.count < read.buffer.count { read.buffer[read.count] = 16 }
                return read.count
            },
            .delivery(
                "touches-behind-buffer", "The byte behind the buffer is touched.", flag: .bufferBounds,
                source: "openssl/openssl#10498"
            ) { read in
                // The harness has its own bytes there, to detect this.
                if read.count > 0 {
                    read.buffer.baseAddress?.storeBytes(of: 1, toByteOffset: read.buffer.count, as: UInt8.self)
                }
                return read.count
            },
            .delivery(
                "touches-before-buffer", "The byte before the buffer is touched where a read starts inside a block.",
                flag: .bufferBounds, source: "openssl/openssl#10498"
            ) { read in
                if read.count > 0, read.offset % 16 > 0 {
                    read.buffer.baseAddress?.storeBytes(of: 1, toByteOffset: -1, as: UInt8.self)
                }
                return read.count
            },
        ]

    /// Faults in the CTR counter.
    static let counters: [Mutant] =
        shortNonces
        + [
            (8, VectorFlag.counterCarry8), (16, .counterCarry8), (24, .counterCarry8), (32, .counterCarry32),
            (64, .counterCarry64),
        ].flatMap { bits, flag in
            [
                .counter(
                    "counter-\(bits)-bit", "The counter carries no further than \(bits) bits.", flag: flag,
                    source: "NIST SP 800-38A, appendix B.1"
                ) {
                    $0.advanced(by: $1, bitWidth: bits)
                },
                .textbook(
                    "counter-\(bits)-bit-start", "The counter of a read's start carries no further than \(bits) bits.",
                    flag: flag, source: "bcgit/bc-java#1775"
                ) {
                    $0.iv = { question in
                        guard question.strategy.cipher == .aesCTR else { return question.right }
                        return question.given.advanced(by: question.location.block, bitWidth: bits)
                    }
                },
            ]
        } + [
            .counter(
                "counter-traps", "A counter that wraps is an error.", flag: .counterWrap,
                source: "krzyzanowskim/CryptoSwift: Swift's +"
            ) { (iv, block) throws(DecryptionError) in
                guard iv.bigEndianValue <= .max - UInt128(block) else {
                    throw .backend(name: "injected", operation: "increment", reason: "overflow")
                }
                return iv.advanced(by: block)
            },
            .counter(
                "counter-saturates", "A counter stops at all ones.", flag: .counterWrap, source: "rust-crypto PR313"
            ) { iv, block in
                let (sum, overflow) = iv.bigEndianValue.addingReportingOverflow(UInt128(block))
                return Block(bigEndianValue: overflow ? .max : sum)
            },
            .textbook(
                "counter-little-endian", "The counter is little-endian.", flag: .counterStart,
                source: "canhlinh/hlsdl#6"
            ) {
                $0.iv = {
                    guard $0.strategy.cipher == .aesCTR else { return $0.right }
                    let sum = $0.given.bigEndianValue.byteSwapped &+ UInt128($0.location.block)
                    return Block(bigEndianValue: sum.byteSwapped)
                }
            },
            .textbook(
                "counter-restarts", "Each read starts from the first counter.", flag: .counterStart,
                source: "krzyzanowskim/CryptoSwift#635"
            ) {
                $0.iv = { $0.strategy.cipher == .aesCTR ? $0.given : $0.right }
            },
            .textbook(
                "counter-of-bytes", "The counter counts bytes.", flag: .counterStart, source: "kokke/tiny-AES-c#115"
            ) {
                $0.iv = {
                    $0.strategy.cipher == .aesCTR ? $0.given.advanced(by: $0.location.offset / 16 * 16) : $0.right
                }
            },
            .textbook(
                "counter-from-one", "The counter starts at one, as in GCM.", flag: .firstBlock,
                source: "aws/amazon-s3-encryption-client-java: ranges of GCM"
            ) {
                $0.iv = { $0.strategy.cipher == .aesCTR ? $0.right.advanced(by: 1) : $0.right }
            },
        ]

    /// Keys taken for keys of another length.
    static let keys: [Mutant] = [
        (24, 16, "cut"), (32, 16, "cut"), (32, 24, "cut"), (16, 24, "filled up"), (24, 32, "filled up"),
    ].map { from, to, what in
        .opening(
            "key-\(from * 8)-as-\(to * 8)", "A key of \(from * 8) bits is \(what) to \(to * 8).", flag: .keyLength,
            source: "AESCrypt-ObjC, FixKeyLengths; the article on chunks of 16 MB"
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            guard key.byteCount == from else { return try right(setup, source, strategy, key) }
            let bytes = key.withUnsafeBytes { Array($0) } + [UInt8](repeating: 0, count: 16)
            return try right(setup, source, strategy, SecretKey(bytes.prefix(to)))
        }
    }

    private static func counter(
        _ name: String, _ summary: String, flag: VectorFlag, source: String,
        _ counter: @escaping @Sendable (_ iv: Block, _ block: UInt64) throws(DecryptionError) -> Block
    ) -> Mutant {
        .backend(name, summary, flag: flag, source: source) { (cipher, base, stretch) throws(DecryptionError) in
            guard cipher == .aesCTR else { return try stretch.process(with: base) }
            for index in 0..<stretch.blockCount {
                try stretch.part(index..<index + 1, iv: counter(stretch.iv, UInt64(index))).process(with: base)
            }
        }
    }

    /// Faults with nonces of 12 and 8 bytes, which the mutants recognize by the zeros after them.
    private static let shortNonces: [Mutant] = [(12, 32), (8, 64)].flatMap { byteCount, bits -> [Mutant] in
        let mask = UInt128(1) << UInt128(bits) - 1
        @Sendable func isShort(_ iv: Block) -> Bool {
            let iv = iv.bigEndianValue
            return iv & mask == 0 && iv != 0 && (bits == 64 || iv & 0xffff_ffff_ffff_ffff != 0)
        }
        return [
            .textbook(
                "nonce-\(byteCount)-counts-from-one",
                "The counter behind a nonce of \(byteCount) bytes starts at 1, as in GCM.",
                flag: .shortNonce, source: "NIST SP 800-38D, section 7.1"
            ) {
                let right = $0.iv
                $0.iv = { question in
                    let iv = right(question)
                    return question.strategy.cipher == .aesCTR && isShort(question.given) ? iv.advanced(by: 1) : iv
                }
            },
            .textbook(
                "nonce-\(byteCount)-first-again",
                "Behind a nonce of \(byteCount) bytes, a later block has the counter of the one before it.",
                flag: .shortNonce, source: "brix/crypto-js#508"
            ) {
                let right = $0.iv
                $0.iv = { question in
                    guard question.strategy.cipher == .aesCTR, isShort(question.given), question.location.block > 0
                    else { return right(question) }
                    return question.given.advanced(by: question.location.block - 1)
                }
            },
        ]
    }
}
