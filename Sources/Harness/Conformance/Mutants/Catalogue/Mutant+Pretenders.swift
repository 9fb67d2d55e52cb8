internal import RandomAccess

extension Mutant {
    /// Readers that do not decrypt.
    static let pretenders: [Mutant] = [
        .reader(
            "does-nothing", "Nothing is ever delivered.", flag: .exhaustive,
            source: "quarkslab/crypto-condor#13"
        ) {
            { (base, offset, _) throws(DecryptionError) in
                try base.read(at: offset, into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
            }
        },
        .reader(
            "phantom", "So many zeros are delivered as were asked for.", flag: .exhaustive,
            source: "quarkslab/crypto-condor#13"
        ) {
            { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                for index in 0..<count { buffer[index] = 0 }
                return count
            }
        },
        .reader(
            "untouched", "Bytes are counted and not delivered.", flag: .exhaustive,
            source: "aes-decrypter: empty success"
        ) {
            { (base, offset, buffer) throws(DecryptionError) in
                guard offset <= base.plaintextByteCount else {
                    throw .rangeOutOfBounds(offset: offset, plaintextByteCount: base.plaintextByteCount)
                }
                return Int(min(UInt64(buffer.count), base.plaintextByteCount - offset))
            }
        },
        Mutant(
            "unsupported", "Everything is said to be unsupported.", flag: .exhaustive,
            source: "thought up for this suite"
        ) {
            backend in
            ConformanceSubject(
                name: "unsupported", supports: { _, _ in false }, open: ConformanceSubject(backend: backend).open)
        },
        .opening(
            "unsupported-late", "Everything is unsupported once it is to be opened.", flag: .exhaustive,
            source: "thought up for this suite"
        ) {
            (_, _, _, _, _) throws(DecryptionError) in throw .unsupported("planted")
        },
        .reader(
            "unsupported-reads", "Objects open, and no read is supported.", flag: .exhaustive,
            source: "thought up for this suite"
        ) {
            { (_, _, _) throws(DecryptionError) in throw .unsupported("planted") }
        },
        .backend(
            "ciphertext", "Ciphertext is delivered as it is.", flag: .knownAnswer, source: "quarkslab/crypto-condor#13"
        ) {
            (_, _, stretch) throws(DecryptionError) in
            if !stretch.isInPlace, let start = stretch.input.baseAddress {
                stretch.output.copyMemory(from: start, byteCount: stretch.input.count)
            }
        },
        .backend(
            "ecb", "Blocks are decrypted and not chained.", flag: .knownAnswer,
            source: "NIST SP 800-38A, sections 6.1 and 6.2"
        ) {
            (mode, base, stretch) throws(DecryptionError) in
            guard mode == .cbc else { return try stretch.process(with: base) }
            for index in 0..<stretch.blockCount {
                try stretch.part(index..<index + 1, iv: Block(bigEndianValue: 0)).process(with: base)
            }
        },
        .opening(
            "longer-than-truth", "The plaintext is said to be one byte longer.", flag: .exhaustive,
            source: "FFmpeg: SEEK_END"
        ) {
            (right, setup, source, strategy, key) throws(DecryptionError) in
            let reader = try right(setup, source, strategy, key)
            return FaultyReader(reader, plaintextByteCount: reader.plaintextByteCount + 1) {
                (base, offset, buffer) throws(DecryptionError) in try base.read(at: offset, into: buffer)
            }
        },
        .reader(
            "large-offset-zeros", "Far from the start, zeros are delivered.", flag: .largeOffset,
            source: "sparse files; rfjakob/gocryptfs: holes"
        ) {
            { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                if offset >= 1 << 30 { for index in 0..<count { buffer[index] = 0 } }
                return count
            }
        },
    ]
}
