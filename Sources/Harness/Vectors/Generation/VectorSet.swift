import ByteSources
import RandomAccess
internal import Support

/// The generated vectors by class. They are the same in every run.
package enum VectorSet {
    /// Returns all vectors that `chunkwise verify` runs by default, except the files in `data/vectors`.
    package static func standard() -> [VectorGroup] {
        Parallel.map(files) { $0.groups() }.flatMap(\.self)
    }

    /// Returns such vectors of formats of some names, playlists and films among them. It makes no objects of other
    /// described formats, which take most of the time.
    package static func standard(where isWanted: (_ name: String) -> Bool) -> [VectorGroup] {
        let others = Parallel.map(files.filter { $0.name != formatsName }) { $0.groups() }.joined()
        return others.filter { isWanted($0.strategyName) }
            + made("formats") { () throws(DecryptionError) in try DescribedVectors.known(where: isWanted).groups() }
    }

    private static let formatsName = "formats"

    /// Returns key number `index`. The keys have 16, 24 and 32 bytes in turn, and distinct bytes.
    static func key(_ index: Int) -> SecretKey {
        let byteCount = [16, 24, 32][index % 3]
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: 7 * index + 13 * $0 + 1) }
        return made("\(byteCount) bytes are an AES key") { () throws(DecryptionError) in try SecretKey(bytes) }
    }

    /// Returns the result of `make`, which cannot fail, since the parameters of the vectors are right.
    static func made<Value>(_ what: String, _ make: () throws(DecryptionError) -> Value) -> Value {
        do {
            return try make()
        } catch {
            preconditionFailure("\(what): \(error)")
        }
    }

    /// Returns IV number `index`: sixteen distinct bytes, each of two distinct digits.
    static func iv(_ index: Int) -> Block {
        Block(bigEndianValue: 0x0123_4567_89ab_cdef_1032_5476_98ba_dcfe ^ UInt128(index) << 64)
    }

    /// Returns a small object that is held in memory: a plaintext, and its ciphertext as a writer makes it.
    static func held(
        id: String, source: String = "generated", flags: [VectorFlag], strategy: Strategy, key: SecretKey,
        plaintext: [UInt8], windowByteCounts: [Int] = [.max], interleaving: String? = nil, threadCount: Int = 1,
        patterns: [ReadPattern]
    ) -> VectorGroup {
        VectorGroup(
            id: id, source: source, flags: flags, strategy: strategy, key: key,
            ciphertext: MemorySource(Oracle(strategy: strategy, key: key).encrypt(plaintext)),
            plaintext: GroupPlaintext(plaintext), windowByteCounts: windowByteCounts, interleaving: interleaving,
            threadCount: threadCount, patterns: patterns)
    }

    /// Returns the first bytes of a seed's stream.
    static func streamBytes(seed: UInt64, count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { SplitMix64Stream(seed: seed).fill($0, from: 0) }
        return bytes
    }

    /// Returns a computed object; its plaintext is held if it is small.
    static func generated(
        id: String, flags: [VectorFlag], strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64, seed: UInt64,
        windowByteCounts: [Int] = [.max], interleaving: String? = nil, threadCount: Int = 1, patterns: [ReadPattern]
    ) -> VectorGroup {
        made(id) { () throws(DecryptionError) in
            try computed(
                id: id, flags: flags, strategy: strategy, key: key, plaintextByteCount: plaintextByteCount, seed: seed,
                windowByteCounts: windowByteCounts, interleaving: interleaving, threadCount: threadCount,
                patterns: patterns)
        }
    }

    /// Returns the same for a strategy that is not one of ours.
    ///
    /// - Throws: `DecryptionError` for an impossible object.
    static func computed(
        id: String, flags: [VectorFlag], strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64, seed: UInt64,
        windowByteCounts: [Int] = [.max], interleaving: String? = nil, threadCount: Int = 1, patterns: [ReadPattern]
    ) throws(DecryptionError) -> VectorGroup {
        let object = try GeneratedObject(
            strategy: strategy, key: key, plaintextByteCount: plaintextByteCount, seed: seed)
        let plaintext = plaintextByteCount <= 1 << 14 ? try object.plaintext.held() : object.plaintext
        return VectorGroup(
            id: id, source: "generated, seed \(seed)", flags: flags, strategy: strategy, key: key,
            ciphertext: object.source, plaintext: plaintext, windowByteCounts: windowByteCounts,
            rule: .generated(object), interleaving: interleaving, threadCount: threadCount, patterns: patterns)
    }
}

