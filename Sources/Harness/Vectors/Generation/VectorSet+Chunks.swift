import ByteSources
import RandomAccess

/// Intact objects of authenticated chunks.
extension VectorSet {
    /// Returns key number `index` for a format, with the longest AES key length that the format takes.
    static func key(_ index: Int, for strategy: Strategy) -> SecretKey {
        key(3 * index + (strategy.format.keyByteCounts?.contains(32) ?? true ? 2 : 0))
    }

    /// Returns the number of plaintext bytes of the first chunk and of each later one.
    static func capacities(_ strategy: Strategy) -> (first: UInt64, full: UInt64) {
        guard let keyed = DescribedVectors.Keyed(strategy, key(0, for: strategy)) else {
            preconditionFailure("data/strategies.json: \(strategy.text)")
        }
        return (keyed.first, keyed.full)
    }

    /// Returns reads of a plaintext around some chunk edges, of the whole, and around its end.
    static func edgeReads(of length: UInt64, edges: [UInt64], full: UInt64) -> [ReadPattern] {
        edges.filter { $0 + 17 < length && $0 > 17 }.map { edge -> ReadPattern in
            .product(
                offsets: [edge - 17...edge - 16, edge - 1...edge + 1], counts: [1, 16, 33, Int(full) + 2],
                flags: [.chunkEdge])
        } + [
            .product(offsets: [0...0], toEnd: [0, 1], flags: [.chunkEdge]),
            .product(
                offsets: [length - min(length, 3)...length + 1], counts: [1, 100], toEnd: [0], flags: [.lastBytes]),
        ]
    }

    /// Chunks of each number of blocks up to 33 and a partial one, with keys of each length, for the remainders of any
    /// stride.
    package static func chunkRests() -> [VectorGroup] {
        tagged.enumerated().flatMap { index, strategy in
            (1...UInt64(33)).map { blocks in
                let length = 16 * blocks + blocks % 3
                return generated(
                    id: "chunk-rests/\(strategy.label)/length=\(length)",
                    flags: [.strideEdge, .keyLength],
                    strategy: strategy, key: key(Int(blocks), for: strategy), plaintextByteCount: length,
                    seed: 17500 + 40 * UInt64(index) + blocks,
                    patterns: [.product(offsets: [0...0, 16...16], toEnd: [0], flags: [.strideEdge, .keyLength])])
            }
        }
    }

    /// Chunks of a mebibyte, of which readers can hold only a few.
    package static func largeChunks() -> [VectorGroup] {
        long.map { strategy in
            let (first, full) = capacities(strategy)
            let length = first + full + 5
            return generated(
                id: "chunks/\(strategy.label)/length=\(length)", flags: [.chunkEdge], strategy: strategy, key: key(2),
                plaintextByteCount: length, seed: 17999,
                patterns: [
                    .product(
                        offsets: [0...0, first - 1...first, first + full - 1...first + full + 1], counts: [1, 4096],
                        toEnd: [0], flags: [.chunkEdge])
                ])
        }
    }

    /// Returns key material of any length.
    static func material(_ byteCount: Int, number: Int) -> SecretKey {
        made("\(byteCount) bytes are material for a key") { () throws(DecryptionError) in
            try SecretKey(material: (0..<byteCount).map { UInt8(truncatingIfNeeded: 7 * number + 13 * $0 + 1) })
        }
    }
}

/// The ways in which objects of authenticated chunks are read.
extension VectorSet {
    /// Orders of reads, objects read in turn, several threads, and each behaviour of the source.
    package static func chunkReads() -> [VectorGroup] {
        chunkOrdersOfReads() + chunkInterleavings() + chunkThreads() + chunkCircumstances()
    }

    private static func chunkOrdersOfReads() -> [VectorGroup] {
        tagged.enumerated().flatMap { index, strategy in
            let (first, full) = capacities(strategy)
            let length = first + full + 300
            // Small steps across an edge read each chunk many times.
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
                    id: "chunk-reads/\(order.0)/\(strategy.label)", flags: [order.1],
                    strategy: strategy, key: key(number, for: strategy), plaintextByteCount: length,
                    seed: UInt64(22000 + 10 * index + number), patterns: order.2.map { $0.flagged([order.1]) })
            }
        }
    }

    /// Objects with the same key and different salts, and with different keys, read in turn.
    private static func chunkInterleavings() -> [VectorGroup] {
        (0..<8).map { number in
            let strategy = tagged[number % tagged.count]
            return generated(
                id: "chunk-reads/in turn/\(number)", flags: [.interleaved], strategy: strategy,
                key: key(number / 6, for: strategy), plaintextByteCount: 20000, seed: UInt64(22100 + number),
                interleaving: "chunk-reads/in turn",
                patterns: (0..<30).map { read in
                    let offset = UInt64(read % 5 * 4000 + read)
                    return .product(offsets: [offset...offset], counts: [1 + 20 * read], flags: [.interleaved])
                })
        }
    }

    private static func chunkThreads() -> [VectorGroup] {
        tagged.enumerated().map { index, strategy in
            generated(
                id: "chunk-reads/concurrent/\(strategy.label)", flags: [.concurrentReads],
                strategy: strategy, key: key(index, for: strategy), plaintextByteCount: 70000,
                seed: UInt64(22200 + index), threadCount: 4,
                patterns: (0..<40).map { read in
                    let offset = UInt64(read * 7919 % 70000)
                    return .product(offsets: [offset...offset], counts: [read * 30], flags: [.concurrentReads])
                })
        }
    }

    private static func chunkCircumstances() -> [VectorGroup] {
        supplies.enumerated().flatMap { number, supply in
            tagged.enumerated().map { index, strategy in
                let (first, full) = capacities(strategy)
                let length = first + full + 50
                return generated(
                    id: "chunk-reads/\(supply.0.rawValue) \(supply.1.rawValue)/\(strategy.label)",
                    flags: [supply.1], strategy: strategy, key: key(number, for: strategy),
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
