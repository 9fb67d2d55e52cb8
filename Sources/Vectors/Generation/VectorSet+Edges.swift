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
                            reads: lattice(around: edges, of: length, flags: [.chunkEdge]) + ends(of: length)))
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
                        reads: lattice(around: edges, of: length, flags: [.windowEdge]) + ends(of: length)))
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
                reads: [RangeRead(offset: UInt64(window), count: window, of: length, flags: [.wholeWindow])])
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

    static func lattice(around edges: [UInt64], of length: UInt64, flags: [VectorFlag]) -> [RangeRead] {
        var reads: [RangeRead] = []
        for edge in edges {
            for step in [-17, -16, -15, -1, 0, 1, 15, 16, 17] {
                for count in [1, 2, 15, 16, 17, 31, 32, 33, 4095, 4096, 4097] {
                    let offset = step < 0 ? edge - UInt64(-step) : edge + UInt64(step)
                    reads.append(RangeRead(offset: offset, count: count, of: length, flags: flags))
                }
            }
        }
        return reads
    }

    /// The last 1 to 32 bytes: alone, all of those to the end, and past it; the end; and past that.
    static func ends(of length: UInt64) -> [RangeRead] {
        var reads: [RangeRead] = []
        for back in 1...min(32, Int(length)) {
            let offset = length - UInt64(back)
            for count in [1, back, back + 1, 4096] {
                reads.append(RangeRead(offset: offset, count: count, of: length, flags: [.lastBytes]))
            }
        }
        for (offset, count) in [(length, 0), (length, 1), (length + 1, 0), (length + 1, 1), (length + 17, 32)] {
            reads.append(RangeRead(offset: offset, count: count, of: length, flags: [.lastBytes]))
        }
        return reads
    }
}
