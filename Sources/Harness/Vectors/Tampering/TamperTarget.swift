import ByteSources
package import RandomAccess

/// An object to be tampered with, another object of the same strategy and key, and the positions of its parts.
package struct TamperTarget: Sendable {
    /// The form in which a subject opens the object.
    package enum Form: Sendable {
        /// One ciphertext, and the strategy and key for it.
        case object(Strategy, SecretKey)
        /// A playlist whose segments are separate files.
        case playlist(TamperPlaylist)
    }

    /// The strategy's label, with a number behind it if the strategy has objects with other headers.
    package private(set) var label: String
    /// The form in which the object is opened.
    package let form: Form
    /// The object as its writer made it.
    package let original: TamperContent
    /// Another object, of the same strategy, key and length, if there is one.
    package let other: TamperContent?
    /// The plaintext of the original.
    package let plaintext: [UInt8]
    /// The window of a sequential reader, which divides no other length.
    package let windowByteCount: Int
    /// The range of each chunk in the plaintext.
    let chunkPlaintexts: [Range<Int>]
    /// The positions of the data and of the other stored parts in each chunk.
    let layouts: [ChunkLayout]
    /// The original in one piece, and the oracle's view of it, for ``changedPieces(of:in:isAuthentic:)``.
    let originalBytes: [UInt8]
    let originalLayout: OracleLayout?
    /// The parts in front of the first chunk, with their names: those of the header, and those of entries of a table.
    var headerFields: [(name: String, range: Range<Int>, kind: TamperKind)] = []
    /// The table of the chunks' parts in front of the data, if the chunks are not contiguous. A chunk is its data then.
    var table: Table?

    /// The places of a table of chunks.
    struct Table: Sendable {
        /// The ranges of the chunks' entries.
        let entries: [Range<Int>]
        /// The offset of the data of an object with one chunk fewer.
        let shorterDataStart: Int
    }

    /// The parts of a stored chunk, relative to its start.
    struct ChunkLayout: Sendable {
        let data: Range<Int>
        var parts: [(name: String, range: Range<Int>)] = []
    }

    /// Says whether the format has tags.
    package var isAuthenticated: Bool {
        if case .object(let strategy, _) = form { strategy.isAuthenticated } else { false }
    }

    /// Says whether an error means that a ciphertext is not right. Some formats have errors of their own.
    ///
    /// - Source: PROTOCOL.md, "Transport".
    package func isTelling(_ name: String) -> Bool { tellingErrors.contains(name) }

    private var tellingErrors: Set<String> {
        var errors: Set<String> = Set(
            [ErrorName.truncatedCiphertext, .invalidPadding, .authenticationFailed].map(\.rawValue))
        guard case .object(let strategy, _) = form else { return errors }
        let format = strategy.format
        let parts = format.layout.compactMap { part in if case .field(let field) = part { field } else { nil } }
        let fields = format.header + parts + format.trailerFields
        errors.formUnion(fields.flatMap { [$0] + ($0.sealed?.holds ?? []) }.map(\.error.rawValue))
        let checks = format.checks.map(\.error).filter { $0 != .invalidKey && $0 != .invalidRequest }
        return errors.union(checks.map(\.rawValue))
    }

    /// Returns the same target with a word behind its label.
    func named(_ detail: String) -> TamperTarget {
        var target = self
        target.label += ", \(detail)"
        return target
    }

    /// Says whether chunk `index` ends with a block of padding.
    func hasPadding(chunk index: Int) -> Bool {
        switch form {
        case .object(let strategy, _): strategy.padding == .pkcs7
        case .playlist: true
        }
    }

    /// Says whether all chunks are in one ciphertext.
    var isJoined: Bool {
        if case .object = form { true } else { false }
    }

    /// Returns the tampered object as a group without reads, which subjects open like any other.
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
                strategy: content.damagedIVByte.map(strategy.damagingIV) ?? strategy,
                key: key, ciphertext: MemorySource(content.bytes))
        }
    }
}

extension Strategy {
    /// Returns the same strategy with a bit of an IV byte changed.
    fileprivate func damagingIV(byte: Int) -> Strategy {
        guard var bytes = self[Format.Input.ivName]?.bytes?.array, bytes.indices.contains(byte) else { return self }
        bytes[byte] ^= 1
        return replacing(Format.Input.ivName, with: .bytes(ByteString(bytes)))
    }
}

extension TamperTarget {
    /// An object of each strategy, of three and a half chunks if the format has chunks.
    package static var all: [TamperTarget] {
        VectorSet.plain(chunkByteCount: 256, iv: VectorSet.iv(90)).enumerated().map { number, strategy in
            VectorSet.made(strategy.label) { () throws(DecryptionError) in
                try TamperTarget(strategy, number: number)
            }
        } + VectorSet.made("formats") { () throws(DecryptionError) in try DescribedVectors.known.tamperTargets() }
            + [.playlist]
    }

