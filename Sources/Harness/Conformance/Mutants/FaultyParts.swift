import RandomAccess
import Synchronization

/// A reader over a right one, that does something of its own with each read.
final class FaultyReader: RandomAccessDecryptor {
    typealias Read = (
        _ base: any RandomAccessDecryptor, _ offset: UInt64, _ buffer: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Int

    let plaintextByteCount: UInt64
    private let base: any RandomAccessDecryptor
    private let body: Read

    /// Wraps a reader; `plaintextByteCount` is what it says of its length, if that is not the truth.
    init(_ base: any RandomAccessDecryptor, plaintextByteCount: UInt64? = nil, _ body: @escaping Read) {
        self.base = base
        self.plaintextByteCount = plaintextByteCount ?? base.plaintextByteCount
        self.body = body
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        try body(base, offset, buffer)
    }

    func checkVersion() throws(DecryptionError) { try base.checkVersion() }
}

/// A source over another, that does something of its own with each read.
struct ScriptedSource: WrappingSource {
    typealias Read = @Sendable (any ByteSource, UInt64, FetchBuffers) throws(DecryptionError) -> Int

    let base: any ByteSource
    /// Whether it hands on that the base has changed.
    var noticesChanges = true
    let body: Read

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try body(base, offset, buffers)
    }

    func checkVersion() throws(DecryptionError) {
        if noticesChanges { try base.checkVersion() }
    }
}

/// A backend over a right one, that changes the IV of each stretch, or what comes of it.
struct FaultyBackend: CipherBackend {
    typealias Change =
        @Sendable (_ mode: CipherMode, _ base: any CipherContext, _ stretch: Stretch) throws(DecryptionError) -> Void

    /// What a context is asked to decrypt.
    struct Stretch {
        let input: UnsafeRawBufferPointer
        let output: UnsafeMutableRawPointer
        let iv: Block
        let keyByteCount: Int

        /// Whether the plaintext takes the ciphertext's place.
        var isInPlace: Bool { input.baseAddress == UnsafeRawPointer(output) }

        var blockCount: Int { (input.count + 15) / 16 }

        /// Decrypts it.
        func process(with base: any CipherContext, iv: Block? = nil) throws(DecryptionError) {
            try base.process(input, into: output, iv: iv ?? self.iv)
        }

        /// Decrypts a part in place of itself; blocks are counted from the stretch's start.
        func part(_ blocks: Range<Int>, iv: Block) -> Stretch {
            let bytes = 16 * blocks.lowerBound..<min(input.count, 16 * blocks.upperBound)
            return Stretch(
                input: UnsafeRawBufferPointer(rebasing: input[bytes]), output: output + bytes.lowerBound, iv: iv,
                keyByteCount: keyByteCount)
        }

        /// Ciphertext block `index`, which must not have been overwritten.
        func ciphertext(_ index: Int) -> Block { Block(loadingFrom: input, at: 16 * index) }
    }

    let base: any CipherBackend
    let change: Change
    let name = "planted"
    let version = "0"
    let cpuFeatures: [String] = []

    var modes: [CipherMode] { base.modes.filter { $0 != .gcm } }
    var keyByteCounts: [Int] { base.keyByteCounts }

    private final class Context: CipherContext {
        let base: any CipherContext
        let mode: CipherMode
        let keyByteCount: Int
        let change: Change

        init(base: any CipherContext, mode: CipherMode, keyByteCount: Int, change: @escaping Change) {
            (self.base, self.mode, self.keyByteCount, self.change) = (base, mode, keyByteCount, change)
        }

        func process(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
        ) throws(DecryptionError) {
            try change(mode, base, Stretch(input: input, output: output, iv: iv, keyByteCount: keyByteCount))
        }
    }

    func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        Context(
            base: try base.makeContext(mode: mode, direction: direction, key: key), mode: mode,
            keyByteCount: key.byteCount, change: change)
    }
}

/// A backend over a right one, that does something of its own with each chunk that it opens.
struct FaultyChunkBackend: CipherBackend {
    /// - Parameters:
    ///   - base: Opens chunks as it should.
    ///   - chunk: Ciphertext, tag and nonce, and the space for the plaintext.
    ///   - isLast: Whether this is the first context that was made of the backend: the one that an object is opened with,
    ///     which sees nothing but the last chunk.
    typealias Change =
        @Sendable (_ base: any ChunkContext, _ chunk: Chunk, _ isLast: Bool) throws(DecryptionError) -> Bool

    /// What a context is asked to open.
    struct Chunk {
        let input: UnsafeRawBufferPointer
        let output: UnsafeMutableRawPointer
        let start: Block

        /// Opens it, perhaps with another nonce.
        func process(with base: any ChunkContext, start: Block? = nil) throws(DecryptionError) -> Bool {
            try base.process(input, into: output, start: start ?? self.start)
        }
    }

    let base: any CipherBackend
    let change: Change
    let name = "planted"
    let version = "0"
    let cpuFeatures: [String] = []
    private let contextCount = Memory(0)

    init(base: any CipherBackend, change: @escaping Change) {
        (self.base, self.change) = (base, change)
    }

    var modes: [CipherMode] { base.modes }
    var keyByteCounts: [Int] { base.keyByteCounts }

    func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        try base.makeContext(mode: mode, direction: direction, key: key)
    }

    func makeChunkContext(
        direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any ChunkContext {
        let isLast = contextCount.change { count in
            count += 1
            return count == 1
        }
        return Context(
            base: try base.makeChunkContext(direction: direction, key: key), isLast: isLast, change: change)
    }

    private final class Context: ChunkContext {
        let base: any ChunkContext
        let isLast: Bool
        let change: Change

        init(base: any ChunkContext, isLast: Bool, change: @escaping Change) {
            (self.base, self.isLast, self.change) = (base, isLast, change)
        }

        func process(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
        ) throws(DecryptionError) -> Bool {
            try change(base, FaultyChunkBackend.Chunk(input: input, output: output, start: start), isLast)
        }
    }
}

/// What a mutant remembers though it should not.
final class Memory<Value: Sendable>: Sendable {
    private let storage: Mutex<Value>

    init(_ value: Value) {
        storage = Mutex(value)
    }

    var value: Value {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }

    /// Changes the value in one step.
    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        storage.withLock { value in body(&value) }
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes; unlike the library's method, with the type of what it throws.
    mutating func withMutableBytes<Value>(
        _ body: (UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Value
    ) throws(DecryptionError) -> Value {
        let result = withUnsafeMutableBytes { bytes in
            Result { () throws(DecryptionError) in try body(bytes) }
        }
        return try result.get()
    }
}
