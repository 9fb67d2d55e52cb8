internal import RandomAccess

extension Mutant {
    private static let zero = Block(bigEndianValue: 0)

    /// IVs of blocks: the first one's, and those in the middle.
    static let ivs: [Mutant] = [
        .textbook("iv-zero", "The first block's IV is zero.", flag: .firstBlock, source: "article 000, iv == nil") {
            $0.iv = { $0.place.block == 0 ? zero : $0.right }
        },
        .textbook("iv-reversed", "The IV is read as little-endian.", flag: .firstBlock, source: "canhlinh/hlsdl#6") {
            $0.iv = { $0.place.block == 0 ? Block(bigEndianValue: $0.right.bigEndianValue.byteSwapped) : $0.right }
        },
        .textbook(
            "iv-nibbles", "The IV's hexadecimal digits are taken for bytes.", flag: .firstBlock,
            source: "Vanilagy/mediabunny#509"
        ) {
            $0.iv = { question in
                guard question.place.block == 0 else { return question.right }
                let digits = question.right.bytes.flatMap { [$0 >> 4, $0 & 15] }.prefix(16)
                return Block(bigEndianValue: digits.reduce(0) { $0 << 8 | UInt128($1) })
            }
        },
        .textbook(
            "iv-low-half", "Only the last eight bytes of the IV are used.", flag: .firstBlock,
            source: "random-access formats with 64-bit nonces"
        ) {
            $0.iv = { question in
                guard question.place.block == 0 else { return question.right }
                return Block(bigEndianValue: question.right.bigEndianValue & UInt128(UInt64.max))
            }
        },
        .textbook(
            "iv-frozen", "Every read starts from the given IV.", flag: .previousBlock, source: "google/ExoPlayer#354"
        ) {
            $0.iv = { $0.strategy.mode == .cbc ? $0.chunkIV($0.place.chunk) : $0.right }
        },
        .textbook(
            "iv-guessed", "The block before is not fetched but taken for zeros.", flag: .previousBlock,
            source: "NIST SP 800-38A, section 6.2"
        ) {
            $0.lookBack = { _, _ in 0 }
            $0.iv = { $0.strategy.mode == .cbc && $0.place.block > 0 ? zero : $0.right }
        },
        .textbook(
            "iv-two-back", "The block before the one before is the IV.", flag: .previousBlock,
            source: "TritonDataCenter/java-manta#207"
        ) {
            $0.lookBack = { place, strategy in strategy.mode == .cbc ? 16 * min(2, place.block) : 0 }
        },
        .textbook(
            "iv-first-block", "The object's first ciphertext block is the IV of all later ones.", flag: .previousBlock,
            source: "NIST SP 800-38A, section 6.2"
        ) {
            // Only in small objects, for all that is between is fetched as well.
            $0.lookBack = { place, strategy in
                strategy.mode == .cbc ? 16 * (place.block < 1024 ? place.block : 1) : 0
            }
        },
        .textbook(
            "iv-not-restored", "A read at the start goes on from where the last one ended.", flag: .backwardRead,
            source: "FFmpeg, crypto.c: seek to 0"
        ) {
            $0.iv = { $0.strategy.mode == .cbc && $0.place.block == 0 ? $0.last?.ciphertext ?? $0.right : $0.right }
        },
        .textbook(
            "iv-of-last-read", "The last ciphertext block of the read before is the IV.", flag: .seekStorm,
            source: "rclone/rclone#828"
        ) {
            $0.iv = { $0.strategy.mode == .cbc && $0.place.block > 0 ? $0.last?.ciphertext ?? $0.right : $0.right }
        },
    ]
}
