internal import ByteSources
package import RandomAccess

/// The ciphertext of an encrypted segment or initialization section in its resource.
///
/// The one place that says what becomes of a byte range: see ``ByteRangeReading``.
package struct SegmentCiphertext: Sendable {
    /// The stretch of the resource that is read: whole blocks. In the middle of a chain, the first of them is the IV.
    package let range: Range<UInt64>
    /// The length of the plaintext in bytes.
    package let plaintextByteCount: UInt64

    /// The plaintext bytes of the stretch before those of the segment.
    private let skippedByteCount: UInt64
    private let iv: Block

    /// Looks at a resource, and at the padding where there is some.
    ///
    /// - Parameters:
    ///   - resource: All of it.
    ///   - part: The segment or section.
    ///   - iv: The IV that the playlist has for it.
    ///   - backend: The library that decrypts.
    ///   - key: The key.
    /// - Throws: `DecryptionError`; `PlaylistError.misreadRange` where another reading of the byte range may be right.
    package init(
        in resource: any ByteSource, _ part: SegmentPart, iv: Block, backend: any CipherBackend, key: SecretKey
    ) throws(DecryptionError) {
        func opened(_ range: Range<UInt64>) throws(DecryptionError) -> UInt64 {
            try EncryptedObject(
                source: SlicedSource(resource, range), strategy: .cbcContinuous(iv: iv, padding: .pkcs7),
                backend: backend, key: key
            ).plaintextByteCount
        }
        self.iv = iv
        let own = try part.ownRange(in: resource)
        do throws(DecryptionError) {
            guard let wanted = part.byteRange, part.reading == .chain else {
                let byteCount = try opened(own)
                // What is called plaintext and unpads to another length is something else.
                if part.reading == .plaintext, byteCount != part.byteRange.map({ $0.upperBound - $0.lowerBound }) {
                    throw .invalidPadding
                }
                (range, skippedByteCount, plaintextByteCount) = (own, 0, byteCount)
                return
            }
            let firstBlock = wanted.lowerBound / 16 * 16
            let start = firstBlock - min(firstBlock, 16)
            var end = wanted.upperBound
            // RFC 8216, section 6.3.6: what was asked for, and no byte less; but the end of a resource has padding.
            if end > resource.byteCount - min(resource.byteCount, 16) {
                guard resource.byteCount % 16 == 0 else {
                    throw .truncatedCiphertext(
                        byteCount: resource.byteCount, expected: "a multiple of 16, as CBC makes")
                }
                let lastBlocks = resource.byteCount - min(resource.byteCount, 32)..<resource.byteCount
                end = max(wanted.lowerBound, min(end, lastBlocks.lowerBound + (try opened(lastBlocks))))
            }
            range = start..<(wanted.upperBound + 15) / 16 * 16
            skippedByteCount = wanted.lowerBound - start
            plaintextByteCount = end - wanted.lowerBound
        } catch {
            switch error {
            case .truncatedCiphertext, .invalidPadding:
                throw part.byteRange == nil ? error : .misreadRange(error, part.reading, part.isInitialization)
            default: throw error
            }
        }
    }

    /// Opens the stretch.
    ///
    /// - Parameters:
    ///   - stretch: The bytes of the resource in ``range``.
    ///   - backend: The library that decrypts.
    ///   - key: The key.
    /// - Returns: An object of which ``cursor(of:windowByteCount:)`` reads the segment.
    /// - Throws: `DecryptionError`.
    package func object(
        over stretch: any ByteSource, backend: any CipherBackend, key: SecretKey
    ) throws(DecryptionError) -> EncryptedObject {
        // The padding is behind what is read, so that nobody need know of it.
        try EncryptedObject(
            source: stretch, strategy: .cbcContinuous(iv: iv, padding: .none), backend: backend, key: key)
    }

    /// Makes a reader of the segment's plaintext, for one thread.
    ///
    /// - Throws: `DecryptionError`.
    package func cursor(
        of object: EncryptedObject, windowByteCount: Int = .max
    ) throws(DecryptionError) -> any RandomAccessDecryptor {
        SegmentCursor(
            try object.makeCursor(windowByteCount: windowByteCount), skipping: skippedByteCount,
            plaintextByteCount: plaintextByteCount)
    }
}

/// A segment or initialization section as its playlist has it.
package struct SegmentPart: Sendable {
    /// The URI as written.
    package var uri: String
    /// The part of the resource; `nil` for all of it.
    package var byteRange: Range<UInt64>?
    /// The meaning of the byte range.
    package var reading: ByteRangeReading
    /// The part's encryption.
    package var encryption: SegmentEncryption
    /// True for an initialization section.
    package var isInitialization: Bool

    /// Creates a part that is a segment.
    package init(_ segment: MediaSegment) {
        (uri, byteRange, reading) = (segment.uri, segment.byteRange, segment.reading)
        (encryption, isInitialization) = (segment.encryption, false)
    }

    /// Creates a part that is an initialization section.
    package init(_ section: InitializationSection) {
        (uri, byteRange, reading) = (section.uri, section.byteRange, section.reading)
        (encryption, isInitialization) = (section.encryption, true)
    }

    /// The range of the part's own bytes in its resource, padding included; of a part of a chain, its range as it is.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the resource ends before.
    package func ownRange(in resource: any ByteSource) throws(DecryptionError) -> Range<UInt64> {
        guard var range = byteRange else { return 0..<resource.byteCount }
        let byteCount = range.upperBound - range.lowerBound
        // Far from where sums overflow, unless it ends behind the resource anyway.
        if reading == .plaintext, range.upperBound < resource.byteCount {
            range = range.lowerBound..<range.lowerBound + (byteCount / 16 + 1) * 16
        }
        return try SlicedSource(resource, range).range
    }
}

/// Reads plaintext behind a part that is not wanted; belongs to one thread.
private final class SegmentCursor: RandomAccessDecryptor {
    let plaintextByteCount: UInt64
    private let base: any RandomAccessDecryptor
    private let skippedByteCount: UInt64

    init(_ base: any RandomAccessDecryptor, skipping skippedByteCount: UInt64, plaintextByteCount: UInt64) {
        self.base = base
        self.skippedByteCount = skippedByteCount
        self.plaintextByteCount = plaintextByteCount
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        let count = Int(min(UInt64(buffer.count), plaintextByteCount - offset))
        return try base.read(
            at: skippedByteCount + offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }

    func checkVersion() throws(DecryptionError) { try base.checkVersion() }
}
