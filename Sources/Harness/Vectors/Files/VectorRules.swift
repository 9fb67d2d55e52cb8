import ByteSources
import RandomAccess
import Support

/// The rules that a generated file states in its header, so that programs in any language can expand and check it.
enum VectorRules {
    static func lines(for groups: [VectorGroup]) -> [String] {
        var lines = reading
        if groups.contains(where: { $0.interleaving != nil || $0.threadCount > 1 }) { lines += together }
        if groups.contains(where: { $0.supply != .any }) { lines += supplies }
        if groups.contains(where: { if case .generated = $0.rule { true } else { $0.isEdited } }) { lines += generated }
        if groups.contains(where: { $0.hasStrategy && $0.strategy.format.isSealedAround }) { lines += sealed }
        if groups.contains(where: { $0.hasStrategy && $0.strategy.cipher.hasSyntheticIV }) { lines += synthetic }
        if groups.contains(where: { $0.hasStrategy && !$0.strategy.hasWholeChunks }) { lines += tabled }
        if groups.contains(where: \.isEdited) { lines += edited }
        if groups.contains(where: { if case .repeated = $0.rule { true } else { false } }) { lines += repeated }
        if groups.contains(where: { $0.playlist != nil }) { lines += playlists }
        if groups.contains(where: { $0.film != nil }) { lines += films }
        if groups.contains(where: { if case .monteCarlo = $0.rule { true } else { false } }) { lines += monteCarlo }
        return lines
    }

    private static let reading = [
        "A group is one object: strategy and parameters as in PROTOCOL.md, key, ciphertext, plaintext; all bytes are hex.",
        "A group with \"error\" does not open, and that is why. Any other opens; let n be its plaintext's length.",
        "A read asks for count bytes from offset on. If offset > n, it fails with rangeOutOfBounds whatever count is;",
        "else it delivers the plaintext's bytes from offset to min(offset + count, n), none if that is empty.",
        "A test of one read is {offset, count} with the outcome: plaintext, its sha256, or an error.",
        "Numbers of 2^53 and more are written as strings of decimal digits.",
        "{offsets, counts, toEnd} is a test for each offset and, with it, for each of counts in order and then,",
        "if offset <= n, for each k of toEnd the count n - offset + k; [a, b] in a list stands for a, a + 1, ..., b.",
        "{exhaustive: p} is offsets [0, n + p], each with counts [0, max(0, n - offset) + p].",
        "digests has 16 hex digits a test, in order: those of SHA-256 of what is delivered, or zeroes for an error.",
        "A test's id is the group's, a space, offset, \"+\", count; a read that comes again has the same. Its flags are the pattern's, or else the group's, and",
        "OffsetPastEnd if offset > n, OffsetAtEnd if offset = n, ReadPastEnd if offset + count > n > offset,",
        "ZeroCount if count = 0. windowByteCounts are for readers that decrypt in windows; others ignore them.",
    ]

    private static let together = [
        "Groups of the same interleaving are open at once: test 1 of each, then test 2 of each, and so on.",
        "With threadCount, so many threads do all the group's tests on one object at once, each in an order of its own.",
    ]

    private static let supplies = [
        "supply says how the ciphertext's source behaves. whole: it delivers what is asked for, and each fetch is judged.",
        "shortReads: it delivers a few bytes at a time. failing: before each test the same read is tried while the source",
        "fails at its first byte, in its middle, at its last, and must end with the error io each time. endingEarly: the",
        "same for a source that ends there, with truncatedCiphertext. recovering: the same, and only the test is judged.",
        "changing: the same while the source has another length than before, with truncatedCiphertext.",
    ]

