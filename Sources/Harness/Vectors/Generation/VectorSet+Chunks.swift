import ByteSources
package import RandomAccess

/// Objects of authenticated chunks that are as they should be.
extension VectorSet {
    /// The formats whose chunks are small, as people use them.
    package static let chunkFormats: [ChunkFormat] = [
        .cobblestone(keyByteCount: 16, context: []),
        .cobblestone(keyByteCount: 32, context: Array("chunkwise".utf8)),
        .tinkAESGCMHKDF(associatedData: [], segmentByteCount: 4096, derivedKeyByteCount: 16),
        .tinkAESGCMHKDF(
            associatedData: Array("chunkwise".utf8), segmentByteCount: 4096, derivedKeyByteCount: 32),
    ]

    /// Key number `index` for a format.
    static func key(_ index: Int, for format: ChunkFormat) -> SecretKey {
        switch format {
        case .cobblestone(let keyByteCount, _): key(3 * index + (keyByteCount == 32 ? 2 : 0))
        case .tinkAESGCMHKDF: key(3 * index + 2)
        }
    }

    /// The plaintext bytes of the first chunk, and of each that follows.
    static func capacities(_ format: ChunkFormat) -> (first: UInt64, full: UInt64) {
        let layout = OracleChunkLayout(format, plaintextByteCount: 1 << 30)
        return (layout.plaintextStart(ofChunk: 1), layout.full)
    }

    /// Plaintexts of every kind of length around whole chunks: read whole, around the edges, and at the end.
    package static func chunkLengths() -> [VectorGroup] {
        chunkFormats.enumerated().flatMap { index, format in
            let (first, full) = capacities(format)
            let lengths = [
                0, 1, 16, first - 1, first, first + 1, first + full, first + full + 1, first + 2 * full + 17,
            ]
            return lengths.enumerated().map { number, length in
                let edges = [first, first + full].filter { $0 + 17 < length && $0 > 17 }
                let around: [ReadPattern] = edges.map { edge in
                    .product(
                        offsets: [edge - 17...edge - 16, edge - 1...edge + 1], counts: [1, 16, 33, Int(full) + 2],
                        flags: [.chunkEdge])
                }
                return generated(
                    id: "chunks/\(Strategy.chunked(format).label)/length=\(length)",
                    flags: length == 0 ? [.chunkEdge, .emptyObject] : [.chunkEdge], strategy: .chunked(format),
                    key: key(number, for: format), plaintextByteCount: length,
                    seed: UInt64(17000 + 20 * index + number),
                    windowByteCounts: [.max, 4096],
                    patterns: around + [
                        .product(offsets: [0...0], toEnd: [0, 1], flags: [.chunkEdge]),
                        .product(
                            offsets: [length - min(length, 3)...length + 1], counts: [1, 100], toEnd: [0],
                            flags: [.lastBytes]),
                    ])
            }
        } + [segmentsOfMebibytes()]
    }

    /// Chunks of each number of blocks up to 33 and a part of one, with keys of each length: what is left over of any stride.
    package static func chunkRests() -> [VectorGroup] {
        chunkFormats.enumerated().flatMap { index, format in
            (1...UInt64(33)).map { blocks in
                let length = 16 * blocks + blocks % 3
                return generated(
                    id: "chunk-rests/\(Strategy.chunked(format).label)/length=\(length)",
                    flags: [.strideEdge, .keyLength],
                    strategy: .chunked(format), key: key(Int(blocks), for: format), plaintextByteCount: length,
                    seed: 17500 + 40 * UInt64(index) + blocks,
                    patterns: [.product(offsets: [0...0, 16...16], toEnd: [0], flags: [.strideEdge, .keyLength])])
            }
        }
    }

