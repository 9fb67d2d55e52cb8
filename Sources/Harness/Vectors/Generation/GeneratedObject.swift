import ByteSources
package import RandomAccess
import Synchronization

/// An object that is defined by its ciphertext, so that any range of it, and that range's plaintext, costs the range and
/// not the object.
///
/// How to make one in any language. Let S be the byte stream of ``SplitMix64Stream`` for the seed, S[i] its byte i.
///
/// 1. The ciphertext's length follows from the plaintext's, as PROTOCOL.md has it: with `pkcs7` each chunk of n
///    plaintext bytes takes (⌊n/16⌋ + 1) · 16 bytes, with `none` and `ctr` n.
/// 2. Ciphertext byte i is S[i], except, with `pkcs7`, in the last block of each chunk:
/// 3. let that block start at ciphertext byte b, and its chunk hold n plaintext bytes. Its plaintext is S[b], …,
///    S[b + n mod 16 − 1], then 16 − n mod 16 bytes of that value; its ciphertext is that plaintext encrypted in CBC:
///    AES(P ⊕ C), where C is the ciphertext block before it, or the chunk's IV if it is the chunk's only block.
///
/// C is never itself a last block, so step 3 looks back one block and no further.
///
/// Of authenticated chunks the length is that of the format's header, the plaintext, and a tag for each chunk; a byte
/// is S[i], too, except of Cobblestone's commitment, of the first byte of Tink's header, and of each tag: these are as the
/// key and the rest of the ciphertext ask for. A tag costs its chunk to compute, and no more.
package struct GeneratedObject: Sendable {
    /// The strategy.
    package let strategy: Strategy
    /// The key.
    package let key: SecretKey
    /// The plaintext's length in bytes.
    package let plaintextByteCount: UInt64
    /// What the stream is computed from.
    package let seed: UInt64
    /// The ciphertext.
    package let source: any ByteSource
    /// What the object decrypts to.
    package let oracle: Oracle

    /// Creates an object.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for an impossible chunk length, or a plaintext of more than 2⁶²
    ///   bytes; `.unalignedPlaintext` for a length that a strategy without padding cannot hold.
    package init(
        strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64, seed: UInt64
    ) throws(DecryptionError) {
        try strategy.validate()
        guard plaintextByteCount <= 1 << 62 else {
            throw .invalidParameter(
                name: "plaintext length", value: "\(plaintextByteCount)", expected: "at most \(UInt64(1) << 62) bytes")
        }
        self.strategy = strategy
        self.key = key
        self.plaintextByteCount = plaintextByteCount
        self.seed = seed
        self.oracle = Oracle(strategy: strategy, key: key)
        let stream = SplitMix64Stream(seed: seed)
        if case .chunked(let format) = strategy {
            try format.check(key)
            self.source = try SealedSource(format, key: key, stream: stream, plaintextByteCount: plaintextByteCount)
            return
        }
        guard strategy.padding == .pkcs7 else {
            let isAligned = strategy.padding == nil || plaintextByteCount % 16 == 0
            guard isAligned else { throw .unalignedPlaintext(byteCount: plaintextByteCount) }
            self.source = GeneratedSource(stream: stream, byteCount: plaintextByteCount)
            return
        }
        let ends = PaddedEnds(
            oracle: oracle, stream: stream, chunkByteCount: strategy.chunkByteCount ?? 1 << 62,
            plaintextByteCount: plaintextByteCount)
        self.source = GeneratedSource(
            stream: stream, byteCount: ends.ciphertextByteCount,
            replacementStride: strategy.chunkByteCount.map { $0 + 16 } ?? .max
        ) { block in
            ends.block(block)
        }
    }

    /// The plaintext, of which any range is computed when it is wanted.
    package var plaintext: GroupPlaintext {
        GroupPlaintext(oracle: oracle, ciphertext: source, byteCount: plaintextByteCount)
    }
}

/// The last blocks of a generated object's chunks.
private struct PaddedEnds: Sendable {
    let oracle: Oracle
    let stream: SplitMix64Stream
    let chunkByteCount: UInt64
    let plaintextByteCount: UInt64

    /// The number of chunks that hold `chunkByteCount` bytes and are not the last one.
    private var earlierChunkCount: UInt64 {
        plaintextByteCount == 0 ? 0 : (plaintextByteCount - 1) / chunkByteCount
    }

