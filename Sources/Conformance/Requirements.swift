package import Results
import Vectors

/// The clauses that the vectors test: what an auditor asks for, and which classes of vectors answer.
package enum Requirements {
    /// All requirements, by document.
    package static let all: [Evidence.Requirement] = [
        make(
            "cipher", "The block cipher and the mode give the published answers.",
            "FIPS 197; NIST SP 800-38A, appendix F", [.knownAnswer, .monteCarlo]),
        make(
            "cbc-chaining", "Each block of a CBC chain is decrypted with the ciphertext block before it.",
            "NIST SP 800-38A, section 6.2", [.exhaustive, .windowEdge, .wholeWindow, .strideEdge, .forwardReads]),
        make(
            "ctr-counter", "The counter is the whole block and carries through all 128 bits.",
            "NIST SP 800-38A, section 6.5 and appendix B.1", [.counterCarry32, .counterCarry64, .counterWrap]),
        make(
            "padding-length", "Padding is never delivered, and nothing but padding is cut off.",
            "RFC 5652, section 6.3", [.lastBytes, .paddingBlock, .paddingLookalike, .emptyObject, .everyLength]),
        make(
            "padding-check", "A last block that is not padded is an error, whatever is wrong with it.",
            "RFC 5652, section 6.3", [.badPadding, .paddingByte, .impossibleLastChunk]),
        make(
            "ciphertext-length", "A ciphertext of a length that no plaintext has is an error.",
            "Reading rules, PROTOCOL.md \"open\"", [.partialBlock, .emptyCiphertext, .impossibleLastChunk]),
        make(
            "chunk-iv", "The chain restarts at each chunk, from the IV that the rule gives.",
            "Reading rules, PROTOCOL.md \"open\"", [.chunkEdge, .sequenceCarry]),
        make(
            "range-start", "A read starts anywhere, and delivers the bytes from there on.",
            "Reading rules, PROTOCOL.md \"read\"", [.exhaustive, .unalignedRead, .largeOffset]),
        make(
            "independence", "No read depends on another: order, repetition, failures, other objects, other threads.",
            "Reading rules, PROTOCOL.md \"read\"",
            [.seekStorm, .backwardRead, .repeatedRead, .afterFailure, .interleaved, .concurrentReads]),
        make(
            "range-end", "A read is clipped at the end; an offset past it is an error, at it nothing is delivered.",
            "Reading rules, PROTOCOL.md \"read\"", [.readPastEnd, .offsetAtEnd, .offsetPastEnd, .zeroCount]),
    ]

    private static func make(
        _ id: String, _ text: String, _ source: String, _ flags: [VectorFlag]
    ) -> Evidence.Requirement {
        Evidence.Requirement(id: id, text: text, source: source, flags: flags.map(\.rawValue))
    }
}