    private static func segmentsOfMebibytes() -> VectorGroup {
        let format = ChunkFormat.tinkAESGCMHKDF(
            associatedData: [], segmentByteCount: 1 << 20, derivedKeyByteCount: 32)
        let (first, full) = capacities(format)
        let length = first + full + 5
        return generated(
            id: "chunks/\(Strategy.chunked(format).label)/length=\(length)", flags: [.chunkEdge],
            strategy: .chunked(format), key: key(2), plaintextByteCount: length, seed: 17999,
            patterns: [
                .product(
                    offsets: [0...0, first - 1...first, first + full - 1...first + full + 1], counts: [1, 4096],
                    toEnd: [0], flags: [.chunkEdge])
            ])
    }

    /// Objects of so many chunks that their numbers take more than one, two and three bytes.
    package static func chunkCounters() -> [VectorGroup] {
        chunkFormats.enumerated().flatMap { index, format in
            let (first, full) = capacities(format)
            return [UInt64(1) << 8, 1 << 16, 1 << 24].enumerated().map { number, count in
                let edge = first + (count - 1) * full
                let length = edge + full + 100
                return generated(
                    id: "chunk-counters/\(Strategy.chunked(format).label)/chunk=\(count)", flags: [.chunkCounter],
                    strategy: .chunked(format), key: key(number, for: format), plaintextByteCount: length,
                    seed: UInt64(18000 + 10 * index + number),
                    patterns: [
                        .product(
                            offsets: [0...0, edge - full - 1...edge - full, edge - 1...edge + 1, length - 1...length],
                            counts: [1, 33], flags: [.chunkCounter]),
                        .product(offsets: [edge - 100...edge - 100], counts: [Int(full) + 200], flags: [.chunkCounter]),
                    ])
            }
        }
    }

    /// Everything that goes into the keys: salts, contexts and associated data of several lengths, keys of each length.
    package static func keyDerivations() -> [VectorGroup] {
        let contexts = [[], [0], Array("chunkwise".utf8), Array("a\0b".utf8), streamBytes(seed: 19000, count: 300)]
        var groups: [VectorGroup] = []
        for (number, context) in contexts.enumerated() {
            let formats: [(ChunkFormat, Int)] = [
                (.cobblestone(keyByteCount: 16, context: context), 16),
                (.cobblestone(keyByteCount: 32, context: context), 32),
                (.tinkAESGCMHKDF(associatedData: context, segmentByteCount: 4096, derivedKeyByteCount: 16), 16),
                (.tinkAESGCMHKDF(associatedData: context, segmentByteCount: 4096, derivedKeyByteCount: 16), 24),
                (.tinkAESGCMHKDF(associatedData: context, segmentByteCount: 4096, derivedKeyByteCount: 32), 32),
                (.tinkAESGCMHKDF(associatedData: context, segmentByteCount: 512, derivedKeyByteCount: 32), 80),
            ]
            for (index, (format, keyByteCount)) in formats.enumerated() {
                groups.append(
                    generated(
                        id: "key-derivation/\(Strategy.chunked(format).label)/key of \(keyByteCount)/info of "
                            + "\(context.count)/\(number)",
                        flags: [.keyDerivation], strategy: .chunked(format),
                        key: material(keyByteCount, number: 10 * number + index), plaintextByteCount: 100,
                        seed: UInt64(19100 + 10 * number + index),
                        patterns: [.product(offsets: [0...1, 99...99], counts: [16, 100], flags: [.keyDerivation])]))
            }
        }
        return groups
    }

    /// Key material of any length.
    static func material(_ byteCount: Int, number: Int) -> SecretKey {
        made("\(byteCount) bytes are material for a key") { () throws(DecryptionError) in
            try SecretKey(material: (0..<byteCount).map { UInt8(truncatingIfNeeded: 7 * number + 13 * $0 + 1) })
        }
    }
}

/// How objects of authenticated chunks are read.
extension VectorSet {
    /// Orders of reads, objects in turn, several threads, and sources that behave.
    package static func chunkReads() -> [VectorGroup] {
        chunkOrdersOfReads() + chunkInterleavings() + chunkThreads() + chunkCircumstances()
    }

