public import RandomAccess
import Synchronization

/// The bytes fetched from one source or several since the record was made, or last reset.
public final class FetchRecord: Sendable {
    private struct State {
        var byteCount: UInt64 = 0
        var requestCount: UInt64 = 0
        var ranges: [Range<UInt64>] = []
        /// The offset at which a request continues that has delivered less than was asked for.
        var unfinishedEnd: UInt64?
    }

    private let keepsRanges: Bool
    private let state = Mutex(State())

    /// A record that keeps each range, or only the number of requests and bytes.
    public init(keepsRanges: Bool) {
        self.keepsRanges = keepsRanges
    }

    /// The number of bytes delivered in all.
    public var fetchedByteCount: UInt64 { state.withLock { $0.byteCount } }

    /// The number of requests and views. Asking for the rest of a short read is not a new request.
    public var requestCount: UInt64 { state.withLock { $0.requestCount } }

    /// The delivered ranges, one per request, in order.
    public var ranges: [Range<UInt64>] { state.withLock { $0.ranges } }

    /// Clears the record.
    public func reset() {
        state.withLock {
            $0.ranges.removeAll(keepingCapacity: true)
            $0 = State(ranges: $0.ranges)
        }
    }

    /// Records a delivered range, which may be less than was asked for.
    func note(_ range: Range<UInt64>, isWhole: Bool = true) {
        state.withLock {
            $0.byteCount += UInt64(range.count)
            let goesOn = $0.unfinishedEnd == range.lowerBound
            $0.unfinishedEnd = isWhole || range.isEmpty ? nil : range.upperBound
            if !goesOn { $0.requestCount += 1 }
            guard keepsRanges else { return }
            if goesOn, let last = $0.ranges.popLast() {
                $0.ranges.append(last.lowerBound..<range.upperBound)
            } else {
                $0.ranges.append(range)
            }
        }
    }
}

/// Records every fetch from another source.
public final class RecordingSource: WrappingSource {
    /// The wrapped source.
    public let base: any ByteSource
    /// The fetches so far.
    public let record: FetchRecord

    /// A source that adds the fetches of `base` to a record that it may share with other sources.
    public init(_ base: any ByteSource, record: FetchRecord) {
        self.base = base
        self.record = record
    }

    /// A source that records the fetches of `base`.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - keepsRanges: True to keep each range; false to keep only the number of requests and bytes.
    public convenience init(_ base: any ByteSource, keepsRanges: Bool) {
        self.init(base, record: FetchRecord(keepsRanges: keepsRanges))
    }

    /// The ranges delivered since the last `reset()`, in order.
    public var ranges: [Range<UInt64>] { record.ranges }

    /// The source as a viewable one with the same record, if the wrapped source is viewable; otherwise itself.
    public var viewable: any ByteSource {
        guard let base = base as? any ViewableSource else { return self }
        return RecordingViews(base, record: self)
    }

    /// Clears the record.
    public func reset() { record.reset() }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        let count = try base.read(at: offset, into: buffers)
        record.note(offset..<offset + UInt64(count), isWhole: count == buffers.byteCount)
        return count
    }
}

/// Records the views and the fetches of a viewable source.
final class RecordingViews: WrappingSource, ViewableSource {
    private let viewed: any ViewableSource
    private let record: RecordingSource

    init(_ base: any ViewableSource, record: RecordingSource) {
        self.viewed = base
        self.record = record
    }

    var base: any ByteSource { viewed }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try record.read(at: offset, into: buffers)
    }

    func makeView() throws(DecryptionError) -> any SourceView {
        View(try viewed.makeView(), record: record.record)
    }

    private final class View: SourceView {
        let base: any SourceView
        let record: FetchRecord

        init(_ base: any SourceView, record: FetchRecord) {
            self.base = base
            self.record = record
        }

        var largestByteCount: Int { base.largestByteCount }

        func bytes(_ range: Range<UInt64>) throws(DecryptionError) -> UnsafeRawBufferPointer {
            let bytes = try base.bytes(range)
            record.note(range)
            return bytes
        }

        func check() throws(DecryptionError) {
            try base.check()
        }
    }
}
