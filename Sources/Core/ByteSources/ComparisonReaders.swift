package import RandomAccess

/// Decrypts a whole chunk to serve any byte of it, and keeps the last chunk.
///
/// It has the access policy of the article "Play encrypted files with on-the-fly decryption on iOS", with correct
/// arithmetic. It exists for comparison: a read of two bytes may cost a chunk.
package final class ChunkCacheReader: RandomAccessDecryptor, CachingReader {
    private let object: EncryptedObject
    private let cursor: any RandomAccessDecryptor
    private let chunkByteCount: UInt64
    private let cache: UnsafeMutableRawBufferPointer
    private var cachedChunk: (index: UInt64, byteCount: Int)?
    /// The number of bytes of the cache that have held plaintext.
    private var usedByteCount = 0

    /// - Parameters:
    ///   - object: The object to read.
    ///   - chunkByteCount: The chunk to decrypt at once if the format has a single chunk; otherwise the format decides.
    /// - Throws: `DecryptionError.backend`, `.invalidParameter`.
    package init(object: EncryptedObject, chunkByteCount: Int) throws(DecryptionError) {
        guard chunkByteCount > 0 else {
            throw .invalidParameter(name: "chunk length", value: "\(chunkByteCount)", expected: "at least 1 byte")
        }
        self.object = object
        self.cursor = try object.makeCursor()
        let formatChunk = object.strategy.chunkByteCount
        self.chunkByteCount = max(1, min(formatChunk ?? UInt64(chunkByteCount), object.plaintextByteCount))
        guard let capacity = Int(exactly: self.chunkByteCount), capacity <= 1 << 32 else {
            throw .invalidParameter(
                name: "chunk length", value: "\(self.chunkByteCount)", expected: "at most 4 GiB to be held whole")
        }
        self.cache = try .tryAllocate(byteCount: capacity)
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(rebasing: cache[..<usedByteCount]))
        cache.deallocate()
    }

    /// The plaintext's length in bytes.
    package var plaintextByteCount: UInt64 { cursor.plaintextByteCount }

    /// Reads plaintext; see `RandomAccessDecryptor.read(at:into:)`.
    package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let range = try object.layout.clip(offset: offset, count: buffer.count)
        var position = range.lowerBound
        while position < range.upperBound {
            let index = position / chunkByteCount
            let count = try load(index)
            let start = Int(position - index * chunkByteCount)
            let taken = min(count - start, Int(range.upperBound - position))
            UnsafeMutableRawBufferPointer(rebasing: buffer[Int(position - range.lowerBound)...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: cache[start..<start + taken]))
            position += UInt64(taken)
        }
        return range.count
    }

    /// Asks the source; see `RandomAccessDecryptor.checkVersion()`.
    package func checkVersion() throws(DecryptionError) { try object.checkVersion() }

    /// Forgets the cached chunk, so that the next read starts like the first.
    package func invalidate() {
        cachedChunk = nil
    }

    private func load(_ index: UInt64) throws(DecryptionError) -> Int {
        if let cachedChunk, cachedChunk.index == index { return cachedChunk.byteCount }
        // A failed read leaves the buffer unspecified, so the old chunk is forgotten first.
        cachedChunk = nil
        let expectedByteCount = min(chunkByteCount, plaintextByteCount - index * chunkByteCount)
        usedByteCount = max(usedByteCount, Int(expectedByteCount))
        let count = try cursor.read(at: index * chunkByteCount, into: cache)
        cachedChunk = (index, count)
        return count
    }
}

/// Decrypts each window from one new buffer into another.
///
/// It has the access policy of the article "Decrypting huge files on iOS", with correct arithmetic. It exists for
/// comparison. While a window is decrypted, its ciphertext, its plaintext and the caller's buffer are all in memory.
/// The article allocates all three anew; here the caller provides the last one.
package final class FreshBufferReader: RandomAccessDecryptor {
    private let object: EncryptedObject
    /// Decrypts stretches; `nil` if chunks are opened as a whole.
    private let context: (any CipherContext)?
    /// Opens chunks as a whole; `nil` if the object has no such chunks.
    private let opener: ChunkOpener?
    private let windowByteCount: Int

    /// - Throws: `DecryptionError.backend`, `.invalidParameter`.
    package init(object: EncryptedObject, windowByteCount: Int) throws(DecryptionError) {
        guard windowByteCount > 0 else {
            throw .invalidParameter(name: "window", value: "\(windowByteCount)", expected: "at least 1 byte")
        }
        self.object = object
        let isStreaming = object.strategy.isStreaming
        self.context = isStreaming ? try object.makeContext() : nil
        self.opener = isStreaming || object.plaintextByteCount == 0 ? nil : try object.makeOpener()
        self.windowByteCount = windowByteCount
    }

    /// The plaintext's length in bytes.
    package var plaintextByteCount: UInt64 { object.plaintextByteCount }

    /// Reads plaintext; see `RandomAccessDecryptor.read(at:into:)`.
    package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let range = try object.layout.clip(offset: offset, count: buffer.count)
        var delivered = 0
        for step in object.layout.plan(range, windowByteCount: windowByteCount) {
            let output = UnsafeMutableRawBufferPointer(rebasing: buffer[delivered..<delivered + step.count])
            try decrypt(step, of: object.layout.extent(at: range.lowerBound + UInt64(delivered)), into: output)
            delivered += step.count
        }
        return delivered
    }

    /// Asks the source; see `RandomAccessDecryptor.checkVersion()`.
    package func checkVersion() throws(DecryptionError) { try object.checkVersion() }

    private func decrypt(
        _ step: ReadStep, of chunk: Extent, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let allocated = try UnsafeMutableRawBufferPointer.tryAllocate(
            byteCount: step.fetch.count + ChunkOpener.spareByteCount, alignment: 16)
        defer { allocated.deallocate() }
        let fetched = UnsafeMutableRawBufferPointer(rebasing: allocated[..<step.fetch.count])
        try object.source.fetch(at: step.fetch.lowerBound, into: fetched)
        let ciphertext = UnsafeRawBufferPointer(rebasing: fetched[(fetched.count - step.ciphertext.count)...])
        let iv: Block
        switch step.iv {
        case .value(let value): iv = value
        case .precedingBlock: iv = Block(loadingFrom: UnsafeRawBufferPointer(fetched))
        case .ofChunk: iv = Block(bigEndianValue: 0)
        }
        let plaintext = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: ciphertext.count, alignment: 16)
        defer { plaintext.deallocate() }
        guard let start = plaintext.baseAddress else { return }
        if let opener {
            try opener.open(fetched, chunk, into: start)
        } else {
            try context?.process(ciphertext, into: start, iv: iv)
        }
        output.copyMemory(from: UnsafeRawBufferPointer(start: start + step.skip, count: step.count))
    }
}
