internal import RandomAccess

extension Mutant {
    /// The object's length and end.
    static let lengths: [Mutant] = [
        .textbook(
            "partial-block-cut", "A last part of a block is cut off in silence.", flag: .partialBlock,
            source: "streamlink/streamlink#4533"
        ) {
            let right = $0.ciphertextByteCount
            $0.ciphertextByteCount = { (count, strategy) throws(DecryptionError) in
                try right(strategy.mode == .cbc ? count / 16 * 16 : count, strategy)
            }
        },
        .textbook(
            "partial-block-filled", "A last part of a block is filled up with zeros.", flag: .partialBlock,
            source: "apple/swift-crypto#438"
        ) {
            let (right, fetch) = ($0.ciphertextByteCount, $0.fetch)
            $0.ciphertextByteCount = { (count, strategy) throws(DecryptionError) in
                try right(strategy.mode == .cbc ? (count + 15) / 16 * 16 : count, strategy)
            }
            $0.fetch = { (source, offset, buffer) throws(DecryptionError) in
                let isPartial = source.byteCount % 16 != 0 && offset + UInt64(buffer.count) > source.byteCount
                let count = isPartial ? Int(source.byteCount - min(offset, source.byteCount)) : buffer.count
                try fetch(source, offset, UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
            }
        },
        .textbook(
            "partial-block-misnamed", "A last part of a block is called a wrong padding.", flag: .partialBlock,
            source: "PROTOCOL.md, \"Transport\""
        ) {
            let right = $0.ciphertextByteCount
            $0.ciphertextByteCount = { (count, strategy) throws(DecryptionError) in
                if strategy.mode == .cbc, count % 16 != 0 { throw .invalidPadding }
                return try right(count, strategy)
            }
        },
        .textbook(
            "empty-ciphertext-opens", "No ciphertext passes for an empty object.", flag: .emptyCiphertext,
            source: "PROTOCOL.md, \"open\""
        ) {
            let right = $0.ciphertextByteCount
            $0.ciphertextByteCount = { (count, strategy) throws(DecryptionError) in
                count == 0 ? 0 : try right(count, strategy)
            }
        },
        .opening(
            "empty-object-refused", "An empty object does not open.", flag: .emptyObject, source: "google/tink#79"
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            let reader = try right(setup, source, strategy, key)
            guard reader.plaintextByteCount > 0 else {
                throw .truncatedCiphertext(byteCount: source.byteCount, expected: "planted")
            }
            return reader
        },
        .reader(
            "end-short", "A read within the last block of a padded object ends one byte early.", flag: .lastBytes,
            source: "palantir/hadoop-crypto#101"
        ) {
            { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                let isInLastBlock = offset >= base.plaintextByteCount / 16 * 16
                return isInLastBlock && count > 1 && offset + UInt64(count) == base.plaintextByteCount
                    ? count - 1 : count
            }
        },
        .textbook(
            "end-cut-to-blocks", "The last part of a block is not delivered.", flag: .lastBytes,
            source: "palantir/hadoop-crypto#101"
        ) {
            $0.length = { right, _, strategy in strategy.padding == .pkcs7 ? right / 16 * 16 : right }
        },
        .reader(
            "end-zeros", "The last block's bytes are zeros where padding was.", flag: .lastBytes,
            source: "article 004: executeBytesCount"
        ) {
            { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                let lastBlock = base.plaintextByteCount / 16 * 16
                if offset + UInt64(count) > lastBlock, offset < base.plaintextByteCount { buffer[count - 1] = 0 }
                return count
            }
        },
    ]
}
