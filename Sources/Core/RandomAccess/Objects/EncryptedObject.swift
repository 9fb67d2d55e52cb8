/// A ciphertext with what it takes to read it: source, layout, backend and key.
///
/// Immutable; one object is shared by any number of cursors on any number of threads.
public final class EncryptedObject: Sendable {
    /// Where the ciphertext comes from.
    public let source: any ByteSource
    /// What was found when the object was opened.
    public let layout: Layout
    /// The strategy that the ciphertext was made with.
    public let strategy: Strategy

    private let backend: any CipherBackend
    /// The key of the ciphertext: the caller's, or one that was derived from it.
    private let key: ObjectKey

    /// Opens an object: checks its header, if it has one, probes its end where the format needs that, and works out its
    /// layout. Of an object of authenticated chunks, the last one is checked, which proves the length.
    ///
    /// - Throws: `DecryptionError.invalidParameter`, `.unsupported`, `.invalidKeyMaterial`, `.io`,
    ///   `.truncatedCiphertext`, `.invalidPadding`, `.headerRejected`, `.authenticationFailed`, `.backend`; checked in
    ///   the order of PROTOCOL.md.
    public convenience init(
        source: any ByteSource, strategy: Strategy, backend: any CipherBackend, key: SecretKey
    ) throws(DecryptionError) {
        try self.init(source: source, strategy: strategy, backend: backend, key: key, knownByteCount: nil)
    }

    /// Opens an object, perhaps again: if its plaintext's length was found before, its end is not looked at.
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

    /// The same object, whose ciphertext comes by another way.
    package func reading(from source: any ByteSource) -> EncryptedObject { EncryptedObject(self, source: source) }

    private init(_ other: EncryptedObject, source: any ByteSource) {
        self.source = source
        self.layout = other.layout
        self.strategy = other.strategy
        self.backend = other.backend
        self.key = other.key
    }

    /// Makes a reader with buffers and a cipher context of its own, for one thread.
    ///
    /// - Parameter windowByteCount: The max number of plaintext bytes that are decrypted in one step, at least 1;
    ///   authenticated chunks are opened whole in any case.
    /// - Returns: A cursor without a position: every read says where it starts.
    /// - Throws: `DecryptionError.backend`, `.invalidParameter`, `.io` if the source cannot be viewed.
    public func makeCursor(windowByteCount: Int = .max) throws(DecryptionError) -> any RandomAccessDecryptor {
        // What is fetched goes into the caller's buffer, so that a long request takes no more memory than a short one;
        // and it is read from the page cache a little faster.
        try makeCursor(windowByteCount: windowByteCount, requestByteCount: DistantSource.requestByteCount)
    }

    /// Makes a reader that asks for at most so many bytes at once; one of authenticated chunks asks for what its source
    /// is best asked for.
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

    /// The max number of bytes that a cursor of ``makeCursor(windowByteCount:)`` keeps between reads: of authenticated
    /// chunks, what it fetches and the latest one that was opened; else none worth counting.
    package var cursorByteCount: UInt64 {
        guard !layout.rules.isStreaming else { return 0 }
        let counts = ChunkCursor.bufferByteCounts(layout, requestByteCount: source.requestByteCount)
        return counts.fetched + counts.kept
    }

    /// Makes what opens chunks as a whole, for one thread.
    package func makeOpener() throws(DecryptionError) -> ChunkOpener {
        try ChunkOpener(layout: layout, key: key, backend: backend)
    }

    /// Makes a context of the object's backend, cipher and key, for one thread.
    ///
    /// - Throws: `DecryptionError.backend`, `.unsupported` if chunks have keys of their own.
    package func makeContext() throws(DecryptionError) -> any CipherContext {
        guard case .fixed(let key) = key else {
            throw .unsupported("a context of \(strategy.name), which has several keys")
        }
        return try backend.makeContext(layout.cipher, .decrypt, key: key)
    }
}

/// A reader of an object without any bytes.
private final class EmptyCursor: RandomAccessDecryptor {
    var plaintextByteCount: UInt64 { 0 }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset == 0 else { throw .rangeOutOfBounds(offset: offset, plaintextByteCount: 0) }
        return 0
    }

    func checkVersion() throws(DecryptionError) {}
}

/// Anything that delivers decrypted bytes from the middle of an encrypted object: our readers, or an external program
/// behind the subject protocol.
///
/// A decryptor belongs to one thread at a time. Reads come in any order, may repeat, and never depend on earlier ones.
public protocol RandomAccessDecryptor: AnyObject {
    /// The plaintext's length in bytes.
    var plaintextByteCount: UInt64 { get }

    /// Reads plaintext like `pread`: the bytes from `offset` on, as many as the buffer holds or as there are up to the
    /// end.
    ///
    /// A read is all or nothing. Nothing in the buffer past the returned count is touched; what the buffer's first
    /// bytes hold after a failure is unspecified. A failed read leaves the decryptor usable.
    ///
    /// - Parameters:
    ///   - offset: A plaintext offset.
    ///   - buffer: Where the plaintext goes.
    /// - Returns: The number of bytes delivered: `min(buffer.count, plaintextByteCount - offset)`.
    /// - Throws: `DecryptionError.rangeOutOfBounds` if `offset` lies past the plaintext's end, whatever the buffer's
    ///   length; `.io` and `.truncatedCiphertext` if the source fails; `.authenticationFailed`; `.backend` if the
    ///   crypto library fails.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int

    /// Checks that all bytes that were read since the object was opened are of one version of its source: for the end
    /// of an operation, before it says that it succeeded. See ``ByteSource/checkVersion()``.
    ///
    /// - Throws: `DecryptionError.sourceChanged` if the source's length is another one; `.io` if the bytes may be of
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
