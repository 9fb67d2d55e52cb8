/// Reads an object whose chunks are opened as a whole. It fetches the chunks of a range, and delivers a chunk only
/// after it has verified the tag, if there is one.
///
/// Consecutive chunks are fetched in one go into the cursor's buffer. Each chunk that the caller needs whole is opened
/// from there into the caller's buffer. Of the others, the cursor keeps the last one, so that small reads in order open
/// each chunk once. That is safe: the kept plaintext was authenticated under its number and key, which cannot change;
/// it belongs to this cursor alone, and is erased with it. Reads from it fetch and decrypt nothing.
///
/// The cursor fetches even from a source that can be viewed in place. Another process that writes to a mapped file
/// could change a chunk after its tag was checked and before it is decrypted.
///
/// A cursor belongs to one thread, and allocates nothing per read.
final class ChunkCursor: CachingReader {
    private let source: any ByteSource
    private let layout: Layout
    private let opener: ChunkOpener
    /// Space for the ciphertext of at least one chunk, and for the spare bytes of the opener.
    private let fetched: UnsafeMutableRawBufferPointer
    /// Space for the plaintext of one chunk.
    private let kept: UnsafeMutableRawBufferPointer
    /// The plaintext range in `kept`.
    private var keptRange: Range<UInt64> = 0..<0
    /// The number of bytes of `kept` that have held plaintext.
    private var usedByteCount = 0

    init(object: EncryptedObject, opener: ChunkOpener) throws(DecryptionError) {
        self.source = object.source
        self.layout = object.layout
        self.opener = opener
        let counts = Self.bufferByteCounts(layout, requestByteCount: source.requestByteCount)
        guard let fetchByteCount = Int(exactly: counts.fetched), let keptByteCount = Int(exactly: counts.kept),
            fetchByteCount < Int.max - ChunkOpener.spareByteCount
        else {
            throw .invalidParameter(
                name: "chunk length", value: "\(counts.kept)", expected: "one that can be held whole")
        }
        // Unused memory never becomes resident.
        let buffers = try UnsafeMutableRawBufferPointer.tryAllocate(
            byteCounts: [fetchByteCount + ChunkOpener.spareByteCount, keptByteCount])
        (self.fetched, self.kept) = (buffers[0], buffers[1])
    }

    /// Returns the sizes of a cursor's buffers for ciphertext and for plaintext.
    static func bufferByteCounts(_ layout: Layout, requestByteCount: Int) -> (fetched: UInt64, kept: UInt64) {
        let chunk = min(layout.geometry.maxStoredChunkByteCount, layout.ciphertextByteCount)
        guard chunk > 0 else { return (0, 0) }
        return (min(max(chunk, UInt64(requestByteCount) / chunk * chunk), layout.ciphertextByteCount), chunk)
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(rebasing: kept[..<usedByteCount]))
        kept.deallocate()
        fetched.deallocate()
    }

    /// The plaintext's length in bytes.
    var plaintextByteCount: UInt64 { layout.plaintextByteCount }

    /// Reads plaintext; see ``RandomAccessDecryptor/read(at:into:)``.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let range = try layout.clip(offset: offset, count: buffer.count)
        var position = copyKept(range, from: range.lowerBound, into: buffer)
        while position < range.upperBound {
            position = try openChunks(range, from: position, into: buffer)
        }
        return range.count
    }

    /// Asks the source; see ``RandomAccessDecryptor/checkVersion()``.
    func checkVersion() throws(DecryptionError) { try source.checkVersion() }

    /// Forgets the kept chunk, so that the next read fetches and opens everything it needs.
    func invalidate() {
        keptRange = 0..<0
    }

    /// Fetches and opens as many chunks as the buffer can hold.
    ///
    /// - Returns: The offset in `range` at which to continue.
    private func openChunks(
        _ range: Range<UInt64>, from first: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> UInt64 {
        var extent = layout.extent(at: first)
        let start = extent.ciphertext.lowerBound
        let last = lastFitting(range, from: extent)
        let byteCount = Int(last.ciphertext.upperBound - start)
        let target = UnsafeMutableRawBufferPointer(rebasing: fetched[..<byteCount])
        // Unlike `fetch`, it copies no reference to the source; and it delivers everything in nearly every case.
        let count = try source.read(at: start, into: FetchBuffers(target))
        if count < byteCount { try fetchRest(of: target, at: start, from: count) }
        var position = first
        while true {
            let chunkStart = Int(extent.ciphertext.lowerBound - start)
            let chunk = UnsafeMutableRawBufferPointer(
                rebasing: fetched[chunkStart..<chunkStart + extent.ciphertext.count])
            let isWhole = position == extent.plaintext.lowerBound && extent.plaintext.upperBound <= range.upperBound
            if isWhole, let output = buffer.baseAddress {
                try opener.open(chunk, extent, into: output + Int(position - range.lowerBound))
                position = extent.plaintext.upperBound
            } else {
                try keep(chunk, extent)
                position = copyKept(range, from: position, into: buffer)
            }
            guard extent.index < last.index else { return position }
            extent = layout.extent(ofChunk: extent.index + 1)
        }
    }

    @inline(never)
    private func fetchRest(
        of target: UnsafeMutableRawBufferPointer, at start: UInt64, from count: Int
    ) throws(DecryptionError) {
        try source.fetch(at: start + UInt64(count), into: UnsafeMutableRawBufferPointer(rebasing: target[count...]))
    }

    /// Returns the last chunk of a range that the buffer can hold behind a first one, which it can.
    private func lastFitting(_ range: Range<UInt64>, from first: Extent) -> Extent {
        let last = layout.extent(at: range.upperBound - 1)
        let space = UInt64(fetched.count - ChunkOpener.spareByteCount)
        guard last.index > first.index, last.ciphertext.upperBound - first.ciphertext.lowerBound > space else {
            return last
        }
        // Only the object's last chunk can be longer than a full one.
        let count = space / layout.geometry.storedChunkByteCount
        return layout.extent(ofChunk: min(last.index, first.index + max(1, count)) - 1)
    }

    private func keep(_ chunk: UnsafeMutableRawBufferPointer, _ extent: Extent) throws(DecryptionError) {
        guard let output = kept.baseAddress else { return }
        // If the next call fails, no chunk is kept.
        keptRange = 0..<0
        usedByteCount = max(usedByteCount, extent.plaintext.count)
        try opener.open(chunk, extent, into: output)
        keptRange = extent.plaintext
    }

    /// Copies the kept part of `range` from `position` on.
    ///
    /// - Returns: The offset in `range` at which to continue.
    private func copyKept(
        _ range: Range<UInt64>, from position: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) -> UInt64 {
        let stop = min(range.upperBound, keptRange.upperBound)
        guard keptRange.contains(position), position < stop else { return position }
        let from = Int(position - keptRange.lowerBound)
        UnsafeMutableRawBufferPointer(rebasing: buffer[Int(position - range.lowerBound)...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: kept[from..<from + Int(stop - position)]))
        return stop
    }
}

/// A reader that keeps a chunk's plaintext between reads.
package protocol CachingReader: RandomAccessDecryptor {
    /// Forgets the chunk, so that the next read starts like the first.
    func invalidate()
}
