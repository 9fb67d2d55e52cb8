import RandomAccess

extension VectorSet {
    /// Every range of small objects, including counts past the end and offsets past it.
    ///
    /// The objects have 16*b* − 3 to 16*b* + 3 bytes for each *b* of `blockCounts`; without padding, 16*b*.
    package static func exhaustive(blockCounts: ClosedRange<Int> = 0...7) -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for (index, strategy) in smallStrategies.enumerated() {
            let lengths =
                strategy.padding == Padding.none
                ? blockCounts.map { 16 * $0 }
                : blockCounts.flatMap { b in (16 * b - 3...16 * b + 3).filter { $0 >= 0 } }
            for (number, length) in lengths.enumerated() {
                groups.append(
                    everyRange(of: length, strategy: strategy, number: number, seed: UInt64(index * 1000 + length)))
            }
        }
        return groups
    }

    /// All plain strategies, with chunks of three blocks, so that ranges cross several.
    static var smallStrategies: [Strategy] { plain(chunkByteCount: 48) { iv($0) } }

    private static func everyRange(of length: Int, strategy: Strategy, number: Int, seed: UInt64) -> VectorGroup {
        let key = key(number)
        var flags: [VectorFlag] = [.exhaustive]
        if length == 0 { flags.append(.emptyObject) }
        if strategy.padding == .pkcs7, length % 16 == 0 { flags.append(.paddingBlock) }
        // The windows include one that is not a multiple of 16, one that does not divide a chunk, and one of a whole
        // chunk.
        let window = [16, 40, 32, 48, 64][number % 5]
        return held(
            id: "exhaustive/\(strategy.label)/aes\(key.byteCount * 8)/\(length)", source: "generated, seed \(seed)",
            flags: flags, strategy: strategy, key: key, plaintext: streamBytes(seed: seed, count: length),
            windowByteCounts: [.max, window], patterns: [.exhaustive(past: 2, flags: flags)])
    }

    /// Chunk lengths in practical use: small, typical, and those of the two articles.
    private static let chunkByteCounts: [UInt64] = [4096, 65536, 1 << 20, 16_000_000, 16 << 20, 100 << 20]
    /// Window lengths in practical use.
    private static let windowByteCounts = [4096, 65536, 16_000_000, 100 << 20]

    /// A lattice of ranges around each chunk edge of objects of two and a half chunks, and around their ends.
    package static func chunkEdges() -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for chunkByteCount in chunkByteCounts {
            for strategy in plain(chunkByteCount: chunkByteCount, iv: iv(0)) where strategy.chunkByteCount != nil {
                let number = groups.count
                let strategy = strategy.changingIV { _ in iv(number).bigEndianValue }
                let key = key(number)
                let length = objectByteCount(chunkByteCount * 5 / 2, padding: strategy.padding, number: number)
                let edges = [chunkByteCount, 2 * chunkByteCount]
                groups.append(
                    generated(
                        id: "chunk-edges/\(strategy.label)/aes\(key.byteCount * 8)", flags: [.chunkEdge],
                        strategy: strategy, key: key, plaintextByteCount: length, seed: UInt64(2000 + number),
                        patterns: lattice(around: edges, of: length, flags: [.chunkEdge]) + ends(of: length)))
            }
        }
        return groups
    }

    /// A lattice of ranges around the edges of windows, which only the reader knows.
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

    /// One read of a whole window for each of the articles' lengths.
    package static func wholeWindows() -> [VectorGroup] {
        [(16_000_000, Strategy.whole(.aesCTR, iv: iv(1))), (100 << 20, .whole(.aesCBC, iv: iv(2)))].map {
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
        plain(chunkByteCount: 16) { iv(3 + $0) }.filter { $0.chunkByteCount == nil }
    }

    /// Returns a length near `length`. It is not a multiple of 16 if the strategy allows that, except every fourth
    /// time.
    private static func objectByteCount(_ length: UInt64, padding: Padding?, number: Int) -> UInt64 {
        let whole = length / 16 * 16
        return padding == Padding.none || number % 4 == 3 ? whole : whole + UInt64(number % 15) + 1
    }

    /// Returns ranges that start and end just before, at and just after each edge.
    static func lattice(around edges: [UInt64], of length: UInt64, flags: [VectorFlag]) -> [ReadPattern] {
        edges.map { edge in
            .product(
                offsets: [edge - 17...edge - 15, edge - 1...edge + 1, edge + 15...edge + 17],
                counts: [1...2, 15...17, 31...33, 4095...4097], toEnd: [], flags: flags)
        }
    }

    /// Returns reads of the last 1 to 32 bytes: one byte, all bytes to the end, and past it; and reads at and past the
    /// end.
    static func ends(of length: UInt64) -> [ReadPattern] {
        [
            .product(
                offsets: [length - min(32, length)...length], counts: [1, 4096], toEnd: [0, 1], flags: [.lastBytes]),
            .product(
                offsets: [length...length + 1, length + 17...length + 17], counts: [0, 1, 32], flags: [.lastBytes]),
        ]
    }

    /// The numbers of blocks that vectorised code processes at once.
    private static let gearBlockCounts: [UInt64] = [8, 16, 32, 64, 128]

    /// Each residue modulo 16 of a read's start with each of its length, wherever code switches to another stride.
    ///
    /// Objects have 300 blocks, the chunked ones with an edge at block 256. Reads of 1 to 32 bytes start at every byte
    /// of the first blocks, of those around each stride's length and the edge, and of the last blocks. Reads of every
    /// length around each stride start at every byte of the first block and at some bytes of the second.
    package static func residues() -> [VectorGroup] {
        plain(chunkByteCount: 4096) { iv(7 + $0) }.enumerated().map { number, strategy in
            let key = key(number + 1)
            let length: UInt64 = strategy.padding == Padding.none ? 4800 : 4805
            let blocks = [0...1] + gearBlockCounts.map { $0 - 1...$0 + 1 } + [255...257]
            let offsets = blocks.map { 16 * $0.lowerBound...16 * $0.upperBound + 15 } + [length - 37...length]
            let lengths = gearBlockCounts.map { 16 * (Int($0) - 1)...16 * (Int($0) + 1) + 15 }
            return held(
                id: "residues/\(strategy.label)/aes\(key.byteCount * 8)", flags: [.unalignedRead, .strideEdge],
                strategy: strategy, key: key, plaintext: streamBytes(seed: UInt64(7000 + number), count: Int(length)),
                windowByteCounts: [.max, 128],
                patterns: [
                    .product(offsets: offsets, counts: [1...32], toEnd: [], flags: [.unalignedRead]),
                    .product(offsets: [0...17, 31...31], counts: lengths, toEnd: [], flags: [.strideEdge]),
                ])
        }
    }

    /// Each number of blocks up to 49 from each of the first 16 blocks on, with every key length. They cover the
    /// remainders of any stride, also in code that is unrolled for one key length only.
    ///
    /// - Source: openssl/openssl#32883, where a compiler broke steps of four blocks for keys of 192 and 256 bits.
    package static func strideRests() -> [VectorGroup] {
        let strategies: [Strategy] = [
            .whole(.aesCTR, iv: iv(12)), .whole(.aesCBC, iv: iv(13), padding: Padding.none),
            chunked(512, iv: iv(14), padding: .none),
        ]
        return strategies.flatMap { strategy in
            (0..<3).map { number in
                let key = key(number)
                return held(
                    id: "stride-rests/\(strategy.label)/aes\(key.byteCount * 8)", flags: [.strideEdge, .keyLength],
                    strategy: strategy, key: key, plaintext: streamBytes(seed: UInt64(7100 + number), count: 1024),
                    patterns: [
                        .product(
                            // The number of counts is odd, so that an evenly spaced choice of the reads includes every
                            // remainder.
                            offsets: (0..<16).map { 16 * $0...16 * $0 }, counts: (1...49).map { 16 * $0...16 * $0 },
                            toEnd: [], flags: [.strideEdge, .keyLength])
                    ])
            }
        }
    }

    /// Every plaintext length from 0 to 513 bytes in one chain: read whole, by its last 1 to 32 bytes, and past its
    /// end.
    package static func continuousLengths() -> [VectorGroup] {
        lengths(of: .whole(.aesCBC, iv: iv(10)), through: 513, seed: 8000)
    }

    /// The same lengths in chunks of ten blocks, each with its own IV and padding.
    package static func chunkedLengths() -> [VectorGroup] {
        lengths(of: chunked(160, iv: iv(11), padding: .pkcs7), through: 513, seed: 9000)
    }

    private static func lengths(of strategy: Strategy, through longest: Int, seed: UInt64) -> [VectorGroup] {
        (0...longest).map { length in
            let end = UInt64(length)
            let flags: [VectorFlag] = [.everyLength, .lastBytes] + (length % 16 == 0 ? [.paddingBlock] : [])
            return held(
                id: "lengths/\(strategy.label)/aes\(key(length).byteCount * 8)/\(length)", flags: flags,
                strategy: strategy, key: key(length), plaintext: streamBytes(seed: seed + end, count: length),
                windowByteCounts: [.max, 48],
                patterns: [
                    .product(offsets: [0...0], toEnd: [0, 17], flags: flags),
                    .product(offsets: [end - min(32, end)...end], toEnd: [0, 1], flags: flags),
                    .product(offsets: [end...end + 1], counts: [0, 1, 16], flags: flags),
                ])
        }
    }

    /// Offsets around 2³¹, 2³², 2³⁵, 2³⁶, 2⁴⁰ and 2⁴⁸. Each is in an object that ends before the next of them.
    package static func offsetWidths() -> [VectorGroup] {
        let edges: [(VectorFlag, UInt64)] = [
            (.beyond31Bits, 31), (.beyond32Bits, 32), (.beyond35Bits, 35), (.beyond36Bits, 36),
            (.beyond36Bits, 40), (.beyond36Bits, 48),
        ]
        let strategies =
            continuousStrategies + Padding.allCases.map { chunked(1 << 16, iv: iv(5), padding: $0) }
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

    /// Windows of a few KiB: reads of one whole window, of several, and near their edges.
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

    /// Reads of a hundred kilobytes to tens of megabytes, over many windows and chunks; chunks of one block, and of
    /// more than 32 bits; and a source that delivers a long read in small parts.
    package static func longReads() -> [VectorGroup] {
        let inChunks = [
            chunked(4096, iv: iv(21), padding: .pkcs7), chunked(65536, iv: iv(22), isOneIV: true, padding: .none),
        ]
        var groups = (continuousStrategies + inChunks).enumerated().map { index, strategy in
            let length: UInt64 = 5 << 20 + (strategy.padding == Padding.none ? 0 : 5)
            let ranges: [(UInt64, Int)] = [
                (0, 65537), (1, 131_090), (7, 200_001), (16, 262_144), (4095, 1_048_577), (33, 3_200_000),
                (0, 5 << 20 + 9),
            ]
            return generated(
                id: "long-reads/\(strategy.label)/aes\(key(index).byteCount * 8)", flags: [.longRead],
                strategy: strategy, key: key(index), plaintextByteCount: length, seed: UInt64(18000 + index),
                windowByteCounts: [.max, 65536],
                patterns: ranges.map { .product(offsets: [$0.0...$0.0], counts: [$0.1], flags: [.longRead]) })
        }
        groups.append(
            generated(
                id: "long-reads/9 MB", flags: [.longRead], strategy: .whole(.aesCTR, iv: iv(27)), key: key(1),
                plaintextByteCount: 9_000_011, seed: 18090, windowByteCounts: [.max],
                patterns: [.product(offsets: [3...3], counts: [9_000_000], flags: [.longRead])]))
        for (index, strategy) in continuousStrategies.enumerated() where strategy.padding != Padding.none {
            groups.append(
                generated(
                    id: "long-reads/\(strategy.label)/34 MB", flags: [.longRead], strategy: strategy,
                    key: key(index + 1), plaintextByteCount: 40_000_003, seed: UInt64(18100 + index),
                    windowByteCounts: [.max],
                    patterns: [.product(offsets: [5...5], counts: [34_000_003], flags: [.longRead])]))
            groups.append(
                generated(
                    id: "long-reads/\(strategy.label)/in parts", flags: [.shortReads], strategy: strategy,
                    key: key(index), plaintextByteCount: 300_005, seed: UInt64(18200 + index),
                    windowByteCounts: [.max],
                    patterns: [
                        .product(
                            offsets: [0...0, 9...9, 99_999...99_999], counts: [70_000, 200_001], flags: [.shortReads])
                    ]
                ).supplied(.shortReads))
        }
        return groups + extremeChunks()
    }

    /// Chunks of one block, with every range, and chunks whose length and number need many bits.
    private static func extremeChunks() -> [VectorGroup] {
        var groups: [VectorGroup] = []
        let (shortest, longest): (UInt64, UInt64) = (16, 5 << 30)
        for small in plain(chunkByteCount: shortest, iv: iv(23)) where small.chunkByteCount != nil {
            let number = groups.count
            groups.append(
                held(
                    id: "chunks-of-a-block/\(small.label)", flags: [.chunkEdge], strategy: small, key: key(number),
                    plaintext: streamBytes(
                        seed: UInt64(18300 + number), count: small.padding == Padding.none ? 96 : 91),
                    windowByteCounts: [.max, 16], patterns: [.exhaustive(past: 1, flags: [.chunkEdge])]))
            let large = small.withChunks(of: longest).changingIV { _ in iv(24).bigEndianValue }
            let edges = [longest, 2 * longest].map { $0 - 17...$0 + 1 }
            groups.append(
                generated(
                    id: "large-chunks/\(large.label)", flags: [.largeOffset], strategy: large, key: key(number),
                    plaintextByteCount: 12 << 30, seed: UInt64(18400 + number),
                    patterns: [
                        .product(offsets: edges, counts: [1, 18, 33], flags: [.largeOffset]),
                        .product(
                            offsets: [1 << 31...1 << 31 + 1, 1 << 32...1 << 32 + 1], counts: [40],
                            flags: [.largeOffset]),
                    ]))
        }
        return groups
    }
}
