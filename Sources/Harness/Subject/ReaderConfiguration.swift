import ByteSources
import PluginBackend
package import RandomAccess
package import Support

/// The parts of a reader, apart from the object that it reads.
package struct ReaderConfiguration: Sendable {
    /// The way from a range to ciphertext.
    package var access: AccessPolicy
    /// The max number of plaintext bytes that are decrypted in one step.
    package var windowByteCount: Int
    /// The number of threads that read at once.
    package var threadCount: Int
    /// Extra decryption; `nil` for none.
    package var extraWork: ExtraWork?

    package init(access: AccessPolicy, windowByteCount: Int, threadCount: Int, extraWork: ExtraWork? = nil) {
        self.access = access
        self.windowByteCount = windowByteCount
        self.threadCount = threadCount
        self.extraWork = extraWork.flatMap { $0.millionths > 0 ? $0 : nil }
    }

    /// Returns a reader for one thread.
    ///
    /// - Throws: `DecryptionError.backend`, `.invalidParameter`.
    package func makeReader(of object: EncryptedObject) throws(DecryptionError) -> any RandomAccessDecryptor {
        let reader = try makePlainReader(of: object)
        guard let extraWork else { return reader }
        return try ExtraWorkReader(reader, of: object, work: extraWork, windowByteCount: windowByteCount)
    }

    private func makePlainReader(of object: EncryptedObject) throws(DecryptionError) -> any RandomAccessDecryptor {
        switch access {
        case .block: try object.makeCursor(windowByteCount: windowByteCount)
        case .chunkCache: try ChunkCacheReader(object: object, chunkByteCount: windowByteCount)
        case .wholeChunk: UncachedChunkReader(try ChunkCacheReader(object: object, chunkByteCount: windowByteCount))
        case .freshBuffers: try FreshBufferReader(object: object, windowByteCount: windowByteCount)
        }
    }

    /// Returns the max memory that the readers and the caller's buffers add to the process.
    ///
    /// - Parameters:
    ///   - bufferByteCount: The length of the caller's buffer, one per thread: the longest read.
    ///   - chunkByteCount: The format's chunk length, or `nil` if the file is one chunk.
    ///   - plaintextByteCount: The object's length: no buffer is longer.
    ///   - isAuthenticated: True if chunks are opened whole, so that a reader holds some.
    ///   - copiesInLibrary: The number of further copies of a window or chunk that the backend's library makes.
    ///   - requestByteCount: The number of bytes that a reader requests at once.
    ///   - viewByteCount: The memory of a thread's view of the source.
    /// - Returns: The bound in bytes.
    package func boundByteCount(
        bufferByteCount: UInt64, chunkByteCount: UInt64?, plaintextByteCount: UInt64,
        isAuthenticated: Bool = false, copiesInLibrary: UInt64, requestByteCount: Int,
        viewByteCount: UInt64 = 0
    ) -> UInt64 {
        let window = min(UInt64(windowByteCount), bufferByteCount)
        let perThread: UInt64
        switch access {
        case .block:
            perThread = bufferByteCount + copiesInLibrary * window
        case .chunkCache, .wholeChunk:
            let chunk = min(chunkByteCount ?? UInt64(windowByteCount), plaintextByteCount)
            perThread = bufferByteCount + (1 + copiesInLibrary) * chunk
        case .freshBuffers:
            perThread = bufferByteCount + (2 + copiesInLibrary) * (window + 32)
        }
        // The request, and a chunk that is kept, each with its tag.
        let chunk = min(chunkByteCount ?? 0, plaintextByteCount) + 64
        let request = min(UInt64(requestByteCount), bufferByteCount + 2 * chunk)
        let chunks = isAuthenticated ? 2 * chunk + request + copiesInLibrary * chunk : 0
        let extra = extraWork == nil ? 0 : UInt64(ExtraWorkReader.bufferByteCount(windowByteCount))
        return UInt64(threadCount) * (perThread + chunks + viewByteCount + extra + Self.threadOverhead)
            + Self.constantOverhead
    }

    /// A thread's stack and allocator caches, as far as they are touched.
    private static let threadOverhead: UInt64 = 256 << 10

    /// Code that is paged in, and small allocations, as measured with 4 KiB windows.
    private static let constantOverhead: UInt64 = 2 << 20
}

/// An object that a subject has opened: one ciphertext, or several pieces.
enum ReadObject: Sendable {
    /// One ciphertext.
    case encrypted(EncryptedObject)
    /// The pieces of a list, one after the other.
    case composite(CompositeObject)
    /// A film.
    case film(OpenPiece)
    /// One ciphertext that a plug-in reads entirely by itself.
    case plugin(PluginObject)

    /// The plaintext's length in bytes.
    var plaintextByteCount: UInt64 {
        switch self {
        case .encrypted(let object): object.plaintextByteCount
        case .composite(let object): object.plaintextByteCount
        case .film(let film): film.byteCount
        case .plugin(let object): object.plaintextByteCount
        }
    }

    /// The plaintext length of the chunk that readers of whole chunks hold, or `nil` if there is none.
    var chunkByteCount: UInt64? {
        switch self {
        case .encrypted(let object): object.strategy.chunkByteCount
        case .composite, .film, .plugin: nil
        }
    }

    /// True if chunks are opened whole.
    var isAuthenticated: Bool {
        switch self {
        case .encrypted(let object): !object.strategy.isStreaming
        case .composite, .film, .plugin: false
        }
    }

    /// The number of bytes kept for the pieces while the object is open; 0 for one ciphertext.
    var tableByteCount: UInt64 {
        switch self {
        case .encrypted, .film, .plugin: 0
        case .composite(let object): UInt64(object.list.count) * Self.pieceByteCount
        }
    }

    /// A segment in the playlist, its location, and its share of the message that brought it.
    private static let pieceByteCount: UInt64 = 1 << 10
}

extension ReaderConfiguration {
    /// Returns whether readers of a format can have the configured extra work, which needs a streaming cipher.
    func reads(formatNamed name: String) -> Bool {
        extraWork == nil || (try? Format.named(name)).map { Strategy(sampling: $0).isStreaming } == true
    }

    /// Returns a reader for one thread.
    ///
    /// - Throws: `DecryptionError.backend`, `.invalidParameter`; `.unsupported` for pieces with an access policy other
    ///   than blocks, or with extra work.
    func makeReader(of object: ReadObject) throws(DecryptionError) -> any RandomAccessDecryptor {
        switch object {
        case .encrypted(let object): return try makeReader(of: object)
        case .composite(let object):
            guard access == .block else {
                throw .unsupported("access \(access.rawValue) of pieces: expected \(AccessPolicy.block.rawValue)")
            }
            guard extraWork == nil else { throw .unsupported("extra work on pieces") }
            return try object.makeCursor(windowByteCount: windowByteCount)
        case .film(let film): return try film.makeCursor(windowByteCount: windowByteCount)
        case .plugin(let object):
            guard extraWork == nil else { throw .unsupported("extra work in a plug-in's own reader") }
            return try object.makeCursor()
        }
    }
}

/// Decrypts whole chunks for every read and keeps none: shows the cost of ``AccessPolicy/chunkCache`` without its
/// cache.
final class UncachedChunkReader: RandomAccessDecryptor {
    private let reader: ChunkCacheReader

    init(_ reader: ChunkCacheReader) {
        self.reader = reader
    }

    var plaintextByteCount: UInt64 { reader.plaintextByteCount }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        reader.invalidate()
        return try reader.read(at: offset, into: buffer)
    }

    func checkVersion() throws(DecryptionError) { try reader.checkVersion() }
}
