internal import RandomAccess

/// A source over another, that does something of its own with each read.
struct ScriptedSource: ByteSource {
    typealias Read = @Sendable (any ByteSource, UInt64, FetchBuffers) throws(DecryptionError) -> Int

    let base: any ByteSource
    /// Whether it hands on that the base has changed.
    var noticesChanges = true
    let body: Read

    var byteCount: UInt64 { base.byteCount }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try body(base, offset, buffers)
    }

    func checkUnchanged() throws(DecryptionError) {
        if noticesChanges { try base.checkUnchanged() }
    }
}