    private static func chunkOrdersOfReads() -> [VectorGroup] {
        chunkFormats.enumerated().flatMap { index, format in
            let (first, full) = capacities(format)
            let length = first + full + 300
            // Small steps across an edge: each chunk is read many times.
            let offsets = (0..<40).map { first - 1000 + 50 * UInt64($0) }.map { $0...$0 }
            let orders: [(String, VectorFlag, [ReadPattern])] = [
                ("forward", .forwardReads, [.product(offsets: offsets, counts: [50], flags: [])]),
                ("backward", .backwardRead, [.product(offsets: offsets.reversed(), counts: [50, 200], flags: [])]),
                (
                    "repeated", .repeatedRead,
                    [
                        .product(
                            offsets: [0...0, first - 5...first - 5, first...first], counts: [1, 1, 9, 9, 1], flags: [])
                    ]
                ),
                (
                    "jumping", .seekStorm,
                    (0..<UInt64(30)).map { number in
                        let offset = number % 3 * full + number * 37
                        return .product(offsets: [offset...offset], counts: [1, 20, 300], flags: [])
                    }
                ),
                (
                    "after failures", .afterFailure,
                    (0..<UInt64(10)).map { number in
                        .product(
                            offsets: [length + 1 + number...length + 1 + number, number * 500...number * 500],
                            counts: [40], flags: [])
                    }
                ),
            ]
            return orders.enumerated().map { number, order in
                generated(
                    id: "chunk-reads/\(order.0)/\(Strategy.chunked(format).label)", flags: [order.1],
                    strategy: .chunked(format), key: key(number, for: format), plaintextByteCount: length,
                    seed: UInt64(22000 + 10 * index + number), patterns: order.2.map { $0.flagged([order.1]) })
            }
        }
    }

    /// Objects with the same key and different salts, and with different keys, read in turn.
    private static func chunkInterleavings() -> [VectorGroup] {
        (0..<8).map { number in
            let format = chunkFormats[number % 4]
            return generated(
                id: "chunk-reads/in turn/\(number)", flags: [.interleaved], strategy: .chunked(format),
                key: key(number / 6, for: format), plaintextByteCount: 20000, seed: UInt64(22100 + number),
                interleaving: "chunk-reads/in turn",
                patterns: (0..<30).map { read in
                    let offset = UInt64(read % 5 * 4000 + read)
                    return .product(offsets: [offset...offset], counts: [1 + 20 * read], flags: [.interleaved])
                })
        }
    }

    private static func chunkThreads() -> [VectorGroup] {
        chunkFormats.enumerated().map { index, format in
            generated(
                id: "chunk-reads/concurrent/\(Strategy.chunked(format).label)", flags: [.concurrentReads],
                strategy: .chunked(format), key: key(index, for: format), plaintextByteCount: 70000,
                seed: UInt64(22200 + index), threadCount: 4,
                patterns: (0..<40).map { read in
                    let offset = UInt64(read * 7919 % 70000)
                    return .product(offsets: [offset...offset], counts: [read * 30], flags: [.concurrentReads])
                })
        }
    }

    private static func chunkCircumstances() -> [VectorGroup] {
        supplies.enumerated().flatMap { number, supply in
            chunkFormats.enumerated().map { index, format in
                let (first, full) = capacities(format)
                let length = first + full + 50
                return generated(
                    id: "chunk-reads/\(supply.0.rawValue) \(supply.1.rawValue)/\(Strategy.chunked(format).label)",
                    flags: [supply.1], strategy: .chunked(format), key: key(number, for: format),
                    plaintextByteCount: length, seed: UInt64(22300 + 10 * number + index),
                    windowByteCounts: [.max, 4096],
                    patterns: [
                        .product(
                            offsets: [0...0, 100...100, first - 1...first, first + full - 3...first + full - 3],
                            counts: [1, 33, 2000, Int(full) + 1], flags: [supply.1])
                    ]
                ).supplied(supply.0)
            }
        }
    }
}
