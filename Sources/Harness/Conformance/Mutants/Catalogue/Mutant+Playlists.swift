import RandomAccess
package import Vectors

extension Mutant {
    /// Faults of readers of playlists, which read nothing else.
    static let playlists: [Mutant] = PlaylistFault.allCases.map { fault in
        let (flag, summary) = fault.facts
        return Mutant(fault.rawValue, summary, flag: flag, source: flag.source) { backend in
            InProcessSubject(
                name: fault.rawValue, supports: { _, _ in false },
                openPlaylist: TextbookPlaylistReader.opening(fault: fault, over: backend)
            ) { (_, _, strategy, _) throws(DecryptionError) in
                throw .unsupported("\(strategy.name): expected a playlist")
            }
        }
    }
}

/// A fault injected into a reader of playlists, to prove that the vectors of `hls-aes128` notice it. ``facts``
/// describes each fault.
package enum PlaylistFault: String, CaseIterable, Sendable {
    case sequenceIgnored = "hls-sequence-ignored"
    case sequenceOffByOne = "hls-sequence-off-by-one"
    case littleEndianIV = "hls-iv-little-endian"
    case leftAlignedIV = "hls-iv-left-aligned"
    case sequenceRestarts = "hls-discontinuity-restarts"
    case sequence31Bits = "hls-sequence-31-bits"
    case sequence32Bits = "hls-sequence-32-bits"
    case sequence53Bits = "hls-sequence-53-bits"
    case attributeIgnored = "hls-attribute-ignored"
    case attributeKept = "hls-attribute-kept"
    case attributeCounts = "hls-attribute-counts"
    case attribute64Bits = "hls-attribute-64-bits"
    case firstKeyOnly = "hls-first-key-only"
    case lastKeyOnly = "hls-last-key-only"
    case keyKept = "hls-key-kept-after-none"
    case anyFormat = "hls-any-keyformat"
    case paddingBetween = "hls-padding-between-segments"
    case paddingOfPlain = "hls-padding-of-plain"
    case chainGoesOn = "hls-chain-goes-on"
    case readEndsAtSegment = "hls-read-ends-at-segment"
    case rangeRestarts = "hls-range-restarts"
    case rangeFollowsOffset = "hls-range-follows-offset"
    case rangeIgnored = "hls-range-ignored"
    case rangeAligned = "hls-range-aligned"
    case sectionOmitted = "hls-section-omitted"
    case sectionRepeated = "hls-section-repeated"
    case sectionAgain = "hls-section-again"
    case sectionKeyLater = "hls-section-key-of-segment"
    case sectionPlain = "hls-section-plain"
    case framesAlone = "hls-i-frames-alone"
    case framesUnpadded = "hls-i-frames-unpadded"
    case gapRefused = "hls-gap-refused"
    case returnKept = "hls-carriage-return-kept"
    case blankLineEnds = "hls-blank-line-ends"
    case commentRefused = "hls-comment-refused"
    case unknownTagRefused = "hls-unknown-tag-refused"
    case infoNextIsURI = "hls-uri-right-behind-extinf"
    case lastLineLost = "hls-last-line-lost"
    case queryCut = "hls-query-cut"
    case percentDecoded = "hls-percent-decoded"
    case splitAtCommas = "hls-split-at-commas"
    case capitalXRefused = "hls-capital-x-refused"
    case zeroIVIsNone = "hls-zero-iv-is-none"
    case rangeLostAtSection = "hls-range-lost-at-map"
    case dataURIRefused = "hls-data-uri-refused"
    case quotesGuessed = "hls-quotes-guessed"
    case shortIV = "hls-short-iv"
    case sampleAES = "hls-sample-aes"
    case noKeyIsPlain = "hls-no-key-is-plain"
    case keyFitted = "hls-key-fitted"
    case missingSkipped = "hls-missing-segment-skipped"
    case partialBlockCut = "hls-partial-block-cut"
    case paddingTrusted = "hls-padding-trusted"

    /// The class of bugs that the fault belongs to, whose vectors must notice it, and a description of the fault in one
    /// sentence.
    package var facts: (flag: VectorFlag, summary: String) {
        switch self {
        case .sequenceIgnored: (.sequenceIV, "EXT-X-MEDIA-SEQUENCE is ignored: IVs count from 0.")
        case .sequenceOffByOne: (.sequenceIV, "The IV is the number of the segment before.")
        case .littleEndianIV: (.sequenceIV, "The IV is the sequence number with its bytes the other way round.")
        case .leftAlignedIV: (.sequenceIV, "The number stands in the IV's first eight bytes.")
        case .sequenceRestarts: (.sequenceIV, "Sequence numbers start anew at EXT-X-DISCONTINUITY.")
        case .sequence31Bits: (.wideSequence, "Sequence numbers have 31 bits.")
        case .sequence32Bits: (.wideSequence, "Sequence numbers have 32 bits.")
        case .sequence53Bits: (.wideSequence, "Sequence numbers have 53 bits, as in a floating-point number.")
        case .attributeIgnored: (.ivAttribute, "The IV attribute is ignored.")
        case .attributeKept: (.ivAttribute, "The IV attribute holds for later keys that have none.")
        case .attributeCounts: (.ivAttribute, "The IV attribute is counted up with each segment.")
        case .attribute64Bits: (.ivAttribute, "The IV attribute's second half is used only.")
        case .firstKeyOnly: (.keyRotation, "The first key is used for all segments.")
        case .lastKeyOnly: (.keyRotation, "The last key is used for all segments.")
        case .keyKept: (.methodNone, "METHOD=NONE is ignored.")
        case .anyFormat: (.keyFormat, "The key of whatever format came last is used.")
        case .paddingBetween: (.segmentPadding, "Padding is removed from the last segment only.")
        case .paddingOfPlain:
            (.segmentPadding, "Padding is removed from plain segments, too, where it looks like some.")
        case .chainGoesOn: (.segmentEdge, "The chain goes on from the end of the segment before.")
        case .readEndsAtSegment: (.segmentEdge, "A read ends at a segment's end.")
        case .rangeRestarts: (.segmentByteRange, "A byte range without an offset starts at 0.")
        case .rangeFollowsOffset:
            (.segmentByteRange, "A byte range without an offset follows the last offset that was given.")
        case .rangeIgnored: (.segmentByteRange, "Byte ranges are ignored.")
        case .rangeAligned: (.segmentByteRange, "A byte range starts at a multiple of 16 bytes.")
        case .sectionOmitted: (.initializationSection, "Initialization sections are left out.")
        case .sectionRepeated: (.initializationSection, "The initialization section stands before each segment.")
        case .sectionAgain:
            (.initializationSection, "The initialization section stands where its tag does, whether it changed or not.")
        case .sectionKeyLater:
            (.initializationSection, "The initialization section is decrypted with its segment's key.")
        case .sectionPlain: (.initializationSection, "The initialization section is not decrypted.")
        case .framesAlone: (.segmentByteRange, "The range of an I-frame is taken for a ciphertext of its own.")
        case .framesUnpadded: (.segmentByteRange, "What looks like padding at the end of an I-frame is removed.")
        case .gapRefused: (.badSegment, "EXT-X-GAP makes the playlist one that cannot be.")
        case .returnKept: (.playlistText, "Lines that end with CR LF keep the CR.")
        case .blankLineEnds: (.playlistText, "A blank line ends the playlist.")
        case .commentRefused: (.playlistText, "A comment is an error.")
        case .unknownTagRefused: (.playlistText, "A tag that is not known is an error.")
        case .infoNextIsURI: (.playlistText, "The line behind EXTINF is taken for the URI, whatever it is.")
        case .lastLineLost: (.playlistText, "A last line without a line feed is lost.")
        case .queryCut: (.playlistText, "A URI is cut at its question mark.")
        case .percentDecoded: (.playlistText, "A URI is asked for as it reads without its percent signs.")
        case .splitAtCommas: (.playlistText, "An attribute list is split at each comma, those in quotes too.")
        case .capitalXRefused: (.playlistText, "An IV attribute that begins with 0X is an error.")
        case .zeroIVIsNone: (.playlistText, "An IV attribute of zeros is taken for none.")
        case .rangeLostAtSection: (.playlistText, "A byte range is forgotten where EXT-X-MAP stands behind it.")
        case .dataURIRefused: (.playlistText, "A key whose URI begins with data: is an error.")
        case .quotesGuessed: (.badPlaylist, "Curly quotes are taken for straight ones.")
        case .shortIV: (.badPlaylist, "An IV attribute of too few digits is filled up with zeros.")
        case .sampleAES: (.badPlaylist, "METHOD=SAMPLE-AES is taken for AES-128.")
        case .noKeyIsPlain: (.missingKey, "A segment whose key is missing is delivered as it is.")
        case .keyFitted: (.missingKey, "A key that is too short is filled up with zeros, and one that is too long cut.")
        case .missingSkipped: (.badSegment, "A segment that is missing is left out.")
        case .partialBlockCut: (.badSegment, "A last part of a block is cut off.")
        case .paddingTrusted: (.badSegment, "Bad padding is taken for no padding.")
        }
    }
}
