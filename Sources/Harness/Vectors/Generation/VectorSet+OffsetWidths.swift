internal import RandomAccess

extension VectorSet {
    /// Offsets around 2³¹, 2³², 2³⁵, 2³⁶, 2⁴⁰ and 2⁴⁸, each in an object that ends before the next of them.
    package static func offsetWidths() -> [VectorGroup] {
        let edges: [(VectorFlag, UInt64)] = [
            (.beyond31Bits, 31), (.beyond32Bits, 32), (.beyond35Bits, 35), (.beyond36Bits, 36),
            (.beyond36Bits, 40), (.beyond36Bits, 48),
        ]
        let strategies =
            continuousStrategies
            + Padding.allCases.map {
                .cbcChunked(chunkByteCount: 1 << 16, iv: iv(5), ivRule: .sequence, padding: $0)
            }
        return edges.flatMap { flag, bits in
            strategies.enumerated().map { index, strategy in
                let edge = UInt64(1) << bits
                let length = edge + 100_000 / 16 * 16 + (strategy.padding == Padding.none ? 0 : 7)
                let around = [edge - 4096, edge - 17, edge - 1, edge, edge + 1, edge + 16, edge + 40_000, length - 20]
                return generated(
                    id: "offset-width/2^\(bits)/\(strategy.label)/aes\(key(index).byteCount * 8)", flags: [flag],
                    strategy: strategy, key: key(index), plaintextByteCount: length,
                    seed: 7600 + 10 * bits + UInt64(index),
                    patterns: [
                        .product(offsets: [0...0, edge / 2...edge / 2], counts: [1, 100], flags: [flag]),
                        .product(offsets: around.map { $0...$0 }, counts: [1, 16, 33, 5000], flags: [flag]),
                    ])
            }
        }
    }

    /// Windows of a few KiB: reads of whole ones, of several, and beside their edges.
    package static func smallWindows() -> [VectorGroup] {
        [256, 4096].flatMap { window in
            continuousStrategies.enumerated().map { index, strategy in
                let length = UInt64(window) * 4 + (strategy.padding == Padding.none ? 16 : 5)
                let starts = (0...3).map { UInt64($0 * window)...UInt64($0 * window) }
                let edges = (1...3).map { UInt64($0 * window) }
                return generated(
                    id: "small-windows/\(strategy.label)/window=\(window)", flags: [.windowEdge], strategy: strategy,
                    key: key(index), plaintextByteCount: length, seed: UInt64(7500 + index),
                    windowByteCounts: [window],
                    patterns: [
                        .product(offsets: starts, counts: [window, 2 * window, 3 * window], flags: [.wholeWindow])
                    ]
                        + lattice(around: edges, of: length, flags: [.windowEdge]))
            }
        }
    }
}
