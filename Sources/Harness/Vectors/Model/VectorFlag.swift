/// A class of bugs that a vector stands for, like Wycheproof's flags: each is explained once, here.
package enum VectorFlag: String, CaseIterable, Codable, Hashable, Sendable {
    /// A case that a standard publishes.
    case knownAnswer = "KnownAnswer"
    /// One of all ranges of a small object.
    case exhaustive = "Exhaustive"
    /// The read reaches past the end and must be clipped.
    case readPastEnd = "ReadPastEnd"
    /// The read starts directly after the last byte.
    case offsetAtEnd = "OffsetAtEnd"
    /// The read starts beyond that.
    case offsetPastEnd = "OffsetPastEnd"
    /// The read has a count of 0.
    case zeroCount = "ZeroCount"
    /// The object has no plaintext.
    case emptyObject = "EmptyObject"
    /// The read crosses from one chunk into another, or starts or ends near there.
    case chunkEdge = "ChunkEdge"
    /// The read crosses from one window, which the format does not know, into another, or starts or ends near there.
    case windowEdge = "WindowEdge"
    /// A whole window in one read.
    case wholeWindow = "WholeWindow"
    /// The last 1 to 32 bytes.
    case lastBytes = "LastBytes"
    /// The plaintext ends with a whole block, so that the padding is a separate block.
    case paddingBlock = "PaddingBlock"
    /// A data block in the middle looks like padding.
    case paddingLookalike = "PaddingLookalike"
    /// The end has no valid padding.
    case badPadding = "BadPadding"
    /// The last chunk has valid padding, but a length that no writer produces.
    case impossibleLastChunk = "ImpossibleLastChunk"
    /// The ciphertext is not a whole number of blocks.
    case partialBlock = "PartialBlock"
    /// The ciphertext is empty, but padding is required.
    case emptyCiphertext = "EmptyCiphertext"
    /// The counter carries past its lowest 32 bits.
    case counterCarry32 = "CounterCarry32"
    /// The counter carries past its lowest 64 bits.
    case counterCarry64 = "CounterCarry64"
    /// The counter wraps to zero.
    case counterWrap = "CounterWrap"
    /// The first counter block ends in zeros: a nonce of 12 or 8 bytes.
    case shortNonce = "ShortNonce"
    /// A chunk's IV is the sum of the first IV and the chunk's number, with carries up to the wrap at 2¹²⁸.
    case sequenceCarry = "SequenceCarry"
    /// The offset needs more than 31, 32 or 36 bits.
    case largeOffset = "LargeOffset"
    /// Reads jump back and forth.
    case seekStorm = "SeekStorm"
    /// The first block of a chain or counter, with the given IV.
    case firstBlock = "FirstBlock"
    /// A block of a CBC chain, with the ciphertext block before it as its IV.
    case previousBlock = "PreviousBlock"
    /// A read that starts at a later counter than the first.
    case counterStart = "CounterStart"
    /// The counter carries past its lowest 8, 16 or 24 bits.
    case counterCarry8 = "CounterCarry8"
    /// Every residue modulo 16 of a read's start and length, at a few offsets.
    case unalignedRead = "UnalignedRead"
    /// About as many blocks as vectorised code processes at a time (8, 16, 32, 64, 128), and each possible remainder.
    case strideEdge = "StrideEdge"
    /// The same object with keys of 128, 192 and 256 bits.
    case keyLength = "KeyLength"
    /// One of all plaintext lengths up to 513.
    case everyLength = "EveryLength"
    /// One of all values of the last byte, and of all positions in the padding.
    case paddingByte = "PaddingByte"
    /// Each read starts where the one before it ended.
    case forwardReads = "ForwardReads"
    /// Reads go from the end to the start.
    case backwardRead = "BackwardRead"
    /// The same bytes are read repeatedly.
    case repeatedRead = "RepeatedRead"
    /// The source delivers a few bytes at a time.
    case shortReads = "ShortReads"
    /// The source fails at the read's start, in its middle, or at its last byte.
    case sourceFailure = "SourceFailure"
    /// The source ends before its announced length.
    case sourceEndsEarly = "SourceEndsEarly"
    /// The source's length has changed since it was opened.
    case changedLength = "ChangedLength"
    /// The ciphertext that a read fetches is judged.
    case minimalFetch = "Fetches"
    /// The bytes around the delivered ones are judged.
    case bufferBounds = "BufferBounds"
    /// Offsets around 2³¹ in an object that ends soon after.
    case beyond31Bits = "Beyond31Bits"
    /// Offsets around 2³² in an object that ends soon after.
    case beyond32Bits = "Beyond32Bits"
    /// Offsets around 2³⁵, block number 2³¹, in an object that ends soon after.
    case beyond35Bits = "Beyond35Bits"
    /// Offsets around 2³⁶, block number 2³², in an object that ends soon after.
    case beyond36Bits = "Beyond36Bits"
    /// A read after a failed one.
    case afterFailure = "AfterFailure"
    /// A read after a read of no bytes.
    case afterEmptyRead = "AfterEmptyRead"
    /// Several objects are open, and read in turn.
    case interleaved = "Interleaved"
    /// Several threads read the same object at once.
    case concurrentReads = "ConcurrentReads"
    /// A read of a hundred kilobytes to tens of megabytes.
    case longRead = "LongRead"
    /// Blocks of zeros, of ones, or equal to others.
    case specialBlock = "SpecialBlock"
    /// A step of the Monte Carlo test: a thousand chained blocks.
    case monteCarlo = "MonteCarlo"
    /// A bit of an authenticated chunk, or of its tag, is changed.
    case chunkTag = "ChunkTag"
    /// Authenticated chunks are swapped, repeated, omitted, or taken from another object.
    case chunkOrder = "ChunkOrder"
    /// The end is cut off: between authenticated chunks, or within one.
    case truncatedChunks = "TruncatedChunks"
    /// There are bytes after the last authenticated chunk.
    case trailingData = "TrailingData"
    /// The header belongs to another key or context, or is damaged.
    case headerCheck = "HeaderCheck"
    /// A chunk's number needs more than 8, 16 or 24 bits.
    case chunkCounter = "ChunkCounter"
    /// The inputs of derived keys: salts, contexts, associated data, key lengths.
    case keyDerivation = "KeyDerivation"
    /// The IV is the media sequence number, big-endian.
    case sequenceIV = "SequenceIV"
    /// Media sequence numbers that need more than 31, 32 or 53 bits, or carry past them.
    case wideSequence = "WideSequence"
    /// The IV is an attribute, which applies as long as its key.
    case ivAttribute = "IVAttribute"
    /// Keys change within the playlist.
    case keyRotation = "KeyRotation"
    /// METHOD=NONE ends encryption.
    case methodNone = "MethodNone"
    /// Several KEYFORMATs at the same time.
    case keyFormat = "KeyFormat"
    /// Each segment has its own padding.
    case segmentPadding = "SegmentPadding"
    /// Reads that cross from one segment into another.
    case segmentEdge = "SegmentEdge"
    /// Segments are byte ranges of resources.
    case segmentByteRange = "SegmentByteRange"
    /// Initialization sections.
    case initializationSection = "InitializationSection"
    /// Playlists in the forms found in practice: line ends, comments, unknown tags, queries, quoted commas.
    case playlistText = "PlaylistText"
    /// Playlists that do not parse, or refer to something that is not served.
    case badPlaylist = "BadPlaylist"
    /// Keys that are missing.
    case missingKey = "MissingKey"
    /// Segments that are missing, truncated, or without valid padding.
    case badSegment = "BadSegment"
    /// Clear bytes between the protected ones of a sample.
    case filmSubsamples = "FilmSubsamples"
    /// A pattern of encrypted and clear blocks.
    case filmPattern = "FilmPattern"
    /// IVs of 8 bytes, one for all samples, or a counter that wraps.
    case filmIV = "FilmIV"
    /// Samples of which the last block is not whole.
    case filmRest = "FilmRest"
    /// Films whose samples overlap, are cut, or do not add up.
    case badFilm = "BadFilm"

    /// A description of the fault in programs that fail such a vector.
    package var explanation: String {
        switch self {
        case .knownAnswer: "the cipher or its mode is wrong"
        case .exhaustive: "an off-by-one in the arithmetic of blocks, chunks, skipping and trimming"
        case .readPastEnd: "a read past the end hangs, fails, or delivers padding or old bytes"
        case .offsetAtEnd: "end of file is taken for an error, or for more data"
        case .offsetPastEnd: "an offset past the end silently delivers nothing, hangs, or wraps around"
        case .zeroCount: "a read of nothing fetches, fails or moves"
        case .emptyObject: "the only block is padding, and there is no chunk to look for"
        case .chunkEdge: "the chain is not restarted at a chunk's start, or its IV or place is another chunk's"
        case .windowEdge: "the chain is restarted at a window's start, or its last ciphertext block is lost"
        case .wholeWindow: "a window's own edges are handled twice or not at all"
        case .lastBytes: "the end of a padded object is cut short, or padding is delivered"
        case .paddingBlock: "a last block of nothing but padding is delivered, or decrypted twice"
        case .paddingLookalike: "padding is stripped in the middle of the file, or where there is none"
        case .badPadding: "padding is trusted, or only its last byte is looked at"
        case .impossibleLastChunk: "the length that the padding gives is not checked against the chunk's"
        case .partialBlock: "a last part of a block is cut off or padded in silence"
        case .emptyCiphertext: "a truncated object passes for an empty one"
        case .counterCarry32: "the counter is 32 bits wide, as in GCM"
        case .counterCarry64: "the counter is 64 bits wide, beside a nonce"
        case .counterWrap: "the counter's overflow traps or is lost"
        case .shortNonce: "a counter block that ends in zeros is taken for a nonce, whose counter starts elsewhere"
        case .sequenceCarry: "a chunk's number is added to a part of the IV only"
        case .largeOffset: "an offset or block number is held in too few bits"
        case .seekStorm: "a read depends on the one before it"
        case .firstBlock: "the IV is zero, reversed, misread or left over from an earlier read"
        case .previousBlock: "the IV of a block in the middle is the given one, a guess, or another block"
        case .counterStart: "a read starts to count anew, counts bytes, or counts from the wrong end"
        case .counterCarry8: "the counter's carry gets lost between bytes"
        case .unalignedRead: "bytes are skipped or trimmed by the wrong number at a read's start or end"
        case .strideEdge: "many blocks at once, or those left over, are decrypted wrongly or in the wrong place"
        case .keyLength: "a key is cut or filled up to another length"
        case .backwardRead: "a read is right only behind the one before it"
        case .repeatedRead: "what was kept of a read is used up, or is not the reader's"
        case .interleaved: "keys, IVs or plaintext of one object are used for another"
        case .shortReads: "a part is taken for the whole"
        case .sourceFailure: "a failed fetch passes for data, or fails under another name"
        case .sourceEndsEarly: "missing ciphertext passes for data, or hangs the reader"
        case .afterFailure: "a failure leaves half a chunk, or breaks the reader for good"
        case .afterEmptyRead: "a read of no bytes is taken for the end, or moves a position"
        case .changedLength: "data of another object is delivered in silence"
        case .minimalFetch: "too much is fetched, from the start of the file, twice, or for nothing"
        case .bufferBounds: "whole blocks, padding or zeros are written behind or before what is delivered"
        case .beyond31Bits: "an offset is held in a signed 32-bit integer"
        case .beyond32Bits: "an offset is held in an unsigned 32-bit integer"
        case .beyond35Bits: "a block's number is held in a signed 32-bit integer"
        case .beyond36Bits: "a block's number is held in an unsigned 32-bit integer"
        case .everyLength: "the end is wrong for some lengths: padding is delivered, or the last bytes are cut off"
        case .paddingByte: "only some padding values are refused, or only some of the padding's bytes are looked at"
        case .forwardReads: "chaining state that the last read left is used or lost where the next one follows on"
        case .concurrentReads: "readers of one object share state without a lock"
        case .longRead: "a long read is cut, or its later windows or chunks are wrong"
        case .specialBlock: "what a block holds is taken for a hole, an end, or a block that was seen before"
        case .monteCarlo: "an error that only shows after many chained blocks"
        case .chunkTag: "a chunk is delivered although its tag is wrong, or before it was looked at"
        case .chunkOrder: "a chunk passes in a place that is not its own"
        case .truncatedChunks: "a part of the message passes for the whole"
        case .trailingData: "what follows the end is ignored, or delivered"
        case .headerCheck: "the commitment is not compared, so that a ciphertext may open under two keys"
        case .chunkCounter: "a chunk's number is held in too few bits, or in the wrong order of bytes"
        case .keyDerivation: "the salt or the context is no part of the keys"
        case .sequenceIV: "the IV counts from 0, is off by one, or has its bytes in the wrong order"
        case .wideSequence: "the media sequence number is held in too few bits"
        case .ivAttribute: "the attribute is ignored, or kept for a key that has none"
        case .keyRotation: "the first key is used for all segments, or the last"
        case .methodNone: "plain segments are decrypted, or a key is forgotten to be forgotten"
        case .keyFormat: "another format's key takes the place of the one that can be used"
        case .segmentPadding: "padding is delivered between segments, or stripped where there is none"
        case .segmentEdge: "the chain goes on from one segment to the next, or a read ends at a segment's end"
        case .segmentByteRange: "a byte range without an offset starts anew, or where another resource's ended"
        case .initializationSection: "the section is left out, repeated, or decrypted with what is in force later"
        case .playlistText: "the parser knows one way to write a playlist, and others are in use"
        case .badPlaylist: "what cannot be understood is guessed"
        case .missingKey: "ciphertext is delivered where there is no key"
        case .badSegment: "missing segments pass for empty ones, and padding is trusted"
        case .filmSubsamples: "clear bytes are decrypted, or a keystream or chain starts anew behind them"
        case .filmPattern: "the pattern is ignored, or its clear blocks use keystream"
        case .filmIV: "an IV of 8 bytes is misplaced, the constant IV is not looked for, or a counter carries on"
        case .filmRest: "the rest of a block is decrypted in CBC, left as it is in CTR, or lost"
        case .badFilm: "what is missing or contradicts itself is left out"
        }
    }

    /// The origin of the class: a standard, or programs that had the bug.
    package var source: String {
        switch self {
        case .knownAnswer: "NIST SP 800-38A, appendix F"
        case .exhaustive: "TritonDataCenter/java-manta#207, krzyzanowskim/CryptoSwift#287"
        case .readPastEnd, .offsetPastEnd: "aws/amazon-s3-encryption-client-java#200, #301; PROTOCOL.md, \"read\""
        case .offsetAtEnd, .zeroCount: "PROTOCOL.md, \"read\""
        case .emptyObject, .emptyCiphertext, .impossibleLastChunk, .sequenceCarry, .segmentEdge, .badSegment:
            "PROTOCOL.md, \"open\""
        case .chunkEdge: "ceph/ceph#27130, guanzhi/GmSSL#1899, minio/minio#6776"
        case .windowEdge, .wholeWindow: "RidgeRun/gst-crypto#3"
        case .lastBytes: "palantir/hadoop-crypto#101"
        case .paddingBlock: "mpv-player/mpv#18207"
        case .paddingLookalike: "denoland/deno#32403"
        case .badPadding, .paddingByte: "RFC 5652, section 6.3; Wycheproof, flag BadPadding"
        case .partialBlock: "streamlink/streamlink#4533, apple/swift-crypto#438"
        case .counterCarry32, .counterCarry64, .counterWrap: "NIST SP 800-38A, appendix B.1; bcgit/bc-java#1775"
        case .shortNonce: "brix/crypto-js#508; NIST SP 800-38A, appendix B.2"
        case .largeOffset: "libgcrypt commit e1a352f8, pycryptodome#226"
        case .seekStorm: "rclone/rclone#828"
        case .firstBlock: "Vanilagy/mediabunny#509; FFmpeg, crypto.c"
        case .previousBlock: "NIST SP 800-38A, section 6.2; guanzhi/GmSSL#1899"
        case .counterStart: "NIST SP 800-38A, section 6.5; krzyzanowskim/CryptoSwift#635"
        case .counterCarry8: "bcgit/bc-java#1775"
        case .unalignedRead: "aws/amazon-s3-encryption-client-java#182, krzyzanowskim/CryptoSwift#287"
        case .strideEdge: "Legrandin/pycryptodome#582, intel/isa-l_crypto#143, openssl/openssl#32883"
        case .keyLength: "FIPS 197, section 5; AESCrypt-ObjC, FixKeyLengths"
        case .backwardRead: "rclone/rclone#677; FFmpeg, crypto.c"
        case .repeatedRead: "kokke/tiny-AES-c#20; PROTOCOL.md, \"read\""
        case .interleaved: "FFmpeg, hls.c; rclone/rclone#828"
        case .shortReads: "POSIX, read(); PROTOCOL.md, \"Served sources\""
        case .afterEmptyRead: "bcgit/bc-java#771; PROTOCOL.md, \"read\""
        case .sourceFailure, .afterFailure: "PROTOCOL.md, \"Transport\""
        case .sourceEndsEarly: "FFmpeg, crypto.c; PROTOCOL.md, \"Transport\""
        case .changedLength: "rfjakob/gocryptfs#1024; docs/method/conformance.md, \"Reading rules\""
        case .minimalFetch: "TritonDataCenter/java-manta#207, google/ExoPlayer#2467"
        case .bufferBounds: "openssl/openssl#10498"
        case .beyond31Bits: "pyca/cryptography#3324"
        case .beyond32Bits: "Legrandin/pycryptodome#226"
        case .beyond35Bits: "openssl/openssl#17871"
        case .beyond36Bits: "libgcrypt commit e1a352f8"
        case .everyLength: "palantir/hadoop-crypto#101, mpv-player/mpv#18207, video-dev/hls.js#1447"
        case .forwardReads: "guanzhi/GmSSL#1899, RidgeRun/gst-crypto#3"
        case .concurrentReads: "rclone/rclone#677; FiloSottile/age commit 4202739"
        case .longRead: "palantir/hadoop-crypto#101, video-dev/hls.js#1447"
        case .specialBlock: "NIST SP 800-38A, section 6.2; sparse files and caches by content"
        case .chunkTag: "NIST SP 800-38D, section 7.2; Wycheproof, flag ModifiedCiphertext"
        case .chunkOrder: "Wycheproof, flag ChunkReordering; rfjakob/gocryptfs#1024"
        case .truncatedChunks: "c2sp.org/chunked-encryption, \"Message chunking\"; Wycheproof, flag Truncation"
        case .trailingData: "tink-crypto/tink-cc#20; Wycheproof, flag TrailingData"
        case .headerCheck: "c2sp.org/chunked-encryption, \"Key derivation\"; Wycheproof, flag HeaderFailure"
        case .chunkCounter: "c2sp.org/chunked-encryption, \"AEAD usage\"; Wycheproof, flag CounterRollover"
        case .keyDerivation: "RFC 5869, section 3; c2sp.org/chunked-encryption, \"Key derivation\""
        case .sequenceIV: "RFC 8216, section 5.2; google/ExoPlayer#354"
        case .wideSequence: "RFC 8216, section 4.2; FFmpeg, hls.js and Shaka keep 32 or 64 bits"
        case .ivAttribute, .keyFormat: "RFC 8216, section 4.3.2.4"
        case .keyRotation: "RFC 8216, section 4.3.2.4; androidx/media#1291"
        case .methodNone: "RFC 8216, section 4.3.2.4; shaka-project/shaka-player#4846"
        case .segmentPadding: "RFC 8216, section 4.3.2.4; google/ExoPlayer#3917"
        case .segmentByteRange: "RFC 8216, section 4.3.2.2; video-dev/hls.js#4933"
        case .initializationSection: "RFC 8216, section 4.3.2.5; google/ExoPlayer#5441"
        case .playlistText: "RFC 8216, sections 4.1 and 4.2; videojs/videojs-contrib-hls#282, carlanton/m3u8-parser#28"
        case .badPlaylist: "RFC 8216, section 6.3.1; PROTOCOL.md, \"open\""
        case .filmSubsamples, .filmPattern, .filmRest: "ISO/IEC 23001-7:2016, section 9; azot-labs/okova#84"
        case .filmIV: "ISO/IEC 23001-7:2016, section 9; truedread/pymp4decrypt#3, Eyevinn/mp4ff#150"
        case .badFilm: "ISO/IEC 23001-7:2016, section 7; PROTOCOL.md, \"open\""
        case .missingKey: "PROTOCOL.md, \"open\"; FFmpeg, hls.c"
        case .monteCarlo: "NIST, The Advanced Encryption Standard Algorithm Validation Suite (2002), section 6.4.2"
        }
    }
}
