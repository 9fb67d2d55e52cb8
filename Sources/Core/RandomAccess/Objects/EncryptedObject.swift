/// A ciphertext, ready for reading: source, layout, backend and key.
///
/// Immutable; any number of cursors on any number of threads can share an object.
public final class EncryptedObject: Sendable {
    /// The source of the ciphertext.
    public let source: any ByteSource
    /// The layout, determined when the object was opened.
    public let layout: Layout
    /// The strategy of the ciphertext.
    public let strategy: Strategy

    private let backend: any CipherBackend
    /// The key of the ciphertext: the caller's, or one derived from it.
    private let key: ObjectKey

    /// Opens an object: checks its header, probes its end if the format requires it, and computes its layout. If chunks
    /// are authenticated, it checks the last one, which proves the length.
    ///
    /// - Throws: `DecryptionError.invalidParameter`, `.unsupported`, `.invalidKeyMaterial`, `.io`,
    ///   `.truncatedCiphertext`, `.invalidPadding`, `.headerRejected`, `.authenticationFailed`, `.backend`; checked in
    ///   the order of PROTOCOL.md.
    public convenience init(
        source: any ByteSource, strategy: Strategy, backend: any CipherBackend, key: SecretKey
    ) throws(DecryptionError) {
        try self.init(source: source, strategy: strategy, backend: backend, key: key, knownByteCount: nil)
    }

    /// Opens an object, possibly again: if its plaintext length is known from before, its end is not read.
    init(
        source: any ByteSource, strategy: Strategy, backend: any CipherBackend, key: SecretKey, knownByteCount: UInt64?
    ) throws(DecryptionError) {
        let (source, strategy) = try strategy.inner(of: source)
        let opened = try OpenedObject(
            source: source, strategy: strategy, backend: backend, key: key, knownByteCount: knownByteCount)
        (self.layout, self.key) = (opened.layout, opened.key)
        self.source = source
        self.strategy = strategy
        self.backend = backend
    }

    /// The plaintext's length in bytes.
    public var plaintextByteCount: UInt64 { layout.plaintextByteCount }

    /// Returns the same object with another source of the same ciphertext.
    package func reading(from source: any ByteSource) -> EncryptedObject { EncryptedObject(self, source: source) }

    private init(_ other: EncryptedObject, source: any ByteSource) {
        self.source = source
        self.layout = other.layout
        self.strategy = other.strategy
        self.backend = other.backend
        self.key = other.key
    }

    /// Returns a reader with its own buffers and cipher context, for one thread.
    ///
    /// - Parameter windowByteCount: The max number of plaintext bytes to decrypt in one step, at least 1; authenticated
    ///   chunks are opened as a whole in any case.
    /// - Returns: A cursor without a position: every read has an offset.
    /// - Throws: `DecryptionError.backend`, `.invalidParameter`, `.io` if the source cannot be viewed.
    public func makeCursor(windowByteCount: Int = .max) throws(DecryptionError) -> any RandomAccessDecryptor {
        // The ciphertext goes into the caller's buffer, so a long request needs no more memory than a short one, and
        // reads from the page cache are slightly faster.
        try makeCursor(windowByteCount: windowByteCount, requestByteCount: DistantSource.requestByteCount)
    }

    /// Returns a reader with a limit for the bytes that it requests at once. For authenticated chunks, the source's
    /// preferred request size applies.
    package func makeCursor(
        windowByteCount: Int, requestByteCount: Int
    ) throws(DecryptionError) -> any RandomAccessDecryptor {
        guard windowByteCount > 0 else {
            throw .invalidParameter(name: "window", value: "\(windowByteCount)", expected: "at least 1 byte")
        }
        if layout.chunkCount == 0, layout.geometry.end.emptyHasNoHeader { return EmptyCursor() }
        guard case .fixed(let key) = key, layout.rules.isStreaming else {
            return try ChunkCursor(object: self, opener: makeOpener())
        }
        return try ReadCursor(
            object: self, context: try backend.makeContext(layout.cipher, .decrypt, key: key),
            windowByteCount: windowByteCount, requestByteCount: requestByteCount)
    }

