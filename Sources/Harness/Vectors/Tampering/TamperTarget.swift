import ByteSources
package import RandomAccess

/// An object to be tampered with, another one of the same strategy and key, and where its parts lie.
package struct TamperTarget: Sendable {
    /// What a subject is given to open.
    package enum Form: Sendable {
        /// One ciphertext, and the strategy and key for it.
        case object(Strategy, SecretKey)
        /// A playlist whose segments are files of their own.
        case playlist(TamperPlaylist)
    }

    /// The strategy with what tells it from others.
    package let label: String
    /// What is opened.
    package let form: Form
    /// The object as its writer made it.
    package let original: TamperContent
    /// Another object, of the same strategy, key and length.
    package let other: TamperContent
    /// What the original decrypts to.
    package let plaintext: [UInt8]
    /// How much a sequential reader reads at once: not a divisor of anything.
    package let windowByteCount: Int
    /// Each chunk's plaintext.
    let chunkPlaintexts: [Range<Int>]
    /// The parts of the header, with their names.
    var headerFields: [(name: String, range: Range<Int>)] = []

    /// Whether the format says that it detects every change.
    package var isAuthenticated: Bool {
        if case .object(.chunked, _) = form { true } else { false }
    }

    /// The bytes of a tag at each chunk's end.
    var tagByteCount: Int { isAuthenticated ? ChunkFormat.tagByteCount : 0 }

    /// Whether chunk `index` ends with a block of padding.
    func hasPadding(chunk index: Int) -> Bool {
        switch form {
        case .object(let strategy, _): strategy.padding == .pkcs7
        case .playlist: true
        }
    }

    /// Whether chunks follow each other in one ciphertext.
    var isJoined: Bool {
        if case .object = form { true } else { false }
    }

    /// The object after a tampering, as a group without reads, which subjects open like any other.
    package func group(of content: TamperContent) -> VectorGroup {
        switch form {
        case .playlist(let playlist):
            VectorGroup(
                id: "tamper", flags: [],
                playlist: PlaylistObject(
                    text: playlist.text(of: content), resources: playlist.resources(of: content), keys: playlist.keys))
        case .object(let strategy, let key):
            VectorGroup(
                id: "tamper", flags: [],
                strategy: content.damagedIVByte.map { byte in
                    strategy.changingIV { $0 ^ UInt128(1) << (8 * (15 - byte)) }
                } ?? strategy,
                key: key, ciphertext: MemorySource(content.bytes))
        }
    }
}

extension TamperTarget {
    /// An object of each strategy: of three chunks and a half where there are chunks.
    package static var all: [TamperTarget] {
        strategies.enumerated().map { number, strategy in
            VectorSet.made(strategy.label) { () throws(DecryptionError) in
                try TamperTarget(strategy, number: number)
            }
        } + [.playlist]
    }

    private static var strategies: [Strategy] {
        let (iv, chunk) = (VectorSet.iv(90), UInt64(256))
        return [
            .cbcContinuous(iv: iv, padding: .pkcs7), .cbcContinuous(iv: iv, padding: .none),
            .cbcChunked(chunkByteCount: chunk, iv: iv, ivRule: .sequence, padding: .pkcs7),
            .cbcChunked(chunkByteCount: chunk, iv: iv, ivRule: .fixed, padding: .pkcs7),
            .cbcChunked(chunkByteCount: chunk, iv: iv, ivRule: .sequence, padding: .none), .ctr(iv: iv),
        ] + VectorSet.chunkFormats.map { .chunked($0) }
    }

