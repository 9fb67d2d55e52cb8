internal import RandomAccess

extension VectorSet {
    /// Chunk lengths that people use: small, typical, and those of the two articles.
    private static let chunkByteCounts: [UInt64] = [4096, 65536, 1 << 20, 16_000_000, 16 << 20, 100 << 20]
    /// Window lengths, likewise.
    private static let windowByteCounts = [4096, 65536, 16_000_000, 100 << 20]

    /// A lattice of ranges around each chunk edge of objects of two and a half chunks, and their ends.
    package static func chunkEdges() -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for chunkByteCount in chunkByteCounts {
            for padding in Padding.allCases {
                for ivRule in IVRule.allCases {
                    let number = groups.count
                    let strategy = Strategy.cbcChunked(
                        chunkByteCount: chunkByteCount, iv: iv(number), ivRule: ivRule, padding: padding)
                    let key = key(number)
                    let length = objectByteCount(chunkByteCount * 5 / 2, padding: padding, number: number)
                    let edges = [chunkByteCount, 2 * chunkByteCount]
                    groups.append(
                        generated(
                            id: "chunk-edges/\(strategy.label)/aes\(key.byteCount * 8)", flags: [.chunkEdge],
                            strategy: strategy, key: key, plaintextByteCount: length, seed: UInt64(2000 + number),
                            patterns: lattice(around: edges, of: length, flags: [.chunkEdge]) + ends(of: length)))
                }
            }
        }
        return groups
    }

    /// The same around the edges of windows, which only the reader knows.
    package static func windowEdges() -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for window in windowByteCounts {
            for strategy in continuousStrategies {
                let number = groups.count
                let key = key(number)
                let length = objectByteCount(UInt64(window) * 5 / 2, padding: strategy.padding, number: number)
                let edges = [UInt64(window), 2 * UInt64(window)]
                groups.append(
                    generated(
                        id: "window-edges/\(strategy.label)/aes\(key.byteCount * 8)/window=\(window)",
                        flags: [.windowEdge], strategy: strategy, key: key, plaintextByteCount: length,
                        seed: UInt64(3000 + number), windowByteCounts: [window],
                        patterns: lattice(around: edges, of: length, flags: [.windowEdge]) + ends(of: length)))
            }
        }
        return groups
    }

    /// A whole window, from edge to edge, one read for each of the articles' lengths.
    package static func wholeWindows() -> [VectorGroup] {
        [(16_000_000, Strategy.ctr(iv: iv(1))), (100 << 20, .cbcContinuous(iv: iv(2), padding: .pkcs7))].map {
            window, strategy in
            let length = UInt64(window) * 2 + 5
            return generated(
                id: "whole-window/\(strategy.label)/window=\(window)", flags: [.wholeWindow], strategy: strategy,
                key: key(0), plaintextByteCount: length, seed: UInt64(window), windowByteCounts: [window],
                patterns: [
                    .single(RangeRead(offset: UInt64(window), count: window, of: length, flags: [.wholeWindow]))
                ])
        }
    }

    static var continuousStrategies: [Strategy] {
        [.ctr(iv: iv(3))] + Padding.allCases.map { .cbcContinuous(iv: iv(4), padding: $0) }
    }

    /// A length near `length`: not a multiple of 16 where that can be, every fourth time one.
    private static func objectByteCount(_ length: UInt64, padding: Padding?, number: Int) -> UInt64 {
        let whole = length / 16 * 16
        return padding == Padding.none || number % 4 == 3 ? whole : whole + UInt64(number % 15) + 1
    }

    /// Ranges that start and end just before, at and just behind each edge.
    static func lattice(around edges: [UInt64], of length: UInt64, flags: [VectorFlag]) -> [ReadPattern] {
        edges.map { edge in
            .product(
                offsets: [edge - 17...edge - 15, edge - 1...edge + 1, edge + 15...edge + 17],
                counts: [1...2, 15...17, 31...33, 4095...4097], toEnd: [], flags: flags)
        }
    }

    /// The last 1 to 32 bytes: alone, all of those to the end, and past it; the end; and past that.
    static func ends(of length: UInt64) -> [ReadPattern] {
        [
            .product(
                offsets: [length - min(32, length)...length], counts: [1, 4096], toEnd: [0, 1], flags: [.lastBytes]),
            .product(
                offsets: [length...length + 1, length + 17...length + 17], counts: [0, 1, 32], flags: [.lastBytes]),
        ]
    }
}
