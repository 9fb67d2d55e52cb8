import RandomAccess

/// Notes what is looked at of a source whose bytes are decrypted where they lie, and what is fetched of it.
final class RecordingViews: ViewableSource {
    private let base: any ViewableSource
    private let record: RecordingSource

    init(_ base: any ViewableSource, record: RecordingSource) {
        self.base = base
        self.record = record
    }

    var byteCount: UInt64 { base.byteCount }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try record.read(at: offset, into: buffers)
    }

    func checkUnchanged() throws(DecryptionError) {
        try base.checkUnchanged()
    }

    func makeView() throws(DecryptionError) -> any SourceView {
        View(try base.makeView(), record: record)
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
