import Results

extension SecurityProfile {
    /// The profile of strategies with the same facts.
    ///
    /// The answers hold for a reader that knows the key, keeps the rules of this project and gets the IV separately. No
    /// answer covers a file that was replaced as a whole by an older version.
    init(title: String, _ facts: StrategyFacts) {
        var answers =
            if facts.isTagged {
                Self.tagged(facts)
            } else {
                facts.cipher.hasSuffix("-cbc") ? Self.chained(facts) : Self.unchained(facts)
            }
        answers[.equalContent] = Self.equalContent(facts)
        self.init(title: title, facts: facts, answers: answers)
    }

    private static func equalContent(_ facts: StrategyFacts) -> SecurityAnswer {
        let rules = "NIST SP 800-38A appendix C"
        if !facts.hasOwnNonces {
            return SecurityAnswer(
                .bad, "no", "Chunks that begin alike begin alike in the ciphertext too, in one file and across files.",
                source: rules)
        }
        if !facts.isFresh {
            return SecurityAnswer(
                .partly, "not in the same place",
                "What is equal in the same place of two files under one key is equal in the ciphertext too.",
                source: facts.source)
        }
        if facts.isTagged {
            return SecurityAnswer(.good, "yes", "Each file has keys or nonces of its own.", source: facts.source)
        }
        if !facts.cipher.hasSuffix("-cbc") {
            return SecurityAnswer(
                .good, "with a new counter",
                "No counter block may be used twice under a key, in any file; one that is gives away both plaintexts' "
                    + "sum.",
                source: "NIST SP 800-38A appendix B")
        }
        return facts.isWhole
            ? SecurityAnswer(
                .good, "with an unpredictable IV",
                "The IV must be unpredictable and new for each file; two files that share key and IV show how long "
                    + "they are equal from the start.", source: rules)
            : SecurityAnswer(
                .partly, "not from who chooses it",
                "The IVs are predictable, which CBC forbids: who can have plaintext of their own encrypted can test "
                    + "guesses of a chunk's first block.", source: rules)
    }

    private static func tagged(_ facts: StrategyFacts) -> [SecurityProperty: SecurityAnswer] {
        func always(_ detail: String) -> SecurityAnswer {
            SecurityAnswer(.good, "always", detail, source: facts.source)
        }
        func never(_ text: String, _ detail: String) -> SecurityAnswer {
            SecurityAnswer(.bad, text, detail, source: facts.source)
        }
        let place =
            facts.isIndexBound
            ? always("A chunk is authentic in its own place only.")
            : never("not of whole chunks", "A chunk is authentic in any place.")
        return [
            .truncation: facts.isEndBound
                ? SecurityAnswer(
                    .good, "always, at the end",
                    "The last chunk is authentic as the last one only, so that a read of the end proves the length.",
                    source: facts.source)
                : never("not between chunks", "A file that is cut behind a whole chunk is read as a shorter one."),
            .appending: facts.isEndBound || facts.isIndexBound && facts.isObjectBound
                ? always("Nothing is authentic behind the last chunk.")
                : never("not of whole chunks", "Chunks that are authentic elsewhere are so behind the last one."),
            .reordering: place,
            .bitFlips: always("No byte of a chunk is released before the chunk is authenticated."),
            .splicing: facts.isObjectBound
                ? always("A chunk is authentic in its own file only.")
                : never(
                    "not of whole chunks",
                    "A chunk of another file under the same key is authentic"
                        + (facts.isIndexBound ? " in its own place." : " anywhere.")),
            .repetition: place,
            .randomAccess: SecurityAnswer(
                facts.isWhole ? .bad : .good, facts.isWhole ? "no" : "yes, by the chunk",
                "A chunk is read and authenticated whole.", source: facts.source),
            .parallelDecryption: SecurityAnswer(
                facts.isWhole ? .bad : .good, facts.isWhole ? "no" : "yes", "Chunks are independent.",
                source: facts.source),
        ]
    }

    /// Answers for ciphers whose blocks, or data units, are independent.
    private static func unchained(_ facts: StrategyFacts) -> [SecurityProperty: SecurityAnswer] {
        let isCounter = facts.cipher.hasSuffix("-ctr")
        func never(_ detail: String) -> SecurityAnswer { SecurityAnswer(.bad, "never", detail, source: facts.source) }
        return [
            .truncation: never(isCounter ? "Every length is valid." : "Every length of whole units is valid."),
            .appending: never("What is appended is taken for data."),
            .reordering: never("What is moved decrypts to garbage, and nothing is reported."),
            .bitFlips: never(
                isCounter
                    ? "A flipped bit flips that bit of the plaintext and nothing else, which can be aimed."
                    : "A flipped bit turns its block of 16 bytes into garbage, and nothing is reported."),
            .splicing: never(
                isCounter
                    ? "Bytes of another file decrypt to garbage; under the same key and counter they decrypt without a "
                        + "trace, and the two files give each other away."
                    : "A unit of another file under the same key decrypts without a trace in its own place."),
            .repetition: never("What is repeated decrypts to garbage, and nothing is reported."),
            .randomAccess: SecurityAnswer(
                .good, isCounter ? "yes, by the byte" : "yes, by the unit", "Nothing else is needed.",
                source: facts.source),
            .parallelDecryption: SecurityAnswer(
                .good, "yes", "All blocks can be decrypted at once, and encrypted too.", source: facts.source),
        ]
    }