    /// Makes an object of a strategy.
    ///
    /// - Throws: `DecryptionError` for a strategy that cannot be.
    private init(_ strategy: Strategy, number: Int) throws(DecryptionError) {
        let key = strategy.chunkFormat.map { VectorSet.key(number, for: $0) } ?? VectorSet.key(number)
        let byteCount: UInt64
        let window: Int
        if let format = strategy.chunkFormat {
            let (first, full) = VectorSet.capacities(format)
            byteCount = first + 2 * full + full / 2 + 5
            window = Int(full / 2) + 9
        } else {
            // Whole blocks where nothing else can be held.
            byteCount = strategy.padding == Padding.none ? 3 * 256 + 144 : 3 * 256 + 133
            window = 40
        }
        func object(_ seed: Int) throws(DecryptionError) -> GeneratedObject {
            try GeneratedObject(
                strategy: strategy, key: key, plaintextByteCount: byteCount, seed: UInt64(22000 + seed))
        }
        let (original, other) = (try object(number), try object(100 + number))
        let cuts = Self.cuts(strategy, plaintextByteCount: byteCount)
        self.init(
            label: strategy.label, form: .object(strategy, key),
            original: try TamperContent(original.source, cuts: cuts.ciphertexts),
            other: try TamperContent(other.source, cuts: cuts.ciphertexts),
            plaintext: try original.plaintext.bytes(0..<byteCount),
            windowByteCount: window, chunkPlaintexts: cuts.plaintexts, headerFields: Self.headerFields(strategy))
    }

    /// Where chunks start and end, in the ciphertext and in the plaintext.
    private static func cuts(
        _ strategy: Strategy, plaintextByteCount: UInt64
    ) -> (ciphertexts: [Range<Int>], plaintexts: [Range<Int>]) {
        let end = Int(plaintextByteCount)
        if let format = strategy.chunkFormat {
            let layout = OracleChunkLayout(format, plaintextByteCount: plaintextByteCount)
            let plaintexts = (0..<layout.chunkCount).map { index in
                let start = Int(layout.plaintextStart(ofChunk: index))
                return start..<start + Int(layout.byteCount(ofChunk: index))
            }
            let ciphertexts = plaintexts.enumerated().map { index, range in
                let start = Int(layout.ciphertextStart(ofChunk: UInt64(index)))
                return start..<start + range.count + ChunkFormat.tagByteCount
            }
            return (ciphertexts, plaintexts)
        }
        let chunkByteCount = strategy.chunkByteCount.map(Int.init) ?? end
        let plaintexts = stride(from: 0, to: end, by: chunkByteCount).map { $0..<min(end, $0 + chunkByteCount) }
        var offset = 0
        let ciphertexts = plaintexts.map { range in
            let count = strategy.padding == .pkcs7 ? (range.count / 16 + 1) * 16 : range.count
            defer { offset += count }
            return offset..<offset + count
        }
        return (ciphertexts, plaintexts)
    }

    /// Source: PROTOCOL.md, "open".
    private static func headerFields(_ strategy: Strategy) -> [(name: String, range: Range<Int>)] {
        switch strategy.chunkFormat {
        case .cobblestone: [("salt", 0..<24), ("commitment", 24..<56)]
        case .tinkAESGCMHKDF(_, _, let byteCount):
            [("length", 0..<1), ("salt", 1..<1 + byteCount), ("nonce prefix", 1 + byteCount..<byteCount + 8)]
        case nil: []
        }
    }
}

extension TamperContent {
    /// A ciphertext, cut into chunks; what stands before the first one is the header.
    fileprivate init(_ source: any ByteSource, cuts: [Range<Int>]) throws(DecryptionError) {
        let bytes = try source.bytes()
        self.init(header: Array(bytes[..<(cuts.first?.lowerBound ?? 0)]), chunks: cuts.map { Array(bytes[$0]) })
    }
}

