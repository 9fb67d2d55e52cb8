import RandomAccess

extension Mutant {
    /// Readers that do not decrypt.
    static let overclaims: [Mutant] = [
        .reading(
            "does-nothing", "Nothing is ever delivered.", flag: .exhaustive,
            source: "quarkslab/crypto-condor#13"
        ) { (base, offset, _) throws(DecryptionError) in
            try base.read(at: offset, into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
        },
        .delivery(
            "phantom", "So many zeros are delivered as were asked for.", flag: .exhaustive,
            source: "quarkslab/crypto-condor#13"
        ) { read in
            for index in 0..<read.count { read.buffer[index] = 0 }
            return read.count
        },
        .reading(
            "untouched", "Bytes are counted and not delivered.", flag: .exhaustive,
            source: "aes-decrypter: empty success"
        ) { (base, offset, buffer) throws(DecryptionError) in
            guard offset <= base.plaintextByteCount else {
                throw .rangeOutOfBounds(offset: offset, plaintextByteCount: base.plaintextByteCount)
            }
            return Int(min(UInt64(buffer.count), base.plaintextByteCount - offset))
        },
        Mutant(
            "unsupported", "Everything is said to be unsupported.", flag: .exhaustive,
            source: "thought up for this suite"
        ) {
            backend in
            InProcessSubject(
                name: "unsupported", supports: { _, _ in false }, open: InProcessSubject(backend: backend).open)
        },
        .opening(
            "unsupported-late", "Everything is unsupported once it is to be opened.", flag: .exhaustive,
            source: "thought up for this suite"
        ) {
            (_, _, _, _, _) throws(DecryptionError) in throw .unsupported("injected")
        },
        .reader(
            "unsupported-reads", "Objects open, and no read is supported.", flag: .exhaustive,
            source: "thought up for this suite"
        ) {
            { (_, _, _) throws(DecryptionError) in throw .unsupported("injected") }
        },
        .backend(
            "ciphertext", "Ciphertext is delivered as it is.", flag: .knownAnswer, source: "quarkslab/crypto-condor#13"
        ) { (_, _, stretch) throws(DecryptionError) in
            if !stretch.isInPlace, let start = stretch.input.baseAddress {
                stretch.output.copyMemory(from: start, byteCount: stretch.input.count)
            }
        },
        .backend(
            "ecb", "Blocks are decrypted and not chained.", flag: .knownAnswer,
            source: "NIST SP 800-38A, sections 6.1 and 6.2"
        ) { (cipher, base, stretch) throws(DecryptionError) in
            guard cipher == .aesCBC else { return try stretch.process(with: base) }
            for index in 0..<stretch.blockCount {
                try stretch.part(index..<index + 1, iv: Block(bigEndianValue: 0)).process(with: base)
            }
        },
        .opening(
            "longer-than-truth", "The plaintext is said to be one byte longer.", flag: .exhaustive,
            source: "FFmpeg: SEEK_END"
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            let reader = try right(setup, source, strategy, key)
            return FaultyReader(reader, plaintextByteCount: reader.plaintextByteCount + 1) {
                (base, offset, buffer) throws(DecryptionError) in try base.read(at: offset, into: buffer)
            }
        },
        .delivery(
            "large-offset-zeros", "Far from the start, zeros are delivered.", flag: .largeOffset,
            source: "sparse files; rfjakob/gocryptfs: holes"
        ) { read in
            if read.offset >= 1 << 30 { for index in 0..<read.count { read.buffer[index] = 0 } }
            return read.count
        },
    ]

    /// The readers of two articles, each with all its faults.
    static let articles: [Mutant] = [
        Mutant(
            "article-000",
            "Port: one IV for all chunks, padding not counted, reads end with their chunk, 16-byte keys become 24.",
            flag: .chunkEdge, source: "the article on chunks of 16 MB"
        ) { backend in
            var rules = TextbookRules()
            rules.location = { TextbookLocation(of: $0, strategy: $1, paddingByteCount: 0) }
            rules.iv = { $0.strategy.cipher == .aesCBC && $0.location.block == 0 ? $0.given : $0.right }
            rules.noticesChanges = false
            let faulty = rules
            return InProcessSubject(name: "article-000") { (setup, source, strategy, key) throws(DecryptionError) in
                let bytes = key.withUnsafeBytes { Array($0) }
                let filled = try SecretKey(bytes.count == 16 ? bytes + [UInt8](repeating: 0, count: 8) : bytes)
                let reader = try TextbookReader(
                    source: source, strategy: strategy, key: filled, backend: backend, rules: faulty,
                    windowByteCount: .max)
                return FaultyReader(reader, readToChunkEnd(strategy))
            }
        },
        Mutant(
            "article-004",
            "Port: a block too many, the ciphertext's length as bound, padding kept or zeroed, short reads taken.",
            flag: .lastBytes, source: "the article on windows of 100 MiB"
        ) { backend in
            InProcessSubject(name: "article-004") { (setup, source, strategy, key) throws(DecryptionError) in
                guard strategy.isWhole, strategy.cipher == .aesCBC else {
                    return try InProcessSubject(backend: backend).open(setup, source, strategy, key)
                }
                let context = try backend.makeContext(.aesCBC, .decrypt, key: key)
                return WindowArticleReader(source: source, iv: strategy.iv, context: context)
            }
        },
    ]
}

/// `decrypt(readFrom:keyData:firstInitVectorData:offset:sliceLength:)` of the article on windows of 100 MiB.
private final class WindowArticleReader: RandomAccessDecryptor {
    let plaintextByteCount: UInt64
    private let source: any ByteSource
    private let iv: Block
    private let context: any CipherContext

    init(source: any ByteSource, iv: Block, context: any CipherContext) {
        self.plaintextByteCount = source.byteCount
        self.source = source
        self.iv = iv
        self.context = context
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset <= source.byteCount, UInt64(buffer.count) <= source.byteCount - offset, !buffer.isEmpty else {
            throw .backend(
                name: "article", operation: "read", reason: "requestSizeGreaterThanSource or lengthLessThanOne")
        }
        let aligned = offset / 16 * 16
        let heading = Int(offset - aligned)
        let blocksByteCount = ((buffer.count + heading) / 16 + 1) * 16
        var previous = iv.bytes
        if aligned > 0 { _ = try read(16, at: aligned - 16, into: &previous) }
        var bytes = [UInt8](repeating: 0, count: blocksByteCount)
        let count = try read(blocksByteCount, at: aligned, into: &bytes) / 16 * 16
        let first = try Block(previous)
        try bytes.withMutableBytes { (bytes) throws(DecryptionError) in
            try context.process(inPlace: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]), iv: first)
        }
        if aligned + UInt64(blocksByteCount) == source.byteCount, let last = bytes.last, (1...16).contains(last) {
            // CCCrypt strips the padding, but the buffer that it wrote to keeps its length.
            for index in bytes.count - Int(last)..<bytes.count { bytes[index] = 0 }
        }
        buffer.copyBytes(from: bytes[heading..<heading + buffer.count])
        return buffer.count
    }

    func checkVersion() {}

    private func read(_ count: Int, at offset: UInt64, into bytes: inout [UInt8]) throws(DecryptionError) -> Int {
        try bytes.withMutableBytes { (bytes) throws(DecryptionError) in
            try source.read(at: offset, into: FetchBuffers(bytes))
        }
    }
}