    /// Answers for CBC, per file or per chunk. Each answer is about whole blocks: other lengths are refused.
    private static func chained(_ facts: StrategyFacts) -> [SecurityProperty: SecurityAnswer] {
        let (isWhole, isPadded, isFixed) = (facts.isWhole, facts.isPadded, !facts.hasOwnNonces)
        let (cbc, padding, errors) = ("NIST SP 800-38A §6.2", "RFC 5652 §6.3", "NIST SP 800-38A appendix D")
        // The probability of valid padding in a random block: 256⁻¹ + 256⁻² + … + 256⁻¹⁶, which is 1 in 255.
        let odds = "all but 1 in 255"
        func never(_ whole: String, _ chunks: String, source: String = cbc) -> SecurityAnswer {
            SecurityAnswer(.bad, "never", isWhole ? whole : chunks, source: source)
        }
        let spoilt = isFixed ? "" : ", but for its first block"
        var answers = [
            SecurityProperty.truncation: SecurityAnswer(
                .bad, "never", "Every multiple of 16 bytes is a valid length; only others are refused.", source: cbc),
            .appending: SecurityAnswer(.bad, "never", "Every further block is taken for data.", source: cbc),
            .reordering: never(
                "A moved block, and the one after it, decrypt to garbage; a moved run of blocks only at its seams. "
                    + "Nothing is reported" + (isPadded ? " unless the last two blocks change." : "."),
                "A moved chunk decrypts to what it was\(spoilt). Moved blocks are garbage at their seams.",
                source: errors),
            .bitFlips: SecurityAnswer(
                .bad, isPadded ? "never, but in the padding" : "never",
                "A flipped bit turns its block of 16 bytes into garbage and flips the same bit of the next block, "
                    + "which can be aimed; in the IV it flips that bit of the first block and nothing else."
                    + (isPadded ? " Only the last two blocks can spoil the padding." : ""), source: errors),
            .splicing: never(
                "Blocks of another file under the same key become its plaintext, after 16 bytes of garbage.",
                "A chunk of another file under the same key and IV decrypts without a trace"
                    + (isFixed ? " anywhere" : " in its own place") + "; with another IV its first block is wrong."),
            .repetition: never(
                "A repeated run of blocks becomes repeated plaintext, after 16 bytes of garbage.",
                "A repeated chunk decrypts to what it was\(spoilt)."),
            .randomAccess: SecurityAnswer(
                .good, "yes", "A block needs itself and the block before it.", source: cbc),
            .parallelDecryption: SecurityAnswer(
                .good, "yes",
                "All blocks can be decrypted at once; encryption is one "
                    + (isWhole ? "after another." : "chunk after another, or several at once."), source: cbc),
        ]
        guard isPadded else { return answers }
        answers[.truncation] = SecurityAnswer(
            isWhole ? .partly : .bad, isWhole ? odds : "never at a chunk's end",
            (isWhole ? "" : "A cut after a whole chunk always passes, since each chunk is padded. ")
                + "A length that is no multiple of 16 is refused. A cut between blocks passes where the plaintext "
                + "before it happens to end like padding: 1 in 255 of random data, and an attacker who picks the "
                + "position can find one.",
            source: "\(padding); \(cbc)")
        answers[.appending] = SecurityAnswer(
            isWhole ? .partly : .bad, "\(odds); copies never",
            "Random blocks pass 1 in 255 times. Copies of the file's own last two blocks decrypt to right padding again"
                + (isWhole ? "." : " where the chunk has room, and so do whole chunks after a last one that is full."),
            source: "\(padding); \(cbc)")
        if facts.hasPlaylist {
            let listed = SecurityAnswer(
                .partly, "chunks by the playlist",
                "The playlist says which chunks there are; nothing protects the playlist. Of random changes at a "
                    + "chunk's end, \(odds) are noticed.", source: "RFC 8216 §4.3.2.4; \(padding)")
            (answers[.truncation], answers[.appending]) = (listed, listed)
        }
        return answers
    }
}
