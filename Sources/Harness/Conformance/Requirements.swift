package import Results
import Vectors

/// The requirements that the vectors test: the clauses that an auditor asks about, each with the classes of vectors
/// that test it.
package enum Requirements {
    /// All requirements, by document.
    package static let all: [Evidence.Requirement] = [
        make(
            "cipher", "The block cipher and the mode give the published answers.",
            "FIPS 197; NIST SP 800-38A, appendix F", [.knownAnswer, .monteCarlo, .keyLength]),
        make(
            "cbc-chaining", "Each block of a CBC chain is decrypted with the ciphertext block before it.",
            "NIST SP 800-38A, section 6.2",
            [
                .firstBlock, .previousBlock, .exhaustive, .windowEdge, .wholeWindow, .longRead, .strideEdge,
                .forwardReads,
                .specialBlock,
            ]),
        make(
            "ctr-counter", "The counter is the whole block and carries through all 128 bits.",
            "NIST SP 800-38A, section 6.5 and appendix B.1",
            [.counterStart, .counterCarry8, .counterCarry32, .counterCarry64, .counterWrap, .shortNonce]),
        make(
            "padding-length", "Padding is never delivered, and nothing but padding is cut off.",
            "RFC 5652, section 6.3", [.lastBytes, .paddingBlock, .paddingLookalike, .emptyObject, .everyLength]),
        make(
            "padding-check", "A last block that is not padded is an error, whatever is wrong with it.",
            "RFC 5652, section 6.3", [.badPadding, .paddingByte, .impossibleLastChunk]),
        make(
            "ciphertext-length", "A ciphertext of a length that no plaintext has is an error.",
            "PROTOCOL.md, \"open\"", [.partialBlock, .emptyCiphertext, .impossibleLastChunk]),
        make(
            "chunk-iv", "The chain restarts at each chunk, from the IV that the rule gives.",
            "PROTOCOL.md, \"open\"", [.chunkEdge, .sequenceCarry]),
        make(
            "chunk-tags", "Nothing of a chunk is delivered before its tag has been found right, and nothing otherwise.",
            "NIST SP 800-38D, section 7.2; c2sp.org/chunked-encryption", [.chunkTag]),
        make(
            "chunk-places", "A chunk is authentic in its own place only, and the object's end is proven.",
            "c2sp.org/chunked-encryption, \"Message chunking\" and \"AEAD usage\"",
            [.chunkOrder, .chunkCounter, .truncatedChunks, .trailingData]),
        make(
            "chunk-keys",
            "Keys follow from salt and context, and the header's commitment is compared before any chunk.",
            "c2sp.org/chunked-encryption, \"Key derivation\"; RFC 5869", [.keyDerivation, .headerCheck]),
        make(
            "hls-iv",
            "A segment's IV is its key's IV attribute, or its media sequence number in all 128 bits, big-endian.",
            "RFC 8216, sections 4.3.2.4 and 5.2", [.sequenceIV, .wideSequence, .ivAttribute]),
        make(
            "hls-keys",
            "A key holds until the next one of its format; what has no key, or none of 16 bytes, is an error.",
            "RFC 8216, section 4.3.2.4", [.keyRotation, .methodNone, .keyFormat, .missingKey]),
        make(
            "hls-segments",
            "Segments follow on one another, each without its padding, initialization sections where they change.",
            "RFC 8216, sections 4.3.2.2 and 4.3.2.5; PROTOCOL.md, \"open\"",
            [.segmentPadding, .segmentEdge, .segmentByteRange, .initializationSection, .badSegment]),
        make(
            "hls-playlist", "A playlist that cannot be understood is an error, and nothing in it is guessed.",
            "RFC 8216, section 6.3.1; PROTOCOL.md, \"open\"", [.badPlaylist]),
        make(
            "hls-text", "A playlist is read however it may be written.", "RFC 8216, sections 4.1 and 4.2",
            [.playlistText]),
        make(
            "film-samples", "Of a film's samples, what scheme, pattern and IVs encrypt is decrypted, and nothing else.",
            "ISO/IEC 23001-7:2016, section 9", [.filmSubsamples, .filmPattern, .filmIV, .filmRest]),
        make(
            "film-errors", "A film whose samples overlap, are cut or do not add up is an error.",
            "ISO/IEC 23001-7:2016, section 7; PROTOCOL.md, \"open\"", [.badFilm]),
        make(
            "key-length", "A key or an IV of a length that there is not is an error, and is never filled up or cut.",
            "FIPS 197, section 5; NIST SP 800-38A, section 5.3", [], [.wrongLengths]),
        make(
            "range-start", "A read starts anywhere, and delivers the bytes from there on.",
            "PROTOCOL.md, \"read\"",
            [
                .exhaustive, .unalignedRead, .largeOffset, .beyond31Bits, .beyond32Bits, .beyond35Bits, .beyond36Bits,
            ]),
        make(
            "independence", "No read depends on another: order, repetition, failures, other objects, other threads.",
            "PROTOCOL.md, \"read\"",
            [
                .seekStorm, .backwardRead, .repeatedRead, .afterEmptyRead, .afterFailure, .interleaved,
                .concurrentReads,
            ],
            [.readOrder, .severalObjects, .threads, .staleFile]),
        make(
            "seek-time", "What a read takes does not grow with its offset.", "PROTOCOL.md, \"read\"", [], [.growth]),
        make(
            "range-end", "A read is clipped at the end; an offset past it is an error, at it nothing is delivered.",
            "PROTOCOL.md, \"read\"", [.readPastEnd, .offsetAtEnd, .offsetPastEnd, .zeroCount]),
        make(
            "fetches", "A read fetches the blocks that cover it and one more for each chunk or window, and no others.",
            "docs/method/conformance.md, \"Reading rules\"; PROTOCOL.md, \"Served sources\"", [.minimalFetch]),
        make(
            "buffer", "Nothing in the buffer past the delivered bytes is touched.",
            "docs/method/conformance.md, \"Reading rules\"", [.bufferBounds]),
        make(
            "faults", "A source that delivers little is read on; one that fails, ends early or changes is an error.",
            "PROTOCOL.md, \"Served sources\"",
            [.shortReads, .sourceFailure, .sourceEndsEarly, .changedLength]),
        make(
            "protocol", "Requests are answered as the subject protocol says, in order, and the process ends when told.",
            "PROTOCOL.md, \"Transport\" and \"Requests\"", [],
            [.subjectProtocol, .errorOrder, .ending, .path, .measurement]),
    ]

    private static func make(
        _ id: String, _ text: String, _ source: String, _ flags: [VectorFlag], _ externalFlags: [ExternalFlag] = []
    ) -> Evidence.Requirement {
        Evidence.Requirement(
            id: id, text: text, source: source, flags: flags.map(\.rawValue) + externalFlags.map(\.rawValue))
    }
}