    var ciphertextByteCount: UInt64 {
        let last = plaintextByteCount - earlierChunkCount * chunkByteCount
        return earlierChunkCount * (chunkByteCount + 16) + (last / 16 + 1) * 16
    }

    /// The ciphertext of block `index`, which must be the last one of its chunk.
    func block(_ index: UInt64) -> Block {
        let start = 16 * index
        let chunk = start / (chunkByteCount + 16)
        let byteCount = min(chunkByteCount, plaintextByteCount - chunk * chunkByteCount)
        let dataByteCount = byteCount % 16
        var plaintext = (0..<dataByteCount).map { stream.byte(start + $0) }
        plaintext += [UInt8](repeating: UInt8(16 - dataByteCount), count: 16 - Int(dataByteCount))
        let isAlone = start == chunk * (chunkByteCount + 16)
        let previous =
            isAlone ? oracle.iv(ofChunk: chunk) : OracleBlock((0..<16).map { stream.byte(start - 16 + $0) })
        return Block(of: oracle.aes.encrypt(OracleBlock(plaintext) ^ previous))
    }
}

/// The ciphertext of a generated object of authenticated chunks: a stream's bytes, a header, and tags that are computed.
///
/// A tag is a hash of its whole chunk, so that a byte of it costs a chunk of the stream and no encryption but of two
/// blocks. The latest tags are kept.
final class SealedSource: ByteSource {
    let byteCount: UInt64
    private let stream: SplitMix64Stream
    private let chunks: OracleChunks
    private var layout: OracleChunkLayout { chunks.layout }
    private let hash: OracleGHASH
    private let tags = Mutex<[UInt64: [UInt8]]>([:])
    private static let maxTags = 4096

    init(
        _ format: ChunkFormat, key: SecretKey, stream: SplitMix64Stream, plaintextByteCount: UInt64
    ) throws(DecryptionError) {
        self.stream = stream
        let layout = OracleChunkLayout(format, plaintextByteCount: plaintextByteCount)
        self.byteCount = layout.ciphertextByteCount
        var header = [UInt8](repeating: 0, count: format.headerByteCount)
        header.withUnsafeMutableBytes { stream.fill($0, from: 0) }
        self.chunks = try OracleChunks(format, key: key, header: header, layout: layout)
        self.hash = chunks.makeHash()
    }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let rest = buffers.prefix(Int(min(UInt64(buffers.byteCount), byteCount - offset)))
        rest.forEach { start, buffer in fill(buffer, from: offset + UInt64(start)) }
        return rest.byteCount
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) {
        stream.fill(buffer, from: offset)
        let end = offset + UInt64(buffer.count)
        patch(buffer, from: offset, with: chunks.header, at: 0)
        var chunk = layout.chunk(atCiphertext: offset)
        while chunk < layout.chunkCount, tagStart(chunk) < end {
            patch(buffer, from: offset, with: tag(chunk), at: tagStart(chunk))
            chunk += 1
        }
    }

    private func tagStart(_ chunk: UInt64) -> UInt64 {
        layout.ciphertextStart(ofChunk: chunk) + layout.byteCount(ofChunk: chunk)
    }

    private func tag(_ chunk: UInt64) -> [UInt8] {
        if let known = tags.withLock({ $0[chunk] }) { return known }
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(layout.byteCount(ofChunk: chunk)), alignment: 16)
        defer { buffer.deallocate() }
        stream.fill(buffer, from: layout.ciphertextStart(ofChunk: chunk))
        let tag = chunks.tag(
            UnsafeRawBufferPointer(buffer), hash: hash, chunk: chunk, isLast: chunk == layout.chunkCount - 1)
        tags.withLock { tags in
            if tags.count >= Self.maxTags { tags.removeAll() }
            tags[chunk] = tag
        }
        return tag
    }

    /// Puts bytes that stand at `start` in the ciphertext into the part of it that a buffer holds.
    private func patch(
        _ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64, with bytes: [UInt8], at start: UInt64
    ) {
        let end = min(start + UInt64(bytes.count), offset + UInt64(buffer.count))
        var position = max(start, offset)
        while position < end {
            buffer[Int(position - offset)] = bytes[Int(position - start)]
            position += 1
        }
    }
}
