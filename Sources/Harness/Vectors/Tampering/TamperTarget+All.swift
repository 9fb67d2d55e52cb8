internal import ByteSources
internal import RandomAccess

extension TamperTarget {
    /// An object of each strategy: of three chunks and a half where there are chunks.
    package static var all: [TamperTarget] {
        strategies.enumerated().map { number, strategy in
            do {
                return try TamperTarget(strategy, number: number)
            } catch {
                preconditionFailure("\(strategy.label): \(error)")
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
        let plaintext = GroupPlaintext(
            oracle: original.oracle, ciphertext: original.source, byteCount: byteCount)
        self.init(
            label: strategy.label, form: .object(strategy, key),
            original: try TamperContent(original.source, cuts: cuts.ciphertexts),
            other: try TamperContent(other.source, cuts: cuts.ciphertexts), plaintext: try plaintext.bytes(),
            windowByteCount: window, chunkPlaintexts: cuts.plaintexts, headerFields: Self.headerFields(strategy))
    }

    /// Where chunks start and end, in the ciphertext and in the plaintext.
    private static func cuts(
        _ strategy: Strategy, plaintextByteCount: UInt64
    ) -> (ciphertexts: [Range<Int>], plaintexts: [Range<Int>]) {
        let end = Int(plaintextByteCount)
        if let format = strategy.chunkFormat {
            let places = OracleChunkPlaces(format, plaintextByteCount: plaintextByteCount)
            let plaintexts = (0..<places.chunkCount).map { index in
                let start = Int(places.plaintextStart(ofChunk: index))
                return start..<start + Int(places.byteCount(ofChunk: index))
            }
            let ciphertexts = plaintexts.enumerated().map { index, range in
                let start = Int(places.ciphertextStart(ofChunk: UInt64(index)))
                return start..<start + range.count + ChunkFormat.tagByteCount
            }
            return (ciphertexts, plaintexts)
        }
        let chunkByteCount = strategy.chunkByteCount.map(Int.init) ?? end
        let plaintexts = stride(from: 0, to: end, by: chunkByteCount).map { $0..<min(end, $0 + chunkByteCount) }
        var place = 0
        let ciphertexts = plaintexts.map { range in
            let count = strategy.padding == .pkcs7 ? (range.count / 16 + 1) * 16 : range.count
            defer { place += count }
            return place..<place + count
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
        let bytes = try [UInt8](byteCount: Int(source.byteCount)) { (room) throws(DecryptionError) in
            try source.fetch(at: 0, into: room)
        }
        self.init(header: Array(bytes[..<(cuts.first?.lowerBound ?? 0)]), chunks: cuts.map { Array(bytes[$0]) })
    }
}

extension GroupPlaintext {
    fileprivate func bytes() throws(DecryptionError) -> [UInt8] {
        try [UInt8](byteCount: Int(byteCount)) { (room) throws(DecryptionError) in try copy(0..<byteCount, into: room) }
    }
}
