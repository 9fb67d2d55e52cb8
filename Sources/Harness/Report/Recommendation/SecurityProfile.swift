import Results

extension SecurityProfile {
    /// The profile of a cell's strategy, or `nil` if nothing is known of the strategy.
    ///
    /// The answers hold for a reader who knows the key, keeps the rules of this project and is told the IV from elsewhere;
    /// none of them says anything of a file that was replaced as a whole by an older one.
    init?(_ cell: Cell) {
        let isPadded = cell.padding != "none"
        let padding = isPadded ? "" : ", padding none"
        switch cell.strategy {
        case "cbc-continuous":
            self.init(title: "cbc-continuous\(padding)", answers: Self.continuous(isPadded: isPadded))
        case "cbc-chunked":
            let isFixed = cell.ivRule == "fixed"
            self.init(
                title: "cbc-chunked, IV \(isFixed ? "fixed" : "sequence")\(padding)",
                answers: Self.chunked(isFixed: isFixed, isPadded: isPadded))
        case "ctr": self.init(title: "ctr", answers: Self.counter)
        case "hls-aes128": self.init(title: "hls-aes128", answers: Self.hls)
        case let name where name.hasPrefix("cobblestone"):
            self.init(title: name, answers: Self.cobblestone)
        case "tink-aes-gcm-hkdf": self.init(title: "tink-aes-gcm-hkdf", answers: Self.tink)
        default: return nil
        }
    }

    private static let cbc = "NIST SP 800-38A §6.2"
    private static let cbcErrors = "NIST SP 800-38A appendix D"
    private static let padding = "RFC 5652 §6.3"

    /// Valid padding of a random block: 256⁻¹ + 256⁻² + … + 256⁻¹⁶, which is 1 in 255.
    private static let odds = "all but 1 in 255"

    /// What all CBC formats share. Each answer is about whole blocks: other lengths are refused.
    private static func continuous(isPadded: Bool) -> [SecurityProperty: SecurityAnswer] {
        [
            .truncation: isPadded
                ? SecurityAnswer(
                    .partly, odds,
                    "A length that is no multiple of 16 is refused. A cut between blocks passes where the plaintext before "
                        + "it happens to end like padding: 1 in 255 of random data, and an attacker who picks the position can find one.",
                    source: "\(padding); \(cbc)")
                : SecurityAnswer(
                    .bad, "never", "Every multiple of 16 bytes is a valid length; only others are refused.", source: cbc
                ),
            .appending: isPadded
                ? SecurityAnswer(
                    .partly, "\(odds); copies never",
                    "Random blocks pass 1 in 255 times. Copies of the file's own last two blocks always pass: they decrypt "
                        + "to right padding again.", source: "\(padding); \(cbc)")
                : SecurityAnswer(.bad, "never", "Every further block is taken for data.", source: cbc),
            .reordering: SecurityAnswer(
                .bad, "never",
                "A moved block, and the one after it, decrypt to garbage; a moved run of blocks only at its seams. Nothing "
                    + "is reported" + (isPadded ? " unless the last two blocks change." : "."), source: cbcErrors),
            .bitFlips: SecurityAnswer(
                .bad, isPadded ? "never, but in the padding" : "never",
                "A flipped bit turns its block of 16 bytes into garbage and flips the same bit of the next block, which "
                    + "can be aimed; in the IV it flips that bit of the first block and nothing else."
                    + (isPadded ? " Only the last two blocks can spoil the padding." : ""), source: cbcErrors),
            .splicing: SecurityAnswer(
                .bad, "never",
                "Blocks of another file under the same key become its plaintext, after 16 bytes of garbage.",
                source: cbc),
            .repetition: SecurityAnswer(
                .bad, "never", "A repeated run of blocks becomes repeated plaintext, after 16 bytes of garbage.",
                source: cbc),
            .equalContent: SecurityAnswer(
                .good, "with an unpredictable IV",
                "The IV must be unpredictable and new for each file; two files that share key and IV show how long they "
                    + "are equal from the start.", source: "NIST SP 800-38A appendix C"),
            .randomAccess: SecurityAnswer(
                .good, "yes", "A block needs itself and the block before it.", source: cbc),
            .parallelDecryption: SecurityAnswer(
                .good, "yes", "All blocks can be decrypted at once; encryption is one after another.", source: cbc),
        ]
    }

    private static func chunked(isFixed: Bool, isPadded: Bool) -> [SecurityProperty: SecurityAnswer] {
        var answers = continuous(isPadded: isPadded)
        let rule = "chunk k starts from \(isFixed ? "the one IV" : "IV + k"); \(cbc)"
        if isPadded {
            answers[.truncation] = SecurityAnswer(
                .bad, "never at a chunk's end",
                "A cut after a whole chunk always passes, since each chunk is padded; elsewhere between blocks 1 in 255 "
                    + "times. A length that is no multiple of 16 is refused.", source: "\(padding); \(rule)")
            answers[.appending] = SecurityAnswer(
                .bad, "\(odds); copies never",
                "Random blocks pass 1 in 255 times. Copies of the file's own last two blocks pass where the chunk has room, and "
                    + "whole chunks after a last one that is full.", source: "\(padding); \(rule)")
        }
        answers[.reordering] = SecurityAnswer(
            .bad, "never",
            isFixed
                ? "Chunks change places and decrypt to what they were, without a trace. Moved blocks are garbage at their seams."
                : "A moved chunk decrypts to what it was, but for a few bits of its first block. Moved blocks are garbage "
                    + "at their seams.", source: rule)
        answers[.splicing] = SecurityAnswer(
            .bad, "never",
            "A chunk of another file under the same key and IV decrypts without a trace"
                + (isFixed ? " anywhere" : " in its own place") + "; with another IV its first block is wrong.",
            source: rule)
        answers[.repetition] = SecurityAnswer(
            .bad, "never",
            isFixed
                ? "A repeated chunk decrypts without a trace."
                : "A repeated chunk decrypts to what it was, but for a few bits of its first block.", source: rule)
        answers[.equalContent] =
            isFixed
            ? SecurityAnswer(
                .bad, "no", "Chunks that begin alike begin alike in the ciphertext too, in one file and across files.",
                source: "NIST SP 800-38A appendix C")
            : SecurityAnswer(
                .partly, "not from who chooses it",
                "The IVs are predictable, which CBC forbids: who can have plaintext of their own encrypted can test guesses "
                    + "of a chunk's first block.", source: "NIST SP 800-38A appendix C")
        answers[.parallelDecryption] = SecurityAnswer(
            .good, "yes", "All blocks can be decrypted at once, and chunks can be encrypted at once too.", source: cbc)
        return answers
    }