extension TamperTarget {
    /// What a range of the plaintext would be if tags were not checked: a piece for each chunk that is another one than
    /// the original's, or has another index. Only of authenticated formats.
    package func changedPieces(
        of content: TamperContent, in range: Range<UInt64>
    ) -> [(offset: UInt64, bytes: [UInt8])] {
        let bytes = content.bytes
        guard case .object(let strategy, let key) = form, let format = strategy.chunkFormat,
            let layout = try? OracleChunkLayout(format, ciphertextByteCount: UInt64(bytes.count))
        else { return [] }
        let plaintext = GroupPlaintext(
            oracle: Oracle(strategy: strategy, key: key), ciphertext: MemorySource(bytes),
            byteCount: layout.plaintextByteCount)
        var pieces: [(offset: UInt64, bytes: [UInt8])] = []
        var position = range.lowerBound
        while position < min(range.upperBound, layout.plaintextByteCount) {
            let index = layout.chunk(at: position)
            let end = layout.plaintextStart(ofChunk: index) + layout.byteCount(ofChunk: index)
            let part = position..<min(range.upperBound, end)
            position = part.upperBound
            let chunk = layout.ciphertext(of: part)
            let own = bytes[Int(chunk.lowerBound)..<Int(chunk.upperBound)]
            let isOriginal =
                content.header == original.header && index < original.chunks.count
                && own.elementsEqual(original.chunks[Int(index)])
                && (index == layout.chunkCount - 1) == (Int(index) == last)
            guard !isOriginal else { continue }
            if let bytes = try? plaintext.bytes(part) { pieces.append((part.lowerBound, bytes)) }
        }
        return pieces
    }
}

/// A playlist whose segments are tampered with: files of their own, each a CBC chain, with IVs from the media sequence
/// number.
///
/// - Source: RFC 8216, section 5.2.
package struct TamperPlaylist: Hashable, Sendable {
    /// The media sequence number of the first segment.
    private static let first: UInt64 = 11
    private static let keyURI = "key"

    /// The keys by their URIs.
    package var keys: [String: [UInt8]] { [Self.keyURI: PlaylistBuilder.key(Self.keyURI)] }

    /// The playlist's text for a content.
    package func text(of content: TamperContent) -> String {
        let first = Self.first + (content.damagedIVByte == nil ? 0 : 1)
        let segments = content.chunks.indices.map { "#EXTINF:1,\n\(Self.uri($0))\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
            + "#EXT-X-KEY:METHOD=AES-128,URI=\"\(Self.keyURI)\"\n" + segments + "#EXT-X-ENDLIST\n"
    }

    /// The segments of a content, by their URIs.
    package func resources(of content: TamperContent) -> [String: [UInt8]] {
        Dictionary(
            content.chunks.enumerated().map { (Self.uri($0.offset), $0.element) }, uniquingKeysWith: { $1 })
    }

    /// The errors that segments do not open with, in their order.
    func errors(of content: TamperContent) -> [ErrorName] {
        content.chunks.enumerated().compactMap { index, bytes in
            do throws(DecryptionError) {
                let shift = content.damagedIVByte == nil ? 0 : 1
                _ = try Self.oracle(segment: index + shift).plaintextByteCount(of: MemorySource(bytes))
                return nil
            } catch {
                return ErrorName(error)
            }
        }
    }

    private static func uri(_ index: Int) -> String { "s\(index).ts" }

    static func oracle(segment index: Int) throws(DecryptionError) -> Oracle {
        let iv = Block(bigEndianValue: UInt128(first) + UInt128(index))
        return Oracle(
            strategy: .cbcContinuous(iv: iv, padding: .pkcs7),
            key: try SecretKey(PlaylistBuilder.key(keyURI)))
    }
}

extension TamperTarget {
    /// Four segments of different lengths.
    static var playlist: TamperTarget {
        let lengths = [256, 240, 301, 133]
        var starts = [0]
        for length in lengths { starts.append(starts[starts.count - 1] + length) }
        func content(_ plaintext: [UInt8]) -> TamperContent {
            TamperContent(
                chunks: lengths.indices.map { index in
                    guard let oracle = try? TamperPlaylist.oracle(segment: index) else { return [] }
                    return oracle.encrypt(Array(plaintext[starts[index]..<starts[index + 1]]))
                })
        }
        let length = starts[lengths.count]
        let plaintext = VectorSet.streamBytes(seed: 22090, count: length)
        return TamperTarget(
            label: "hls-aes128", form: .playlist(TamperPlaylist()), original: content(plaintext),
            other: content(VectorSet.streamBytes(seed: 22190, count: length)), plaintext: plaintext,
            windowByteCount: 40, chunkPlaintexts: lengths.indices.map { starts[$0]..<starts[$0 + 1] })
    }
}