    private static let generated = [
        "object {plaintextByteCount: n, seed: s} is defined by its ciphertext, so that 64 GiB cost what is read.",
        "Let S be a byte stream: S[8i ... 8i+7] is, little-endian, w(i), where all is modulo 2^64 and",
        "z = s + (i + 1) * 9e3779b97f4a7c15; z = (z xor z >> 30) * bf58476d1ce4e5b9;",
        "z = (z xor z >> 27) * 94d049bb133111eb; w(i) = z xor z >> 31.",
        "The ciphertext is as long as that of n bytes, as data/formats describes the strategy, and its byte i is S[i], except",
        "of what follows from other bytes: fields of the header and parts of chunks that the description says the content",
        "of, which of k contents is number s mod k; tags and codes, which are those of the whole ciphertext of their chunk;",
        "and, with pkcs7, the last block of each chunk. A part of chunk 0 that the header looks at stays what it is as a part.",
        "Where that block starts at b and its chunk holds m bytes, r = m mod 16, its plaintext is S[b ... b+r-1] and 16 - r",
        "bytes of value 16 - r, and its ciphertext is AES(plaintext xor C), C being the block of the chunk's data before it,",
        "or the chunk's IV if it is alone.",
    ]

    private static let sealed = [
        "Where a field of the header or of the trailer holds others, S is its ciphertext without the tag: the fields that it",
        "holds are what S decrypts to, but for those that the description says the content of, and it is encrypted again",
        "with its tag. Other fields of the trailer are made as those of the header. A field that the description says what it",
        "usually is, is that.",
    ]

    private static let synthetic = [
        "With aes-siv and aes-gcm-siv, S[i] is a byte of the plaintext where a chunk's data are, and data and tag are what",
        "comes of it.",
    ]

    private static let tabled = [
        "Where the description's dataStart is not 0, all of this makes the object with its chunks one behind the other. It",
        "is stored in another order: the header, of each chunk its parts but the data, zeros up to dataStart, all data.",
    ]

    private static let edited = [
        "edits {pieces: [[n], [a, b] or [a, b, t], ...], flips: [j, ...]}: the ciphertext is n zeros, the object's bytes a to",
        "b - 1, or those of the object with the seed t, piece after piece; then bit 0 of each byte j is flipped.",
        "The plaintext is what it decrypts to, whatever its tags; a chunk that is not authentic delivers nothing.",
    ]

    private static let repeated = [
        "object {plaintextByteCount: n, byte: b}: the plaintext is n times the byte b, and the ciphertext what a writer makes",
        "of it.",
    ]

    private static let playlists = [
        "hls-aes128: playlist is a media playlist (RFC 8216), keys and resources are by URI as written there, and the",
        "plaintext is that of PROTOCOL.md's HLS: for each segment its initialization section if that is another one than",
        "before, then the segment. A group with \"error\" does not open as a whole, whatever of it could be read; of several",
        "errors the first of PROTOCOL.md's order is the answer.",
    ]

    private static let films = [
        "film: ciphertext is a film of Common Encryption (ISO/IEC 23001-7), whose samples are in the list samples (JSON,",
        "docs/files.md, Films), or else in its own boxes. The plaintext has the same length, and all that is not",
        "encrypted is as it was.",
    ]

    private static let monteCarlo = [
        "object {monteCarlo: c} is a step of AESAVS 6.4.2: 1000 blocks in CBC without padding. Ciphertext block 0 is c,",
        "block 1 is the IV, and block j is plaintext block j - 2; plaintext block j is D(block j) xor block j - 1.",
    ]
}

extension VectorGroup {
    fileprivate var isEdited: Bool { if case .edited = rule { true } else { false } }
}

/// A group's ciphertext and plaintext, from the file or from a rule.
struct VectorObject {
    let ciphertext: any ByteSource
    let plaintext: GroupPlaintext
    let rule: CiphertextRule?