    /// The max number of bytes that a cursor of ``makeCursor(windowByteCount:)`` keeps between reads. For authenticated
    /// chunks, these are its buffers for ciphertext and for the last opened chunk; otherwise the number is negligible.
    package var cursorByteCount: UInt64 {
        guard !layout.rules.isStreaming else { return 0 }
        let counts = ChunkCursor.bufferByteCounts(layout, requestByteCount: source.requestByteCount)
        return counts.fetched + counts.kept
    }

    /// Returns an opener of whole chunks, for one thread.
    package func makeOpener() throws(DecryptionError) -> ChunkOpener {
        try ChunkOpener(layout: layout, key: key, backend: backend)
    }

    /// Returns a context with the object's backend, cipher and key, for one thread.
    ///
    /// - Throws: `DecryptionError.backend`, `.unsupported` if chunks have keys of their own.
    package func makeContext() throws(DecryptionError) -> any CipherContext {
        guard case .fixed(let key) = key else {
            throw .unsupported("a context of \(strategy.name), which has several keys")
        }
        return try backend.makeContext(layout.cipher, .decrypt, key: key)
    }
}

/// A reader of an object without bytes.
private final class EmptyCursor: RandomAccessDecryptor {
    var plaintextByteCount: UInt64 { 0 }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset == 0 else { throw .rangeOutOfBounds(offset: offset, plaintextByteCount: 0) }
        return 0
    }

    func checkVersion() throws(DecryptionError) {}
}

/// A reader that delivers decrypted bytes from the middle of an encrypted object: one of our readers, or an external
/// program behind the subject protocol.
///
/// A decryptor belongs to one thread at a time. Reads may come in any order, may repeat, and never depend on earlier
/// ones.
public protocol RandomAccessDecryptor: AnyObject {
    /// The plaintext's length in bytes.
    var plaintextByteCount: UInt64 { get }

    /// Reads plaintext like `pread`: from `offset` on, until the buffer is full or the plaintext ends.
    ///
    /// A read is all or nothing. It does not touch the buffer past the returned count. After a failure, the first bytes
    /// of the buffer are unspecified, and the decryptor remains usable.
    ///
    /// - Parameters:
    ///   - offset: A plaintext offset.
    ///   - buffer: The destination of the plaintext.
    /// - Returns: The number of bytes delivered: `min(buffer.count, plaintextByteCount - offset)`.
    /// - Throws: `DecryptionError.rangeOutOfBounds` if `offset` lies past the plaintext's end, for any length of the
    ///   buffer; `.io` and `.truncatedCiphertext` if the source fails; `.authenticationFailed`; `.backend` if the
    ///   crypto library fails.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int

    /// Checks that all bytes that were read since the object was opened are of one version of its source. It is meant
    /// for the end of an operation, before that reports success. See ``ByteSource/checkVersion()``.
    ///
    /// - Throws: `DecryptionError.sourceChanged` if the source's length has changed; `.io` if the bytes may be of
    ///   several versions.
    func checkVersion() throws(DecryptionError)
}

extension RandomAccessDecryptor {
    /// Reads up to `count` bytes into a new array, and checks their version. See ``read(at:into:)``,
    /// ``checkVersion()``.
    public func read(at offset: UInt64, count: Int) throws(DecryptionError) -> [UInt8] {
        precondition(count >= 0, "count \(count)")
        let maximum = offset < plaintextByteCount ? Int(min(UInt64(count), plaintextByteCount - offset)) : 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: maximum, alignment: 16)
        defer {
            eraseBytes(buffer)
            buffer.deallocate()
        }
        let delivered = try read(at: offset, into: buffer)
        try checkVersion()
        return Array(buffer[..<delivered])
    }
}
