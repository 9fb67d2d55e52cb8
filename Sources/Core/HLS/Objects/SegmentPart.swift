import ByteSources
package import RandomAccess

/// A segment or initialization section as in its playlist.
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

    /// The part that is a segment.
    package init(_ segment: MediaSegment) {
        (uri, byteRange, reading) = (segment.uri, segment.byteRange, segment.reading)
        (encryption, isInitialization) = (segment.encryption, false)
    }

    /// The part that is an initialization section.
    package init(_ section: InitializationSection) {
        (uri, byteRange, reading) = (section.uri, section.byteRange, section.reading)
        (encryption, isInitialization) = (section.encryption, true)
    }

    /// Returns the range of the part's own bytes in its resource, padding included. For a part of a chain, it is the
    /// byte range unchanged.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the resource ends earlier.
    package func ownRange(in resource: any ByteSource) throws(DecryptionError) -> Range<UInt64> {
        guard var range = byteRange else { return 0..<resource.byteCount }
        let byteCount = range.upperBound - range.lowerBound
        // The sum cannot overflow, because the range ends before the resource does.
        if reading == .plaintext, range.upperBound < resource.byteCount {
            range = range.lowerBound..<range.lowerBound + (byteCount / 16 + 1) * 16
        }
        return try SlicedSource(resource, range).range
    }

    /// Returns the place of the part in its resource. Nothing else interprets a byte range; see ``ByteRangeReading``.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the resource ends earlier.
    package func place(in resource: any ByteSource) throws(DecryptionError) -> PiecePlace {
        let own = try ownRange(in: resource)
        guard case .aes128(_, let iv, _) = encryption else { return PiecePlace(own) }
        guard let wanted = byteRange, reading == .chain else {
            let byteCount = reading == .plaintext ? byteRange.map { $0.upperBound - $0.lowerBound } : nil
            return PiecePlace(own, .whole(.aesCBC, iv: iv), byteCount: byteCount)
        }
        // RFC 8216, section 6.3.6: exactly the requested bytes; but the end of a resource has padding.
        let reachesEnd = wanted.upperBound > resource.byteCount - min(resource.byteCount, 16)
        return PiecePlace(
            0..<(reachesEnd ? resource.byteCount : (wanted.upperBound + 15) / 16 * 16),
            .whole(.aesCBC, iv: iv, padding: reachesEnd ? .pkcs7 : Padding.none), window: wanted)
    }

    /// Returns an error of opening the part, with a hint at the option that changes the meaning of its byte range.
    package func explain(_ error: DecryptionError) -> DecryptionError {
        switch error {
        case .truncatedCiphertext, .invalidPadding:
            byteRange == nil ? error : .misreadRange(error, reading, isInitialization)
        default: error
        }
    }
}
