import ByteSources
import RandomAccess

extension VectorSet {
    /// Reads whose order matters to readers with state: forward, backward, repeated, after an empty or failed read.
    package static func readOrders() -> [VectorGroup] {
        smallStrategies.enumerated().flatMap { index, strategy in
            let length: UInt64 = strategy.padding == Padding.none ? 240 : 245
            let orders: [(String, VectorFlag, [ReadPattern])] = [
                ("forward", .forwardReads, [1, 7, 16, 17, 33].map { steps(of: $0, to: length, backward: false) }),
                ("backward", .backwardRead, [1, 7, 16, 17, 33].map { steps(of: $0, to: length, backward: true) }),
                ("repeated", .repeatedRead, [repeats(of: [0, 5, 16, 47, 48, 100, length - 20])]),
                ("after empty reads", .afterEmptyRead, (0..<20).flatMap { emptyBefore(12 * $0, of: length) }),
                ("after failures", .afterFailure, (0..<40).flatMap { failureBefore(6 * $0, of: length) }),
            ]
            return orders.enumerated().map { orderIndex, order in
                let number = orders.count * index + orderIndex
                return held(
                    id: "orders/\(order.0)/\(strategy.label)/aes\(key(number).byteCount * 8)", flags: [order.1],
                    strategy: strategy, key: key(number),
                    plaintext: streamBytes(seed: UInt64(10000 + number), count: Int(length)),
                    windowByteCounts: [.max, 32], patterns: order.2.map { $0.flagged([order.1]) })
            }
        }
    }

    /// Objects that are open at the same time and read in turn: with different keys, with one key and different IVs,
    /// and of different strategies.
    package static func interleavings() -> [VectorGroup] {
        let continuous = (0..<3).map { Strategy.whole(.aesCBC, iv: iv(13 + $0)) }
        let sets: [(String, [(Strategy, Int)])] = [
            ("keys", [0, 3, 6, 1, 2].map { (continuous[0], $0) }),
            ("ivs", continuous.map { ($0, 0) }),
            ("counters", [0, 3, 4].map { (.whole(.aesCTR, iv: iv(16)), $0) }),
            ("strategies", smallStrategies.enumerated().map { ($1, $0) }),
        ]
        return sets.flatMap { name, objects in
            objects.enumerated().map { index, object in
                let stream = SplitMix64Stream(seed: UInt64(11000 + index))
                let length = object.0.padding == Padding.none ? 496 : 500 + UInt64(index)
                // Some reads are the same for all objects, others differ.
                let patterns = (0..<60).map { number -> ReadPattern in
                    let own = stream.word(UInt64(number)) % length
                    let offset = number % 3 == 0 ? UInt64(8 * number) : own
                    return .product(offsets: [offset...offset], counts: [1 + number], flags: [.interleaved])
                }
                return held(
                    id: "interleaved/\(name)/\(index)", flags: [.interleaved], strategy: object.0,
                    key: key(object.1), plaintext: streamBytes(seed: UInt64(12000 + index), count: Int(length)),
                    interleaving: "interleaved/\(name)", patterns: patterns)
            }
        }
    }

    /// One object that four threads read at once. Each thread does all reads, in its own order.
    package static func concurrentReads() -> [VectorGroup] {
        smallStrategies.enumerated().map { number, strategy in
            let length: UInt64 = strategy.padding == Padding.none ? 65536 : 65541
            let stream = SplitMix64Stream(seed: UInt64(13000 + number))
            let patterns = (0..<UInt64(200)).map { index -> ReadPattern in
                let offset = stream.word(2 * index) % length
                return .product(
                    offsets: [offset...offset], counts: [Int(stream.word(2 * index + 1) % 2048)],
                    flags: [.concurrentReads])
            }
            return generated(
                id: "concurrent/\(strategy.label)/aes\(key(number).byteCount * 8)", flags: [.concurrentReads],
                strategy: strategy, key: key(number), plaintextByteCount: length, seed: UInt64(14000 + number),
                threadCount: 4, patterns: patterns)
        }
    }

