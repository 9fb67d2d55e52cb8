internal import ByteSources
internal import RandomAccess
import Synchronization

/// The ciphertext of a generated object of authenticated chunks: a stream's bytes, a header, and tags that are computed.
///
/// A tag is a hash of its whole chunk, so that a byte of it costs a chunk of the stream and no encryption but of two
/// blocks. The latest tags are kept.
final class SealedSource: ByteSource {
    let byteCount: UInt64
    private let stream: SplitMix64Stream
    private let places: OracleChunkPlaces
    private let chunks: OracleChunks
    private let hash: OracleGHASH
    private let tags = Mutex<[UInt64: [UInt8]]>([:])
    private static let maxTags = 4096

    init(
        _ format: ChunkFormat, key: SecretKey, stream: SplitMix64Stream, plaintextByteCount: UInt64
    ) throws(DecryptionError) {
        self.stream = stream
        self.places = OracleChunkPlaces(format, plaintextByteCount: plaintextByteCount)
        self.byteCount = places.ciphertextByteCount
        var header = [UInt8](repeating: 0, count: format.headerByteCount)
        header.withUnsafeMutableBytes { stream.fill($0, from: 0) }
        self.chunks = try OracleChunks(format, key: key, header: header)
        self.hash = chunks.makeHash()
    }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let rest = buffers.prefix(Int(min(UInt64(buffers.byteCount), byteCount - offset)))
        rest.forEach { place, buffer in fill(buffer, from: offset + UInt64(place)) }
        return rest.byteCount
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) {
        stream.fill(buffer, from: offset)
        let end = offset + UInt64(buffer.count)
        patch(buffer, from: offset, with: chunks.header, at: 0)
        var chunk = places.chunk(atCiphertext: offset)
        while chunk < places.chunkCount, tagStart(chunk) < end {
            patch(buffer, from: offset, with: tag(chunk), at: tagStart(chunk))
            chunk += 1
        }
    }

    private func tagStart(_ chunk: UInt64) -> UInt64 {
        places.ciphertextStart(ofChunk: chunk) + places.byteCount(ofChunk: chunk)
    }

    private func tag(_ chunk: UInt64) -> [UInt8] {
        if let known = tags.withLock({ $0[chunk] }) { return known }
        let room = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(places.byteCount(ofChunk: chunk)), alignment: 16)
        defer { room.deallocate() }
        stream.fill(room, from: places.ciphertextStart(ofChunk: chunk))
        let tag = chunks.tag(
            UnsafeRawBufferPointer(room), hash: hash, chunk: chunk, isLast: chunk == places.chunkCount - 1)
        tags.withLock { tags in
            if tags.count >= Self.maxTags { tags.removeAll() }
            tags[chunk] = tag
        }
        return tag
    }

    /// Puts bytes that stand at `place` in the ciphertext into the part of it that a buffer holds.
    private func patch(
        _ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64, with bytes: [UInt8], at place: UInt64
    ) {
        let end = min(place + UInt64(bytes.count), offset + UInt64(buffer.count))
        var position = max(place, offset)
        while position < end {
            buffer[Int(position - offset)] = bytes[Int(position - place)]
            position += 1
        }
    }
}
