public import RandomAccess
import Synchronization

/// Notes every fetch of another source.
public final class RecordingSource: WrappingSource {
    private struct Record {
        var byteCount: UInt64 = 0
        var ranges: [Range<UInt64>] = []
    }

    /// The wrapped source.
    public let base: any ByteSource
    private let keepsRanges: Bool
    private let record = Mutex(Record())

    /// Wraps a source.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - keepsRanges: Whether each range is kept, or only their sum.
    public init(_ base: any ByteSource, keepsRanges: Bool) {
        self.base = base
        self.keepsRanges = keepsRanges
    }

    /// The bytes that were delivered in all since the last `reset()`.
    public var fetchedByteCount: UInt64 { record.withLock { $0.byteCount } }

    /// The ranges that were delivered since the last `reset()`, in order.
    public var ranges: [Range<UInt64>] { record.withLock { $0.ranges } }

    /// The same record, as a source whose bytes are looked at where they lie if the wrapped one's are.
    public var viewable: any ByteSource {
        guard let base = base as? any ViewableSource else { return self }
        return RecordingViews(base, record: self)
    }

    /// Forgets what was noted.
    public func reset() {
        record.withLock { $0 = Record() }
    }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        let count = try base.read(at: offset, into: buffers)
        note(offset..<offset + UInt64(count))
        return count
    }

    /// Notes a range that was delivered.
    func note(_ range: Range<UInt64>) {
        record.withLock {
            $0.byteCount += UInt64(range.count)
            if keepsRanges { $0.ranges.append(range) }
        }
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
        View(try viewed.makeView(), record: record)
    }

    private final class View: SourceView {
        let base: any SourceView
        let record: RecordingSource

        init(_ base: any SourceView, record: RecordingSource) {
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
