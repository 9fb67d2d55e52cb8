package import RandomAccess
import Support

/// Encrypts the chunks of a file to a sink, on one or more threads.
///
/// It holds up to three windows of whole chunks for each thread, for any file.
package struct ChunkTransfer {
    private let encryptor: ObjectEncryptor
    private let source: any ByteSource
    private let geometry: Geometry
    private let chunkCount: UInt64
    private let chunksPerWindow: UInt64

    /// Prepares a transfer; `nil` for an object whose chunks depend on one another, and for a plaintext that is empty
    /// or whose length no object has. A file in `/proc` is empty by its length, and is read to its end in another way.
    ///
    /// - Parameters:
    ///   - encryptor: The encryptor, of which nothing was used.
    ///   - source: The plaintext.
    ///   - windowByteCount: The max number of plaintext bytes of one step, but at least a chunk.
    package init?(_ encryptor: ObjectEncryptor, of source: any ByteSource, windowByteCount: Int = 1 << 18) {
        (self.encryptor, self.source, geometry) = (encryptor, source, encryptor.geometry)
        chunkCount = geometry.chunkCount(ofPlaintext: source.byteCount)
        guard encryptor.hasSeparateChunks, source.byteCount > 0,
            source.byteCount % geometry.plaintextUnitByteCount == 0
        else { return nil }
        chunksPerWindow = max(1, UInt64(max(0, windowByteCount)) / geometry.chunkByteCount)
    }

    /// Runs the transfer. It does not commit the sink; the caller must not commit it if this fails.
    ///
    /// - Parameters:
    ///   - sink: The destination of the ciphertext.
    ///   - threadCount: The number of threads, at least 1.
    ///   - progress: Called on the caller's thread with the plaintext bytes done so far.
    /// - Throws: The first error of any thread; `DecryptionError.sourceChanged` if the plaintext was changed meanwhile.
    package func run(
        to sink: any ByteSink, threadCount: Int, progress: @escaping (UInt64) -> Void = { _ in }
    ) throws(DecryptionError) {
        let windowCount = (chunkCount - 1) / chunksPerWindow + 1
        let team = ThreadTeam(threadCount: Int(min(UInt64(max(1, threadCount)), windowCount)))
        var threads: [Thread] = []
        let plaintextByteCount = min(source.byteCount, chunksPerWindow * geometry.chunkByteCount)
        let storedByteCount =
            min(chunkCount, chunksPerWindow) * (geometry.maxStoredChunkByteCount - geometry.chunkByteCount)
            + plaintextByteCount
        for _ in 0..<team.threadCount {
            threads.append(try Thread(encryptor.makeSealer(), byteCount: Int(plaintextByteCount)))
        }
        let ring = try WindowRing(
            windows: 0..<windowCount, bufferCount: team.threadCount == 1 ? 1 : team.threadCount * 2,
            bufferByteCount: Int(storedByteCount) + threads[0].sealer.slackByteCount, isOrdered: !sink.isSeekable)
        if !encryptor.header.isEmpty { try Self.write(encryptor.header, to: sink, at: 0) }
        source.adviseSequential(0..<source.byteCount)
        // Each thread uses the value of its index and no other.
        nonisolated(unsafe) let ownThreads = threads
        team.run { index in
            while let (window, buffer) = ring.claim() {
                do throws(DecryptionError) {
                    let bytes = try self.seal(window, ownThreads[index], into: buffer)
                    ring.finish(window, in: buffer, bytes) { (window, bytes) throws(DecryptionError) in
                        // A pipe must not get the end of an object that is made of two versions.
                        if window + 1 == windowCount { try self.requireOneVersion() }
                        try sink.write(bytes, at: self.geometry.ciphertextStart(ofChunk: window * self.chunksPerWindow))
                    }
                } catch {
                    ring.fail(error)
                }
                if index == 0 {
                    let chunk = ring.turnNumber * self.chunksPerWindow
                    progress(self.start(chunk))
                }
            }
        }
        if let failure = ring.failure { throw failure }
        try requireOneVersion()
        let trailer = try encryptor.trailer(plaintextByteCount: source.byteCount)
        guard !trailer.isEmpty else { return }
        // The geometry has no trailer whose own fields tell its length.
        let end = geometry.ciphertextByteCount(ofPlaintext: source.byteCount) - geometry.trailerByteCount
        try Self.write(trailer, to: sink, at: end)
    }

    /// Checks that the plaintext read so far is of one version, and ends where it ended at first.
    private func requireOneVersion() throws(DecryptionError) {
        try source.checkVersion()
        let next = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer {
            eraseBytes(next)
            next.deallocate()
        }
        guard try source.read(at: source.byteCount, into: FetchBuffers(next)) == 0 else {
            throw .sourceChanged(byteCount: source.byteCount + 1, expected: source.byteCount)
        }
    }

    /// The sealer and the plaintext of one thread.
    private final class Thread {
        let sealer: ChunkSealer
        let plaintext: UnsafeMutableRawBufferPointer

        init(_ sealer: ChunkSealer, byteCount: Int) throws(DecryptionError) {
            self.sealer = sealer
            plaintext = try .tryAllocate(byteCount: byteCount)
        }

        deinit {
            eraseBytes(plaintext)
            plaintext.deallocate()
        }
    }

    private static func write(
        _ bytes: [UInt8], to sink: any ByteSink, at offset: UInt64
    ) throws(DecryptionError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(DecryptionError) in try sink.write(bytes, at: offset) }
        }
        try result.get()
    }

    /// Returns the plaintext offset of a chunk, or the plaintext's length behind the last one.
    private func start(_ chunk: UInt64) -> UInt64 {
        chunk < chunkCount ? geometry.plaintextStart(ofChunk: chunk) : source.byteCount
    }

    /// Encrypts the chunks of a window.
    ///
    /// - Returns: The stored chunks, in the buffer.
    private func seal(
        _ window: UInt64, _ thread: Thread, into buffer: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> UnsafeRawBufferPointer {
        let chunks = window * chunksPerWindow..<min(chunkCount, (window + 1) * chunksPerWindow)
        let first = start(chunks.lowerBound)
        let plaintext = UnsafeMutableRawBufferPointer(
            rebasing: thread.plaintext[..<Int(start(chunks.upperBound) - first)])
        do throws(DecryptionError) {
            try source.fetch(at: first, into: plaintext)
        } catch .truncatedCiphertext(let byteCount, _) {
            throw .sourceChanged(byteCount: byteCount, expected: source.byteCount)
        }
        var done = 0
        for chunk in chunks {
            let range = Int(start(chunk) - first)..<Int(start(chunk + 1) - first)
            done += try thread.sealer.seal(
                UnsafeRawBufferPointer(rebasing: plaintext[range]), index: chunk, offset: start(chunk),
                isLast: chunk + 1 == chunkCount, into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
        }
        return UnsafeRawBufferPointer(rebasing: buffer[..<done])
    }
}
