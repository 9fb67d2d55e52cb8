internal import RandomAccess
internal import Vectors

extension Mutant {
    /// Faults in the starts and ends of reads.
    static let ranges: [Mutant] = [
        .clip(
            "past-end-fails", "A read past the end is an error.", flag: .readPastEnd,
            source: "the article on windows of 100 MiB: requestSizeGreaterThanSource"
        ) { (offset, count, length) throws(DecryptionError) in
            if offset <= length, UInt64(count) > length - offset { throw outOfBounds(offset, length) }
        },
        .delivery(
            "past-end-empty", "A read past the end delivers nothing.", flag: .readPastEnd, source: "rustfs/rustfs#2673"
        ) { read in
            return read.count < read.buffer.count ? 0 : read.count
        },
        .delivery(
            "past-end-zeros", "A read past the end is filled up with zeros.", flag: .readPastEnd,
            source: "aws/amazon-s3-encryption-client-java#301"
        ) { read in
            for index in read.count..<read.buffer.count { read.buffer[index] = 0 }
            return read.buffer.count
        },
        .reading(
            "past-end-stale", "A read past the end counts bytes that it does not deliver.", flag: .readPastEnd,
            source: "aws/amazon-s3-encryption-client-java#301"
        ) { (base, offset, buffer) throws(DecryptionError) in
            _ = try base.read(at: offset, into: buffer)
            return buffer.count
        },
        .reading(
            "offset-past-end-empty", "An offset past the end delivers nothing.", flag: .offsetPastEnd,
            source: "aws/amazon-s3-encryption-client-java#200"
        ) { (base, offset, buffer) throws(DecryptionError) in
            offset > base.plaintextByteCount ? 0 : try base.read(at: offset, into: buffer)
        },
        .reading(
            "offset-past-end-whole", "An offset past the end delivers the start.", flag: .offsetPastEnd,
            source: "S3EC: invalid ranges give the whole object; the article on chunks of 16 MB: unsigned underflow"
        ) { (base, offset, buffer) throws(DecryptionError) in
            try base.read(at: offset > base.plaintextByteCount ? 0 : offset, into: buffer)
        },
        .reading(
            "offset-in-padding", "An offset past the end is good as long as it lies in the ciphertext.",
            flag: .offsetPastEnd, source: "the article on windows of 100 MiB: bounds use the ciphertext's size"
        ) { (base, offset, buffer) throws(DecryptionError) in
            let end = base.plaintextByteCount / 16 * 16 + 16
            return offset > base.plaintextByteCount && offset <= end ? 0 : try base.read(at: offset, into: buffer)
        },
        .reading(
            "offset-at-end-fails", "An offset at the end is an error.", flag: .offsetAtEnd,
            source: "PROTOCOL.md, \"read\""
        ) { (base, offset, buffer) throws(DecryptionError) in
            if offset == base.plaintextByteCount { throw outOfBounds(offset, offset) }
            return try base.read(at: offset, into: buffer)
        },
        .reading(
            "offset-at-end-repeats", "At the end the last byte comes again.", flag: .offsetAtEnd,
            source: "str4d/rage#196"
        ) { (base, offset, buffer) throws(DecryptionError) in
            let isEnd = offset == base.plaintextByteCount && offset > 0
            return try base.read(at: isEnd ? offset - 1 : offset, into: buffer)
        },
        .reading(
            "zero-count-fails", "A read of nothing is an error.", flag: .zeroCount,
            source: "the article on windows of 100 MiB: lengthLessThanOne"
        ) { (base, offset, buffer) throws(DecryptionError) in
            if buffer.isEmpty { throw .invalidParameter(name: "count", value: "0", expected: "injected") }
            return try base.read(at: offset, into: buffer)
        },
        .reading(
            "zero-count-anywhere", "A read of nothing is good past the end.", flag: .zeroCount,
            source: "PROTOCOL.md, \"read\""
        ) { (base, offset, buffer) throws(DecryptionError) in
            buffer.isEmpty ? 0 : try base.read(at: offset, into: buffer)
        },
        .opening(
            "zero-count-fetches", "A read of nothing fetches a block.", flag: .zeroCount,
            source: "PROTOCOL.md, \"read\""
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            FaultyReader(try right(setup, source, strategy, key)) { (base, offset, buffer) throws(DecryptionError) in
                if buffer.isEmpty {
                    var block = Block(bigEndianValue: 0).bytes
                    try block.withMutableBytes { (bytes) throws(DecryptionError) in
                        _ = try source.read(at: 0, into: FetchBuffers(bytes))
                    }
                }
                return try base.read(at: offset, into: buffer)
            }
        },
        .textbook(
            "skip-ignored", "A read inside a block starts at the block's start.", flag: .unalignedRead,
            source: "aws/amazon-s3-encryption-client-java#182"
        ) {
            $0.skip = { right, cipher in cipher == .aesCBC ? 0 : right }
        },
        .textbook(
            "skip-ignored-ctr", "A counter's first bytes are used wherever a read starts.", flag: .unalignedRead,
            source: "krzyzanowskim/CryptoSwift#287"
        ) {
            $0.skip = { right, cipher in cipher == .aesCTR ? 0 : right }
        },
        .textbook(
            "skip-14", "The fifteenth byte of a block is taken for the sixteenth.", flag: .unalignedRead,
            source: "TritonDataCenter/java-manta#207"
        ) {
            $0.skip = { right, _ in right == 15 ? 14 : right }
        },
        .delivery(
            "trim-first", "A read that ends with a block's first byte gets it wrong.", flag: .unalignedRead,
            source: "TritonDataCenter/java-manta#207"
        ) { read in
            if read.count > 1, read.end % 16 == 1 { read.buffer[read.count - 1] ^= 1 }
            return read.count
        },
        .delivery(
            "trim-last", "A read of at least two bytes that starts with a block's last byte gets it wrong.",
            flag: .unalignedRead, source: "krzyzanowskim/CryptoSwift#287"
        ) { read in
            if read.offset % 16 == 15, read.count > 1 { read.buffer[0] ^= 1 }
            return read.count
        },
    ]