    /// Makes an object of a strategy without tags.
    ///
    /// - Throws: `DecryptionError` for an invalid strategy.
    private init(_ strategy: Strategy, number: Int) throws(DecryptionError) {
        // Whole blocks if the strategy cannot hold other lengths.
        let byteCount: UInt64 = strategy.padding == Padding.none ? 3 * 256 + 144 : 3 * 256 + 133
        func object(_ seed: Int) throws(DecryptionError) -> GeneratedObject {
            try GeneratedObject(
                strategy: strategy, key: VectorSet.key(3 * number), plaintextByteCount: byteCount,
                seed: UInt64(22000 + seed))
        }
        try self.init(try object(number), other: try object(100 + number))
    }

    /// Splits a generated object and another one of the same strategy, key and length into their parts.
    init(_ object: GeneratedObject, other: GeneratedObject) throws(DecryptionError) {
        try self.init(
            strategy: object.strategy, key: object.key, original: try object.source.bytes(),
            other: try other.source.bytes(), plaintext: try object.plaintext.bytes(0..<object.plaintextByteCount))
    }

    /// Splits an object into its parts, by its header and its format's description.
    ///
    /// - Throws: `DecryptionError` for an object that does not open.
    package init(
        strategy: Strategy, key: SecretKey, original: [UInt8], other: [UInt8]? = nil, plaintext: [UInt8]
    ) throws(DecryptionError) {
        let layout = try OracleLayout(strategy, ciphertextByteCount: UInt64(original.count))
        let (table, stored) = (layout?.table, MemorySource(original))
        let map = try ObjectMap(
            of: table?.whole(of: stored) ?? stored,
            strategy: table == nil ? strategy : strategy.changing { $0.dataStart = nil }, key: key)
        let headerEnd = min(map.headerByteCount, original.count)
        // The bytes after the last chunk are a part of it.
        let starts = map.chunks.enumerated().map { index, chunk in
            table.map { Int($0.dataStart + UInt64(index) * (layout?.full ?? 0)) } ?? chunk.lowerBound
        }
        let ranges = zip(starts, starts.dropFirst() + [original.count]).map { $0..<$1 }
        func content(_ bytes: [UInt8], _ origin: TamperedBytes.Origin) -> TamperContent {
            let bytes = TamperedBytes(bytes, of: origin)
            return TamperContent(header: bytes[0..<(starts.first ?? original.count)], chunks: ranges.map { bytes[$0] })
        }
        let chunkByteCount = strategy.chunkByteCount.map { Int(clamping: $0) } ?? max(1, plaintext.count)
        self.init(
            label: strategy.label, form: .object(strategy, key), original: content(original, .original),
            other: other.map { content($0, .other) }, plaintext: plaintext,
            windowByteCount: layout.map { Int(min($0.full, UInt64(original.count)) / 2) + 9 }
                ?? (strategy.isStreaming ? 40 : min(chunkByteCount, original.count) / 2 + 9),
            chunkPlaintexts: layout.map { layout in
                (0..<layout.chunkCount).map { index in
                    let range = layout.plaintext(ofChunk: index)
                    // The layout does not account for padding.
                    let end = plaintext.isEmpty ? range.upperBound : min(range.upperBound, UInt64(plaintext.count))
                    return Int(range.lowerBound)..<Int(max(range.lowerBound, end))
                }
            }
                ?? stride(from: 0, to: plaintext.count, by: chunkByteCount).map {
                    $0..<$0 + min(chunkByteCount, plaintext.count - $0)
                },
            layouts: map.chunks.indices.map { index in
                guard table == nil else { return ChunkLayout(data: 0..<ranges[index].count) }
                let start = map.chunks[index].lowerBound
                let ownPlaces = map.places(inChunk: index) + (index + 1 == map.chunks.count ? map.trailer : [])
                let places = ownPlaces.map { place in
                    (name: place.name, range: place.range.lowerBound - start..<place.range.upperBound - start)
                }
                return ChunkLayout(
                    data: places.first { $0.name == "data" }?.range ?? 0..<0,
                    parts: places.filter { $0.name != "data" })
            },
            originalBytes: original, originalLayout: layout,
            headerFields: map.header.filter { $0.range.upperBound <= headerEnd }.map { ($0.name, $0.range, .header) })
        guard let table else { return }
        for (name, index) in Self.some(map.chunks.count) {
            for place in map.places(inChunk: index) where place.name != "data" {
                let start = Int(table.stored(UInt64(place.range.lowerBound)).offset ?? 0)
                headerFields.append(("\(name) chunk, \(place.name)", start..<start + place.range.count, .flip))
            }
        }
        headerFields.append((Self.gapName, Int(table.gap.lowerBound)..<Int(table.gap.upperBound), .flip))
        self.table = Table(
            entries: map.chunks.indices.map { index in
                let entry = table.entry(UInt64(index))
                return Int(entry.lowerBound)..<Int(entry.upperBound)
            },
            shorterDataStart: Int(table.shorterDataStart))
    }

    /// The name of the bytes between a table and the data.
    static let gapName = "bytes in front of the data"
}

