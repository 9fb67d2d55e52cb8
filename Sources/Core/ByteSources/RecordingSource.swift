public import RandomAccess
import Synchronization

/// What was fetched of one source or several since it was made, or last reset.
public final class FetchRecord: Sendable {
    private struct State {
        var byteCount: UInt64 = 0
        var requestCount: UInt64 = 0
        var ranges: [Range<UInt64>] = []
        /// Where a request goes on that has delivered less than was asked for.
        var unfinishedEnd: UInt64?
    }

    private let keepsRanges: Bool
    private let state = Mutex(State())

    /// Creates a record that keeps each range, or only how many they are and their bytes.
    public init(keepsRanges: Bool) {
        self.keepsRanges = keepsRanges
    }

    /// The bytes that were delivered in all.
    public var fetchedByteCount: UInt64 { state.withLock { $0.byteCount } }

    /// How often bytes were asked for, or looked at. What asks for the rest of a read that came short is no request of its
    /// own.
    public var requestCount: UInt64 { state.withLock { $0.requestCount } }

    /// The ranges that were delivered, one a request, in order.
    public var ranges: [Range<UInt64>] { state.withLock { $0.ranges } }

    /// Forgets what was noted.
    public func reset() {
        state.withLock {
            $0.ranges.removeAll(keepingCapacity: true)
            $0 = State(ranges: $0.ranges)
        }
    }

    /// Notes a range that was delivered, which may be less than was asked for.
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

/// Notes every fetch of another source.
public final class RecordingSource: WrappingSource {
    /// The wrapped source.
    public let base: any ByteSource
    /// What was fetched of it.
    public let record: FetchRecord

    /// Wraps a source whose fetches are noted with those of others.
    public init(_ base: any ByteSource, record: FetchRecord) {
        self.base = base
        self.record = record
    }

    /// Wraps a source.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - keepsRanges: Whether each range is kept, or only how many they are and their bytes.
    public convenience init(_ base: any ByteSource, keepsRanges: Bool) {
        self.init(base, record: FetchRecord(keepsRanges: keepsRanges))
    }

    /// The bytes that were delivered in all since the last `reset()`.
    public var fetchedByteCount: UInt64 { record.fetchedByteCount }

    /// The ranges that were delivered since the last `reset()`, in order.
    public var ranges: [Range<UInt64>] { record.ranges }

    /// The same record, as a source whose bytes are looked at where they lie if the wrapped one's are.
    public var viewable: any ByteSource {
        guard let base = base as? any ViewableSource else { return self }
        return RecordingViews(base, record: self)
    }

    /// Forgets what was noted.
    public func reset() { record.reset() }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        let count = try base.read(at: offset, into: buffers)
        record.note(offset..<offset + UInt64(count), isWhole: count == buffers.byteCount)
        return count
    }
}

/// Notes what is looked at of a source whose bytes are decrypted where they lie, and what is fetched of it.
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
