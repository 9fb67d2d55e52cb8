/// Bytes around an object that are not part of its format: a container or a tool put them in front or behind.
package struct OuterBytes: Hashable, Sendable {
    /// The number of bytes to skip in front.
    package var skipByteCount: UInt64 = 0
    /// The number of bytes to ignore behind.
    package var trimByteCount: UInt64 = 0
    /// True if the first 16 of the remaining bytes are the IV.
    package var hasIVInFront = false

    package init() {}

    /// True if there are no such bytes.
    package var isEmpty: Bool { self == OuterBytes() }
}

extension Strategy {
    /// Returns the object inside a source, with whole chunks, and the strategy with the IV from in front of the object.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source is too short, `.io`.
    package func inner(
        of source: any ByteSource
    ) throws(DecryptionError) -> (source: any ByteSource, strategy: Strategy) {
        guard !outer.isEmpty else { return try withWholeChunks(source) }
        let ivByteCount: UInt64 = outer.hasIVInFront ? UInt64(Block.byteCount) : 0
        let (front, overflow) = outer.skipByteCount.addingReportingOverflow(ivByteCount)
        guard !overflow, front <= source.byteCount, outer.trimByteCount <= source.byteCount - front else {
            throw .truncatedCiphertext(
                byteCount: source.byteCount,
                expected: "at least \(outer.skipByteCount) bytes in front, \(ivByteCount) of an IV and "
                    + "\(outer.trimByteCount) behind")
        }
        let inner = try SlicedSource(source, front..<source.byteCount - outer.trimByteCount)
        guard outer.hasIVInFront else { return try surrounded(by: OuterBytes()).withWholeChunks(inner) }
        let iv = try ByteString(count: Block.byteCount) { buffer throws(DecryptionError) in
            try source.fetch(at: outer.skipByteCount, into: buffer)
        }
        return try replacing(Format.Input.ivName, with: .bytes(iv)).surrounded(by: OuterBytes()).withWholeChunks(inner)
    }
}

/// A part of another source, as a source of its own.
public struct SlicedSource: WrappingSource {
    /// The wrapped source.
    public let base: any ByteSource
    /// The part, in offsets of the source.
    public let range: Range<UInt64>

    /// A part of a source.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - range: The part, in offsets of the source.
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source ends earlier.
    public init(_ base: any ByteSource, _ range: Range<UInt64>) throws(DecryptionError) {
        guard range.upperBound <= base.byteCount else {
            throw .truncatedCiphertext(
                byteCount: base.byteCount,
                expected: "at least \(range.upperBound), the end of the byte range from \(range.lowerBound) on")
        }
        self.base = base
        self.range = range
    }

    /// The part's length in bytes.
    public var byteCount: UInt64 { range.upperBound - range.lowerBound }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let maximum = Int(min(UInt64(buffers.byteCount), byteCount - offset))
        return try base.read(at: range.lowerBound + offset, into: buffers.prefix(maximum))
    }

    /// Tells the whole source about the range; see `ByteSource.adviseSequential(_:)`.
    public func adviseSequential(_ range: Range<UInt64>) {
        base.adviseSequential(self.range.lowerBound + range.lowerBound..<self.range.lowerBound + range.upperBound)
    }
}