    private static let counter: [SecurityProperty: SecurityAnswer] = {
        let ctr = "NIST SP 800-38A §6.5"
        let unique = "NIST SP 800-38A appendix B"
        return [
            .truncation: SecurityAnswer(.bad, "never", "Every length is valid: there is no padding.", source: ctr),
            .appending: SecurityAnswer(.bad, "never", "Appended bytes are taken for data.", source: ctr),
            .reordering: SecurityAnswer(
                .bad, "never", "Moved bytes decrypt to garbage, and nothing is reported.", source: ctr),
            .bitFlips: SecurityAnswer(
                .bad, "never", "A flipped bit flips that bit of the plaintext and nothing else, which can be aimed.",
                source: "NIST SP 800-38A appendix D"),
            .splicing: SecurityAnswer(
                .bad, "never",
                "Bytes of another file decrypt to garbage; under the same key and counter they decrypt without a trace, and "
                    + "the two files give each other away.", source: unique),
            .repetition: SecurityAnswer(
                .bad, "never", "Repeated bytes decrypt to garbage, and nothing is reported.", source: ctr),
            .equalContent: SecurityAnswer(
                .good, "with a new counter",
                "No counter block may be used twice under a key, in any file; one that is gives away both plaintexts' sum.",
                source: unique),
            .randomAccess: SecurityAnswer(.good, "yes, by the byte", "A byte needs itself alone.", source: ctr),
            .parallelDecryption: SecurityAnswer(
                .good, "yes", "All blocks can be decrypted at once, and encrypted too.", source: ctr),
        ]
    }()

    private static let hls: [SecurityProperty: SecurityAnswer] = {
        let segments = "RFC 8216 §4.3.2.4 and §5.2"
        var answers = continuous(isPadded: true)
        answers[.truncation] = SecurityAnswer(
            .partly, "segments by the playlist",
            "The playlist says which segments there are; nothing protects the playlist. A segment that is cut between "
                + "blocks passes 1 in 255 times.", source: segments)
        answers[.appending] = SecurityAnswer(
            .partly, "segments by the playlist",
            "The playlist says which segments there are; nothing protects the playlist. In a segment as in "
                + "cbc-continuous.", source: segments)
        answers[.reordering] = SecurityAnswer(
            .bad, "never",
            "A segment in another's place decrypts to what it was but for its first block, or wholly where the playlist "
                + "states the IV and is changed too.", source: segments)
        answers[.splicing] = SecurityAnswer(
            .bad, "never", "A segment of another stream under the same key decrypts but for its first block.",
            source: segments)
        answers[.equalContent] = SecurityAnswer(
            .partly, "not from who chooses it", "An IV that is the sequence number is predictable, which CBC forbids.",
            source: "RFC 8216 §5.2; NIST SP 800-38A appendix C")
        return answers
    }()

    private static let cobblestone: [SecurityProperty: SecurityAnswer] = {
        let specification = "c2sp.org/chunked-encryption"
        func always(_ detail: String) -> SecurityAnswer {
            SecurityAnswer(.good, "always", detail, source: specification)
        }
        return [
            .truncation: SecurityAnswer(
                .good, "always, at the end",
                "Only the last chunk is short and authenticated as such, so that a read of the end proves the length.",
                source: specification),
            .appending: always("Nothing is authentic behind the last chunk."),
            .reordering: always("A chunk is authentic in its own place only."),
            .bitFlips: always("No byte of a chunk is released before the chunk is authenticated."),
            .splicing: always("Each file has keys of its own, derived from its header."),
            .repetition: always("A chunk is authentic in its own place only."),
            .equalContent: SecurityAnswer(
                .good, "yes", "Each file has keys of its own, derived from its header.", source: specification),
            .randomAccess: SecurityAnswer(
                .good, "yes, by the chunk", "A chunk of 16 KiB is read and authenticated whole.", source: specification),
            .parallelDecryption: SecurityAnswer(
                .good, "yes", "Chunks are independent.", source: specification),
        ]
    }()

    private static let tink: [SecurityProperty: SecurityAnswer] = {
        let specification = "Tink, AES-GCM-HKDF streaming AEAD"
        var answers = cobblestone.mapValues { answer in
            SecurityAnswer(answer.grade, answer.text, answer.detail, source: specification)
        }
        answers[.truncation] = SecurityAnswer(
            .good, "always, at the end",
            "The last segment's nonce says that it is the last, so that a read of the end proves the length.",
            source: specification)
        answers[.randomAccess] = SecurityAnswer(
            .good, "yes, by the segment", "A segment, of 4 KiB or 1 MiB, is read and authenticated whole.",
            source: specification)
        return answers
    }()
}
