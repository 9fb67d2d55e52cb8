import ByteSources
import RandomAccess
import Vectors

extension Mutant {
    /// Faults in authentication: in the data that it covers, and in its order.
    static let authenticatedChunks: [Mutant] = chunkTags + chunkNumbers + chunkHeaders

    private static let chunkTags: [Mutant] = [
        .chunk(
            "chunk-tag-ignored", "A chunk's tag is not looked at.", flag: .chunkTag,
            source: "NIST SP 800-38D, section 7.2"
        ) { (base, chunk, isLast) throws(DecryptionError) in
            let isAuthentic = try chunk.process(with: base)
            return isAuthentic || !isLast
        },
        .source(
            "first-bytes-filled", "Where a short read of the file's first bytes ends, zeros follow.", flag: .shortReads,
            source: "facebookarchive/conceal#112"
        ) { (base, offset, buffers) throws(DecryptionError) in
            let count = try base.read(at: offset, into: buffers)
            guard offset == 0, count > 0, buffers.byteCount <= 64 else { return count }
            var rest = buffers
            rest.removeFirst(count)
            rest.forEach { _, buffer in buffer.initializeMemory(as: UInt8.self, repeating: 0) }
            return buffers.byteCount
        },
        .chunk(
            "chunk-end-ignored", "What the end of the object is, is not authenticated.", flag: .truncatedChunks,
            source: "str4d/rage#195"
        ) { (base, chunk, isLast) throws(DecryptionError) in
            let isAuthentic = try chunk.process(with: base)
            return isAuthentic || isLast
        },
        .chunkTagLate(
            "chunk-released-first", "A chunk is delivered, and then its tag is looked at.",
            source: "NIST SP 800-38D, section 7.2"
        ) { _, _ in true }.inProcessOnly(),
        .chunkTagLate(
            "chunk-checked-at-its-end", "A chunk's tag is looked at when its last byte is read.",
            source: "Andreeva et al., \"How to securely release unverified plaintext\", ASIACRYPT 2014"
        ) { strategy, range in strategy.hasChunkEnd(in: range) },
        .opening(
            "chunk-cut-spins", "The end of an object that was cut is asked for again and again, a hundred times.",
            flag: .truncatedChunks, source: "tink-crypto/tink-java#79, which never ends"
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            do throws(DecryptionError) {
                return try right(setup, source, strategy, key)
            } catch .truncatedCiphertext(let byteCount, _) where strategy.isAuthenticated {
                var byte: [UInt8] = [0]
                for _ in 0..<100 {
                    try byte.withMutableBytes { (bytes) throws(DecryptionError) in
                        _ = try source.read(at: source.byteCount, into: FetchBuffers(bytes))
                    }
                }
                throw .io(operation: "read", code: 0, reason: "no end behind \(byteCount) bytes")
            }
        },
    ]

    private static let chunkNumbers: [Mutant] = [
        .chunk(
            "sealed-number-searched", "A chunk passes under the number of one nearby.", flag: .chunkOrder,
            source: "rfjakob/gocryptfs#1024"
        ) { (base, chunk, _) throws(DecryptionError) in
            if try chunk.process(with: base) { return true }
            // The chunk numbers of both formats, which are at the end of the nonce or one byte before it.
            for place in [1, 2] {
                for number: UInt8 in 1...3 {
                    var nonce = Array(chunk.nonce)
                    nonce[nonce.count - place] ^= number
                    if try chunk.process(with: base, nonce: nonce) { return true }
                }
            }
            return false
        },
        .opening(
            "chunk-trailing-ignored", "Up to 16 bytes behind the last chunk are ignored.", flag: .trailingData,
            source: "tink-crypto/tink-cc#20"
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            do throws(DecryptionError) {
                return try right(setup, source, strategy, key)
            } catch {
                guard strategy.isAuthenticated, source.byteCount > 100 else { throw error }
            }
            func open(without count: UInt64) throws(DecryptionError) -> any RandomAccessDecryptor {
                let shorter = ResizedSource(base: source, byteCount: source.byteCount - count)
                return try right(setup, shorter, strategy, key)
            }
            for count: UInt64 in 1...15 { if let reader = try? open(without: count) { return reader } }
            return try open(without: 16)
        },
    ]

