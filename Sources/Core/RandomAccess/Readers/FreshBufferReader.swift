/// Decrypts each window from one new buffer into another.
///
/// The access policy of article 004 ("decrypting huge files on iOS"), with correct arithmetic: there for comparison.
/// While a window is decrypted, its ciphertext, its plaintext and what the caller gets of it are all in memory; the
/// article allocates each of them anew, here the caller's buffer is the caller's.
public final class FreshBufferReader: RandomAccessDecryptor {
    private enum Context {
        case stretches(any CipherContext)
        case chunks(any ChunkContext)
    }

    private let object: EncryptedObject
    private let context: Context
    private let windowByteCount: Int

    /// Creates a reader for one thread.
    ///
    /// - Throws: `DecryptionError.backend`, `.invalidParameter`.
    public init(object: EncryptedObject, windowByteCount: Int) throws(DecryptionError) {
        guard windowByteCount > 0 else {
            throw .invalidParameter(name: "window", value: "\(windowByteCount)", expected: "at least 1 byte")
        }
        self.object = object
        self.context =
            object.strategy.chunkFormat == nil
            ? .stretches(try object.makeContext()) : .chunks(try object.makeChunkContext())
        self.windowByteCount = windowByteCount
    }

    /// The plaintext's length in bytes.
    public var plaintextByteCount: UInt64 { object.plaintextByteCount }

    /// Reads plaintext; see ``RandomAccessDecryptor/read(at:into:)``.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let range = try object.layout.clip(offset: offset, count: buffer.count)
        var delivered = 0
        for step in object.layout.plan(range, windowByteCount: windowByteCount) {
            let number = object.layout.chunkIndex(at: range.lowerBound + UInt64(delivered))
            try decrypt(
                step, chunk: number,
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[delivered..<delivered + step.count]))
            delivered += step.count
        }
        try object.source.checkUnchanged()
        return delivered
    }

    private func decrypt(
        _ step: ReadStep, chunk: UInt64, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let fetched = UnsafeMutableRawBufferPointer.allocate(byteCount: step.fetch.count, alignment: 16)
        defer { fetched.deallocate() }
        try object.source.fetch(at: step.fetch.lowerBound, into: fetched)
        let ciphertext = UnsafeRawBufferPointer(rebasing: fetched[(fetched.count - step.ciphertext.count)...])
        let iv: Block
        switch step.iv {
        case .value(let value): iv = value
        case .precedingBlock: iv = Block(loadingFrom: UnsafeRawBufferPointer(fetched))
        }
        let plaintext = UnsafeMutableRawPointer.allocate(byteCount: ciphertext.count, alignment: 16)
        defer { plaintext.deallocate() }
        switch context {
        case .stretches(let context): try context.process(ciphertext, into: plaintext, iv: iv)
        case .chunks(let context): try context.open(ciphertext, chunk: chunk, into: plaintext, start: iv)
        }
        output.copyMemory(from: UnsafeRawBufferPointer(start: plaintext + step.skip, count: step.count))
    }
}
