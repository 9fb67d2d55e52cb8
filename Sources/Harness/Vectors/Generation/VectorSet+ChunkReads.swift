internal import RandomAccess

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
            return orders.enumerated().map { place, order in
                generated(
                    id: "chunk-reads/\(order.0)/\(Strategy.chunked(format).label)", flags: [order.1],
                    strategy: .chunked(format), key: key(place, for: format), plaintextByteCount: length,
                    seed: UInt64(22000 + 10 * index + place), patterns: order.2.map { $0.flagged([order.1]) })
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
        let supplies: [(SourceSupply, VectorFlag)] = [
            (.whole, .minimalFetch), (.whole, .bufferBounds), (.shortReads, .shortReads), (.failing, .sourceFailure),
            (.endingEarly, .sourceEndsEarly), (.recovering, .afterFailure), (.changing, .changedLength),
        ]
        return supplies.enumerated().flatMap { place, supply in
            chunkFormats.enumerated().map { index, format in
                let (first, full) = capacities(format)
                let length = first + full + 50
                return generated(
                    id: "chunk-reads/\(supply.0.rawValue) \(supply.1.rawValue)/\(Strategy.chunked(format).label)",
                    flags: [supply.1], strategy: .chunked(format), key: key(place, for: format),
                    plaintextByteCount: length, seed: UInt64(22300 + 10 * place + index),
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