    /// Reads a group's object. An object that does not open needs no plaintext.
    init(_ group: JSONCursor, strategy: Strategy, key: SecretKey, opens: Bool) throws(VectorFileError) {
        guard let object = try group.optionalMember("object") else {
            self.ciphertext = MemorySource(try group.member("ciphertext").bytes())
            self.plaintext = GroupPlaintext(opens ? try group.member("plaintext").bytes() : [])
            self.rule = nil
            return
        }
        for name in ["ciphertext", "plaintext"] {
            if let other = try group.optionalMember(name) {
                throw other.error("beside \"object\": expected one of the two")
            }
        }
        try object.allow(["plaintextByteCount", "seed", "byte", "monteCarlo", "edits"])
        guard let first = try object.optionalMember("monteCarlo") else {
            let byteCount = try object.member("plaintextByteCount").integer(UInt64.self)
            if let byte = try object.optionalMember("byte") {
                let value = try byte.integer(UInt8.self)
                let repeated = try object.check { () throws(DecryptionError) in
                    try RepeatedObject(strategy: strategy, key: key, byte: value, plaintextByteCount: byteCount)
                }
                self.ciphertext = repeated.source
                self.plaintext = repeated.plaintext
                self.rule = .repeated(repeated)
                return
            }
            let seed = try object.member("seed").integer(UInt64.self)
            let generated = try object.check {
                try GeneratedObject(strategy: strategy, key: key, plaintextByteCount: byteCount, seed: seed)
            }
            if let edits = try object.optionalMember("edits") {
                self = try VectorObject(generated, edits: edits)
                return
            }
            self.ciphertext = generated.source
            self.plaintext = generated.plaintext
            self.rule = .generated(generated)
            return
        }
        let chain = Strategy.whole(.aesCBC, iv: strategy.iv, padding: Padding.none)
        guard strategy == chain else { throw first.error("of strategy \(strategy.text): expected \(chain.text)") }
        let bytes = try first.bytes()
        let block = try first.check { try Block(bytes) }
        let step = try first.check { () throws(DecryptionError) in
            var run = MonteCarlo(.decrypt, key: key.withUnsafeBytes { Array($0) }, iv: strategy.iv, input: block)
            return try run.step()
        }
        self.ciphertext = MemorySource(step.inputs)
        self.plaintext = GroupPlaintext(step.outputs)
        self.rule = .monteCarlo(firstBlock: block)
    }
}

extension VectorObject {
    /// Reads an object that was tampered with.
    private init(_ object: GeneratedObject, edits cursor: JSONCursor) throws(VectorFileError) {
        try cursor.allow(["pieces", "flips"])
        var pieces: [CiphertextEdits.Piece] = []
        for piece in try cursor.member("pieces").elements() {
            var numbers: [UInt64] = []
            for number in try piece.elements() { numbers.append(try number.integer(UInt64.self)) }
            switch numbers.count {
            case 1: pieces.append(.init(0..<numbers[0], .zeros))
            case 2 where numbers[0] <= numbers[1]: pieces.append(.init(numbers[0]..<numbers[1]))
            case 3 where numbers[0] <= numbers[1]:
                pieces.append(.init(numbers[0]..<numbers[1], .another(seed: numbers[2])))
            default:
                throw piece.error("not one to three numbers, the first not above the second: expected [from, to]")
            }
        }
        var flips: [UInt64] = []
        for flip in try cursor.optionalMember("flips")?.elements() ?? [] { flips.append(try flip.integer(UInt64.self)) }
        let edits = CiphertextEdits(pieces: pieces, flips: flips)
        self = try cursor.check { () throws(DecryptionError) in try VectorObject(object, edits: edits) }
    }

    /// Makes an object that was tampered with. If its length is impossible, its plaintext is empty.
    init(_ object: GeneratedObject, edits: CiphertextEdits) throws(DecryptionError) {
        let source = try edits.apply(to: object)
        // Tags are not checked here. Without padding, the length of the ciphertext is enough.
        let layout = try? OracleLayout(object.strategy, ciphertextByteCount: source.byteCount)
        let told = layout.flatMap { $0.sizes.isPadded ? nil : $0 }
        let byteCount = told?.plaintextByteCount ?? (try? object.oracle.plaintextByteCount(of: source)) ?? 0
        self.ciphertext = source
        self.plaintext = GroupPlaintext(oracle: object.oracle, ciphertext: source, byteCount: byteCount)
        self.rule = .edited(object, edits)
    }
}

extension Format {
    /// Says whether the header has encrypted fields, or the trailer has any fields.
    fileprivate var isSealedAround: Bool { !rules.trailerFields.isEmpty || rules.header.contains { $0.sealed != nil } }
}
