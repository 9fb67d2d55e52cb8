/// Bytes around an object that are no part of its format: in front and behind, as a container or a tool puts them
/// there.
package struct OuterBytes: Hashable, Sendable {
    /// The bytes in front that are passed over.
    package var skipByteCount: UInt64 = 0
    /// The bytes behind that are passed over.
    package var trimByteCount: UInt64 = 0
    /// `true` if the first 16 bytes of what is left are the IV.
    package var hasIVInFront = false

    package init() {}

    /// `true` if there are none.
    package var isEmpty: Bool { self == OuterBytes() }
}

extension Strategy {
    /// The object itself in a source that has bytes around it, with whole chunks, and the strategy with the IV that stands
    /// in front of it.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source has fewer bytes, `.io`.
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

    /// Cuts a part out of a source.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - range: The part, in offsets of the source.
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source ends before.
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

    /// Tells the whole source; see `ByteSource.adviseSequential(_:)`.
    public func adviseSequential(_ range: Range<UInt64>) {
        base.adviseSequential(self.range.lowerBound + range.lowerBound..<self.range.lowerBound + range.upperBound)
    }
}