    private static let chunkHeaders: [Mutant] = [
        .opening(
            "key-material-cut", "Of longer key material, as much is used as a key of AES has.", flag: .keyDerivation,
            source: "RFC 5869, section 2.2"
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            guard let input = strategy.format.derivedKeyInput, case .integer(let count)? = strategy[input.name],
                key.byteCount > count
            else {
                return try right(setup, source, strategy, key)
            }
            let bytes = key.withUnsafeBytes { Array($0.prefix(Int(count))) }
            return try right(setup, source, strategy, try SecretKey(bytes))
        }
    ]

    /// Returns a mutant with a fault in the opening of chunks.
    private static func chunk(
        _ name: String, _ summary: String, flag: VectorFlag, source: String,
        _ change: @escaping FaultyChunkBackend.Change
    ) -> Mutant {
        Mutant(name, summary, flag: flag, source: source) { backend in
            InProcessSubject(name: name) { (setup, source, strategy, key) throws(DecryptionError) in
                // Each object has its own backend, whose first context is the one that opens the object.
                let injected = FaultyChunkBackend(base: backend, change: change)
                return try InProcessSubject(backend: injected).open(setup, source, strategy, key)
            }
        }
    }

    /// Returns a mutant that checks a tag after it has delivered the chunk: after a read of `range`, if `checks`
    /// returns true.
    private static func chunkTagLate(
        _ name: String, _ summary: String, source: String,
        checks: @escaping @Sendable (_ strategy: Strategy, _ range: Range<UInt64>) -> Bool
    ) -> Mutant {
        Mutant(name, summary, flag: .chunkTag, source: source) { backend in
            InProcessSubject(
                name: name, supports: InProcessSubject(backend: backend).supports
            ) { (setup, source, strategy, key) throws(DecryptionError) in
                let isSuspect = MutantState(false)
                let injected = FaultyChunkBackend(base: backend) { (base, chunk, isLast) throws(DecryptionError) in
                    let isAuthentic = try chunk.process(with: base)
                    if !isAuthentic, !isLast { isSuspect.value = true }
                    return isAuthentic || !isLast
                }
                let reader = try InProcessSubject(backend: injected).open(setup, source, strategy, key)
                return FaultyReader(reader) { (base, offset, buffer) throws(DecryptionError) in
                    let count = try base.read(at: offset, into: buffer)
                    guard isSuspect.value, checks(strategy, offset..<offset + UInt64(count)) else { return count }
                    isSuspect.value = false
                    throw .authenticationFailed(chunk: 0)
                }
            }
        }
    }
}

/// A source of another length: it ends early, or has zeros after its end.
private struct ResizedSource: WrappingSource {
    let base: any ByteSource
    let byteCount: UInt64

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let rest = buffers.prefix(Int(min(UInt64(buffers.byteCount), byteCount - offset)))
        guard offset >= base.byteCount else { return try base.read(at: offset, into: rest) }
        rest.forEach { $1.initializeMemory(as: UInt8.self, repeating: 0) }
        return rest.byteCount
    }
}

extension Mutant {
    /// Faults in the recognition of the end.
    static let chunkRelease: [Mutant] = [
        Mutant(
            "chunk-edge-ends", "A ciphertext that ends with a full chunk is taken for a whole one.",
            flag: .truncatedChunks, source: "c2sp.org/chunked-encryption, \"Message chunking\"; str4d/rage#195"
        ) { backend in
            InProcessSubject(
                name: "chunk-edge-ends", supports: InProcessSubject(backend: backend).supports
            ) { (setup, source, strategy, key) throws(DecryptionError) in
                let right = InProcessSubject(backend: backend)
                do throws(DecryptionError) {
                    return try right.open(setup, source, strategy, key)
                } catch {
                    guard strategy.isAuthenticated, strategy.hasChunkEdge(at: source.byteCount) else { throw error }
                    let cut = strategy.changing { rules in
                        rules.isLastNeverFull = false
                        rules.replaceInChunks(["last": .integer(0)])
                    }
                    return try right.open(setup, source, cut, key)
                }
            }
        }
    ]
}

extension Strategy {
    /// Says whether a ciphertext of `byteCount` bytes ends at the end of a full chunk.
    fileprivate func hasChunkEdge(at byteCount: UInt64) -> Bool {
        guard let geometry else { return false }
        let before = geometry.headerByteCount - geometry.missingByteCount
        return byteCount > before && (byteCount - before) % geometry.storedChunkByteCount == 0
    }

    /// Says whether a range of plaintext contains the last byte of a full chunk.
    fileprivate func hasChunkEnd(in range: Range<UInt64>) -> Bool {
        guard isAuthenticated, let geometry else { return false }
        return geometry.chunkIndex(at: range.lowerBound) != geometry.chunkIndex(at: range.upperBound)
    }
}
