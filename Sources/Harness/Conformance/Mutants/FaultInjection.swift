import RandomAccess
import Synchronization

/// A wrapper around a right reader that changes each read.
final class FaultyReader: RandomAccessDecryptor {
    typealias Read = (
        _ base: any RandomAccessDecryptor, _ offset: UInt64, _ buffer: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Int

    let plaintextByteCount: UInt64
    private let base: any RandomAccessDecryptor
    private let body: Read

    /// `plaintextByteCount` is the length that the reader reports, if it is not the true one.
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

/// A wrapper around a source that changes each read.
struct ScriptedSource: WrappingSource {
    typealias Read = @Sendable (any ByteSource, UInt64, FetchBuffers) throws(DecryptionError) -> Int

    let base: any ByteSource
    /// True if the source passes on that its base has changed.
    var noticesChanges = true
    let body: Read

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try body(base, offset, buffers)
    }

    func checkVersion() throws(DecryptionError) {
        if noticesChanges { try base.checkVersion() }
    }
}

/// A wrapper around a right backend that changes the IV or the result of each stretch.
struct FaultyBackend: WrappingBackend {
    typealias Change =
        @Sendable (_ cipher: Cipher, _ base: any CipherContext, _ stretch: CipherCall) throws(DecryptionError) -> Void

    /// A call to a context to decrypt some blocks.
    struct CipherCall {
        let input: UnsafeRawBufferPointer
        let output: UnsafeMutableRawPointer
        let iv: Block
        let keyByteCount: Int

        /// True if the plaintext overwrites the ciphertext.
        var isInPlace: Bool { input.baseAddress == UnsafeRawPointer(output) }

        var blockCount: Int { (input.count + 15) / 16 }

        /// Decrypts the stretch with `base`, with another IV if one is given.
        func process(with base: any CipherContext, iv: Block? = nil) throws(DecryptionError) {
            try base.process(input, into: output, iv: iv ?? self.iv)
        }

        /// Returns some blocks of the stretch, which are decrypted on their own; `blocks` counts from the start of the
        /// stretch.
        func part(_ blocks: Range<Int>, iv: Block) -> CipherCall {
            let bytes = 16 * blocks.lowerBound..<min(input.count, 16 * blocks.upperBound)
            return CipherCall(
                input: UnsafeRawBufferPointer(rebasing: input[bytes]), output: output + bytes.lowerBound, iv: iv,
                keyByteCount: keyByteCount)
        }

        /// Returns ciphertext block `index`, which must not have been overwritten.
        func ciphertext(_ index: Int) -> Block { Block(loadingFrom: input, at: 16 * index) }
    }

    let base: any CipherBackend
    let change: Change

    var ciphers: [CipherSupport] { base.ciphers.filter(\.cipher.isStreaming) }

    func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        let base = try base.makeContext(cipher, direction, key: key)
        return FaultyContext { [change, keyByteCount = key.byteCount] (call) throws(DecryptionError) in
            let stretch = CipherCall(
                input: call.input, output: call.output, iv: Block(loadingFrom: call.nonce), keyByteCount: keyByteCount)
            try change(cipher, base, stretch)
            return true
        }
    }
}

/// A wrapper around a right backend that changes the opening of each chunk.
struct FaultyChunkBackend: WrappingBackend {
    /// - Parameters:
    ///   - base: A context that opens chunks correctly.
    ///   - chunk: The ciphertext, tag and nonce, and the buffer for the plaintext.
    ///   - isLast: True for the first context that the backend made. An object is opened with it, and it gets only the
    ///     last chunk.
    typealias Change =
        @Sendable (_ base: any CipherContext, _ chunk: FaultyContext.Call, _ isLast: Bool) throws(DecryptionError) ->
        Bool

    let base: any CipherBackend
    let change: Change
    private let contextCount = MutantState(0)

    func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        let base = try base.makeContext(cipher, direction, key: key)
        guard !cipher.isStreaming else { return base }
        let isLast = contextCount.change { count in
            count += 1
            return count == 1
        }
        return FaultyContext { [change] (call) throws(DecryptionError) in try change(base, call, isLast) }
    }
}

/// A context that handles each call with a closure.
final class FaultyContext: CipherContext {
    /// The arguments of a call.
    struct Call {
        let input: UnsafeRawBufferPointer
        let output: UnsafeMutableRawPointer
        let nonce: UnsafeRawBufferPointer
        let associatedData: UnsafeRawBufferPointer

        /// Processes the call with `base`, with another nonce if one is given.
        func process(with base: any CipherContext, nonce: [UInt8]? = nil) throws(DecryptionError) -> Bool {
            var nonce = nonce ?? Array(self.nonce)
            return try nonce.withMutableBytes { (nonce) throws(DecryptionError) in
                try base.process(
                    input, into: output, nonce: UnsafeRawBufferPointer(nonce), associatedData: associatedData)
            }
        }
    }

    private let body: (Call) throws(DecryptionError) -> Bool

    init(_ body: @escaping (Call) throws(DecryptionError) -> Bool) {
        self.body = body
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try body(Call(input: input, output: output, nonce: nonce, associatedData: associatedData))
    }
}

extension ByteSource {
    /// Fetches a byte for nothing.
    func touch(at offset: UInt64) throws(DecryptionError) {
        var byte: UInt8 = 0
        try withUnsafeMutableBytes(of: &byte) { (bytes) throws(DecryptionError) in
            _ = try read(at: offset, into: FetchBuffers(bytes))
        }
    }
}

extension RandomAccessDecryptor {
    /// Decrypts a byte for nothing.
    func touch(at offset: UInt64) throws(DecryptionError) {
        var byte: UInt8 = 0
        try withUnsafeMutableBytes(of: &byte) { (bytes) throws(DecryptionError) in
            _ = try read(at: offset, into: bytes)
        }
    }
}

/// State that a mutant keeps although it should not.
final class MutantState<Value: Sendable>: Sendable {
    private let storage: Mutex<Value>

    init(_ value: Value) {
        storage = Mutex(value)
    }

    var value: Value {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }

    /// Changes the value atomically.
    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        storage.withLock { value in body(&value) }
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes. Unlike the library's method, it rethrows errors with their type.
    mutating func withMutableBytes<Value>(
        _ body: (UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Value
    ) throws(DecryptionError) -> Value {
        let result = withUnsafeMutableBytes { bytes in
            Result { () throws(DecryptionError) in try body(bytes) }
        }
        return try result.get()
    }
}