/// A class of vectors: the contents of one generated file.
package struct VectorClass: Sendable {
    /// The file's name in `data/vectors`, without its extension.
    package let name: String
    /// The description of the vectors in the file's header.
    package let summary: String

    private let makeGroups: @Sendable () -> [VectorGroup]

    init(_ name: String, _ summary: String, _ makeGroups: @autoclosure @escaping @Sendable () -> [VectorGroup]) {
        self.name = name
        self.summary = summary
        self.makeGroups = makeGroups
    }

    /// Returns the groups, the same ones each time.
    package func groups() -> [VectorGroup] { makeGroups() }
}

extension VectorSet {
    /// All classes. Together they are ``standard()``.
    package static let files: [VectorClass] = [
        VectorClass("exhaustive", "every range of small objects of every length around whole blocks", exhaustive()),
        VectorClass(
            "chaining", "what a block starts from: the IV, the block before, a later counter, keys of each length",
            chaining() + keyLengths()),
        VectorClass(
            "residues", "every start and length residue where vectorised code changes gear, and each rest of 16 blocks",
            residues() + strideRests()),
        VectorClass("lengths-continuous", "every plaintext length from 0 to 513 in one chain", continuousLengths()),
        VectorClass("lengths-chunked", "every plaintext length from 0 to 513 in chunks of 160 bytes", chunkedLengths()),
        VectorClass("chunk-edges", "ranges around the edges of chunks from 4096 bytes to 100 MiB", chunkEdges()),
        VectorClass(
            "window-edges", "ranges around the edges of a reader's windows, up to 100 MiB",
            windowEdges() + smallWindows() + wholeWindows()),
        VectorClass(
            "long-reads", "long reads over many windows and chunks, and chunks of extreme lengths", longReads()),
        VectorClass("special-blocks", "blocks of zeros, of ones, or equal to others, and such IVs", specialBlocks()),
        VectorClass(
            "large-offsets", "offsets that need more than 31, 32, 35 and 36 bits", largeOffsets() + offsetWidths()),
        VectorClass(
            "counter-carries", "counters that carry past 8 to 128 bits in a read, and short nonces",
            counterCarries() + counterByteCarries() + shortNonces()),
        VectorClass("sequence-carries", "chunk IVs that carry up to the wrap at 2^128", sequenceCarries()),
        VectorClass(
            "paddings", "data that looks like padding, and padding that is wrong",
            paddingLookalikes() + lookalikePieces() + badPaddings()),
        VectorClass("padding-bytes", "every value of the last byte, right and wrong in each position", paddingBytes()),
        VectorClass(
            "impossible-lengths", "ciphertext lengths and last chunks that no writer makes", impossibleLengths()),
        VectorClass(
            "orders", "reads forward, backward, repeated, after failures, of several objects in turn",
            readOrders() + seekStorms() + interleavings() + concurrentReads()),
        VectorClass(
            "circumstances", "fetches, and sources that deliver little, fail, end early, or change", circumstances()),
        VectorClass(
            "monte-carlo", "the CBC Monte Carlo test of NIST's AESAVS, a chain of 1000 blocks a step", monteCarlo()),
        VectorClass(
            "chunks", "authenticated chunks: rests of strides, long chunks, and how they are read",
            chunkRests() + largeChunks() + chunkReads()),
        VectorClass(
            "short-lists", "reads that faults of a class fail as a rule: programs that get a choice get all of these",
            shortLists()),
        VectorClass(
            "playlists", "HLS playlists: IVs, keys, byte ranges, initialization sections, and broken ones",
            PlaylistSet.all),
        VectorClass(
            "films", "films of Common Encryption: subsamples, patterns, IVs, rests of blocks, and broken ones",
            FilmSet.all),
        VectorClass(
            formatsName, "formats with tags or headers: lengths, parameters, keys, chunk numbers, and tampered objects",
            made("formats") { () throws(DecryptionError) in try DescribedVectors.known.groups() }),
    ]
}
