internal import ByteSources
internal import RandomAccess
import Synchronization
internal import Vectors

extension Mutant {
    /// Faults in when a chunk is delivered, and in what is taken for the end.
    static let chunkRelease: [Mutant] = [
        Mutant(
            "chunk-checked-at-its-end", "A chunk's tag is looked at when its last byte is read.", flag: .chunkTag,
            source: "Andreeva et al., \"How to securely release unverified plaintext\", ASIACRYPT 2014"
        ) { backend in
            ConformanceSubject(
                name: "chunk-checked-at-its-end",
                supports: ConformanceSubject(backend: backend).supports
            ) { (setup, source, strategy, key) throws(DecryptionError) in
                let isSuspect = Suspicion()
                let planted = FaultyChunkBackend(base: backend) { (base, chunk, isLast) throws(DecryptionError) in
                    let isAuthentic = try chunk.process(with: base)
                    if !isAuthentic, !isLast { isSuspect.isSet = true }
                    return isAuthentic || !isLast
                }
                let reader = try ConformanceSubject(backend: planted).open(setup, source, strategy, key)
                return FaultyReader(reader) { (base, offset, buffer) throws(DecryptionError) in
                    let count = try base.read(at: offset, into: buffer)
                    guard isSuspect.isSet, strategy.hasChunkEnd(in: offset..<offset + UInt64(count)) else {
                        return count
                    }
                    isSuspect.isSet = false
                    throw .authenticationFailed(chunk: 0)
                }
            }
        },
        Mutant(
            "chunk-edge-ends", "A ciphertext that ends with a full chunk is taken for a whole one.",
            flag: .truncatedChunks, source: "c2sp.org/chunked-encryption, \"Message chunking\"; FiloSottile/rage#195"
        ) { backend in
            ConformanceSubject(
                name: "chunk-edge-ends", supports: ConformanceSubject(backend: backend).supports
            ) { (setup, source, strategy, key) throws(DecryptionError) in
                guard let format = strategy.chunkFormat else {
                    return try ConformanceSubject(backend: backend).open(setup, source, strategy, key)
                }
                let isAtEdge = format.isChunkEdge(source.byteCount)
                let isTink = if case .tinkAESGCMHKDF = format { true } else { false }
                // Cobblestone's last chunk is made up, and Tink's is opened as one that others follow.
                let whole: any ByteSource = isAtEdge && !isTink ? LongerSource(base: source) : source
                let planted = FaultyChunkBackend(base: backend) { (base, chunk, isLast) throws(DecryptionError) in
                    if try chunk.process(with: base) { return true }
                    guard isAtEdge else { return false }
                    guard isTink else { return isLast }
                    let start = Block(bigEndianValue: chunk.start.bigEndianValue & ~(1 << 32))
                    return try chunk.process(with: base, start: start)
                }
                return try ConformanceSubject(backend: planted).open(setup, whole, strategy, key)
            }
        },
    ]

    /// Whether a chunk that was delivered has not been authentic.
    private final class Suspicion: Sendable {
        private let flag = Atomic<Bool>(false)

        var isSet: Bool {
            get { flag.load(ordering: .relaxed) }
            set { flag.store(newValue, ordering: .relaxed) }
        }
    }
}

/// A source with the room of a tag behind its end.
private struct LongerSource: ByteSource {
    let base: any ByteSource

    var byteCount: UInt64 { base.byteCount + UInt64(ChunkFormat.tagByteCount) }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset >= base.byteCount else { return try base.read(at: offset, into: buffers) }
        let rest = buffers.prefix(Int(byteCount - min(offset, byteCount)))
        rest.forEach { $1.initializeMemory(as: UInt8.self, repeating: 0) }
        return rest.byteCount
    }

    func checkUnchanged() throws(DecryptionError) {
        try base.checkUnchanged()
    }
}

extension ChunkFormat {
    /// Whether a ciphertext of a length ends where a full chunk does.
    fileprivate func isChunkEdge(_ byteCount: UInt64) -> Bool {
        let start: UInt64 = if case .cobblestone = self { UInt64(headerByteCount) } else { 0 }
        return byteCount > start && (byteCount - start) % chunkCiphertextByteCount == 0
    }
}

extension Strategy {
    /// Whether the last byte of a full chunk lies in a range of plaintext.
    fileprivate func hasChunkEnd(in range: Range<UInt64>) -> Bool {
        guard let format = chunkFormat else { return false }
        // Tink's first chunk is shorter by the header.
        let missing: UInt64 = if case .tinkAESGCMHKDF = format { UInt64(format.headerByteCount) } else { 0 }
        let length = format.chunkByteCount
        return (range.lowerBound + missing) / length != (range.upperBound + missing) / length
    }
}