extension TamperTarget {
    /// Returns the plaintext of a range without checking tags: one piece for each chunk that differs from the
    /// original's or has another index. Only for authenticated formats.
    ///
    /// - Parameters:
    ///   - content: The tampered content.
    ///   - range: The range.
    ///   - isAuthentic: True for the chunks that the format accepts, such as those after the header of another object;
    ///     false for those that it rejects.
    /// - Returns: The pieces with their plaintext offsets, in order.
    package func changedPieces(
        of content: TamperContent, in range: Range<UInt64>, isAuthentic: Bool
    ) -> [(offset: UInt64, bytes: [UInt8])] {
        let bytes = content.bytes
        guard case .object(let strategy, let key) = form, strategy.isAuthenticated,
            let layout = try? OracleLayout(strategy, ciphertextByteCount: UInt64(bytes.count))
        else { return [] }
        let source = MemorySource(bytes)
        let object = try? OracleObject(strategy, key: key, source: source, isChecked: false)
        let headerByteCount = Int(layout.lookedAtByteCount)
        let plaintext = GroupPlaintext(
            oracle: Oracle(strategy: strategy, key: key), ciphertext: source,
            byteCount: layout.plaintextByteCount)
        var pieces: [(offset: UInt64, bytes: [UInt8])] = []
        var position = range.lowerBound
        while position < min(range.upperBound, layout.plaintextByteCount) {
            let index = layout.sizes.chunk(at: position)
            let end = layout.plaintext(ofChunk: index).upperBound
            let part = position..<min(range.upperBound, end)
            position = part.upperBound
            let isOriginal =
                content.header.prefix(headerByteCount) == original.header.prefix(headerByteCount)
                && index < original.chunks.count
                && layout.chunk(index, of: bytes) == originalLayout?.chunk(index, of: originalBytes)
                && (index == layout.chunkCount - 1) == (Int(index) == last)
            guard !isOriginal, isAuthentic == ((try? object?.check(index, of: source)) != nil) else { continue }
            if let bytes = try? plaintext.bytes(part) { pieces.append((part.lowerBound, bytes)) }
        }
        return pieces
    }
}

/// A playlist with segments to tamper with: separate files, each a CBC chain, with IVs from the media sequence number.
///
/// - Source: RFC 8216, section 5.2.
package struct TamperPlaylist: Hashable, Sendable {
    /// The media sequence number of the first segment.
    private static let first: UInt64 = 11
    private static let keyURI = "key"

    /// The keys by their URIs.
    package var keys: [String: [UInt8]] { [Self.keyURI: PlaylistBuilder.key(Self.keyURI)] }

    /// Returns the playlist's text for a content.
    package func text(of content: TamperContent) -> String {
        let first = Self.first + (content.damagedIVByte == nil ? 0 : 1)
        let segments = content.chunks.indices.map { "#EXTINF:1,\n\(Self.uri($0))\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
            + "#EXT-X-KEY:METHOD=AES-128,URI=\"\(Self.keyURI)\"\n" + segments + "#EXT-X-ENDLIST\n"
    }

    /// Returns the segments of a content, by their URIs.
    package func resources(of content: TamperContent) -> [String: [UInt8]] {
        Dictionary(
            content.chunks.enumerated().map { (Self.uri($0.offset), $0.element.bytes) }, uniquingKeysWith: { $1 })
    }

    /// Returns the errors of the segments that do not open, in order.
    func errors(of content: TamperContent) -> [ErrorName] {
        content.chunks.enumerated().compactMap { index, bytes in
            do throws(DecryptionError) {
                let shift = content.damagedIVByte == nil ? 0 : 1
                _ = try Self.oracle(segment: index + shift).plaintextByteCount(of: MemorySource(bytes.bytes))
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
            strategy: .whole(.aesCBC, iv: iv),
            key: try SecretKey(PlaylistBuilder.key(keyURI)))
    }
}

extension TamperTarget {
    /// A playlist of four segments of different lengths.
    static var playlist: TamperTarget {
        let lengths = [256, 240, 301, 133]
        var starts = [0]
        for length in lengths { starts.append(starts[starts.count - 1] + length) }
        func content(_ plaintext: [UInt8], _ origin: TamperedBytes.Origin) -> TamperContent {
            TamperContent(
                chunks: lengths.indices.map { index in
                    guard let oracle = try? TamperPlaylist.oracle(segment: index) else { return TamperedBytes() }
                    return TamperedBytes(
                        oracle.encrypt(Array(plaintext[starts[index]..<starts[index + 1]])), of: origin)
                })
        }
        let length = starts[lengths.count]
        let plaintext = VectorSet.streamBytes(seed: 22090, count: length)
        let original = content(plaintext, .original)
        return TamperTarget(
            label: "hls-aes128", form: .playlist(TamperPlaylist()), original: original,
            other: content(VectorSet.streamBytes(seed: 22190, count: length), .other), plaintext: plaintext,
            windowByteCount: 40, chunkPlaintexts: lengths.indices.map { starts[$0]..<starts[$0 + 1] },
            layouts: original.chunks.map { ChunkLayout(data: 0..<$0.count) }, originalBytes: [], originalLayout: nil)
    }
}