    /// Offsets and block numbers in too few bits, taken modulo or clipped.
    static let offsetWidths: [Mutant] = [
        (31, .beyond31Bits), (32, .beyond32Bits), (35, .beyond35Bits), (36, .beyond36Bits),
    ].flatMap { (bits: UInt64, flag: VectorFlag) -> [Mutant] in
        let what = bits < 33 ? "Offsets" : "Block numbers"
        let width = bits % 2 == 1 ? "31" : "32"
        let source = bits < 33 ? "pyca/cryptography#3324" : "libgcrypt commit e1a352f8"
        return [
            .textbook("offset-\(bits)-wraps", "\(what) are held in \(width) bits.", flag: flag, source: source) {
                $0.location = { position, strategy in
                    TextbookLocation(of: position % (1 << bits), strategy: strategy)
                }
            },
            .clip("offset-\(bits)-fails", "\(what) of more than \(width) bits are refused.", flag: flag, source: source)
            { (offset, count, length) throws(DecryptionError) in
                if offset <= length, offset >= 1 << bits { throw outOfBounds(offset, length) }
            },
            .delivery("offset-\(bits)-clips", "A read across 2^\(bits) ends there.", flag: flag, source: source) {
                read in
                let edge = UInt64(1) << bits
                return read.offset < edge && read.end > edge ? Int(edge - read.offset) : read.count
            },
        ]
    }

    private static func clip(
        _ name: String, _ summary: String, flag: VectorFlag, source: String,
        _ check: @escaping @Sendable (_ offset: UInt64, _ count: Int, _ length: UInt64) throws(DecryptionError) -> Void
    ) -> Mutant {
        .textbook(name, summary, flag: flag, source: source) {
            let right = $0.clip
            $0.clip = { (offset, count, length) throws(DecryptionError) in
                try check(offset, count, length)
                return try right(offset, count, length)
            }
        }
    }

    private static func outOfBounds(_ offset: UInt64, _ length: UInt64) -> DecryptionError {
        .rangeOutOfBounds(offset: offset, plaintextByteCount: length)
    }
}