    /// Returns reads of `step` bytes, one after the other, to the end and past it, or in reverse order.
    private static func steps(of step: Int, to length: UInt64, backward: Bool) -> ReadPattern {
        let offsets = stride(from: 0, through: length, by: step).map { $0...$0 }
        return .product(offsets: backward ? offsets.reversed() : offsets, counts: [step], flags: [])
    }

    private static func repeats(of offsets: [UInt64]) -> ReadPattern {
        .product(offsets: offsets.map { $0...$0 }, counts: [1, 1, 16, 16, 16, 20, 64, 64, 20, 16, 1, 1], flags: [])
    }

    /// Returns a read that starts past the end, and one that does not.
    private static func failureBefore(_ offset: UInt64, of length: UInt64) -> [ReadPattern] {
        [one(length + 1 + offset % 20, 16), one(offset, 1 + Int(offset) % 40)]
    }

    /// Returns a read of no bytes, inside the plaintext or at its end, and reads that continue there or start
    /// elsewhere.
    private static func emptyBefore(_ offset: UInt64, of length: UInt64) -> [ReadPattern] {
        let empty = offset % 36 == 0 ? length : offset
        return [one(empty, 0), one(offset, 1 + Int(offset) % 40), one(length - offset / 2, 16), one(offset / 2, 5)]
    }

    private static func one(_ offset: UInt64, _ count: Int) -> ReadPattern {
        .product(offsets: [offset...offset], counts: [count], flags: [])
    }

    /// Short reads, failures, early ends and length changes of the source, and the fetches of each read.
    package static func circumstances() -> [VectorGroup] {
        supplies.enumerated().flatMap { number, supply in
            smallStrategies.enumerated().map { index, strategy in
                // Chunks of three blocks, so that reads touch several; windows of one and of two blocks.
                let length: UInt64 = strategy.padding == Padding.none ? 48 * 5 : 48 * 5 - 7
                return held(
                    id: "circumstances/\(supply.1.rawValue)/\(strategy.label)", flags: [supply.1], strategy: strategy,
                    key: key(index),
                    plaintext: streamBytes(seed: UInt64(15000 + 10 * number + index), count: Int(length)),
                    windowByteCounts: [.max, 16, 32],
                    patterns: [
                        .product(
                            offsets: [
                                0...0, 5...5, 15...17, 32...32, 47...48, 64...64, 100...100, length - 20...length - 20,
                            ],
                            counts: [1, 2, 16, 17, 32, 48, 90, 300], flags: [supply.1])
                    ]
                ).supplied(supply.0)
            }
        }
    }

    /// The behaviours of sources, each with the class of bugs that it stands for.
    static let supplies: [(SourceSupply, VectorFlag)] = [
        (.whole, .minimalFetch), (.whole, .bufferBounds), (.shortReads, .shortReads), (.failing, .sourceFailure),
        (.endingEarly, .sourceEndsEarly), (.recovering, .afterFailure), (.changing, .changedLength),
    ]

    /// Small objects that are read hundreds of times, at random offsets.
    package static func seekStorms() -> [VectorGroup] {
        smallStrategies.enumerated().map { index, strategy in
            let length: UInt64 = strategy.padding == Padding.none ? 4800 : 4801
            let stream = SplitMix64Stream(seed: UInt64(16000 + index))
            let patterns = (0..<UInt64(120)).map { number in
                let offset = stream.word(2 * number) % length
                let step = Int(stream.word(2 * number + 1) % 97)
                return ReadPattern.product(
                    offsets: [offset...offset, length - 1 - offset...length - 1 - offset, offset / 2...offset / 2],
                    counts: [1 + step, 16, 2 * step], flags: [.seekStorm])
            }
            return held(
                id: "seek-storm/\(strategy.label)", flags: [.seekStorm], strategy: strategy, key: key(index),
                plaintext: streamBytes(seed: UInt64(16100 + index), count: Int(length)),
                windowByteCounts: [.max, 64], patterns: patterns)
        }
    }
}
