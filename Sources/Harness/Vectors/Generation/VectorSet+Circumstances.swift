internal import ByteSources
internal import RandomAccess

extension VectorSet {
    /// Short reads, failures, early ends and changes of the source, and the fetches of each read.
    package static func circumstances() -> [VectorGroup] {
        let supplies: [(SourceSupply, VectorFlag)] = [
            (.whole, .minimalFetch), (.whole, .bufferBounds), (.shortReads, .shortReads), (.failing, .sourceFailure),
            (.endingEarly, .sourceEndsEarly), (.recovering, .afterFailure), (.changing, .changedLength),
        ]
        return supplies.enumerated().flatMap { place, supply in
            smallStrategies.enumerated().map { index, strategy in
                // Chunks of three blocks, of which reads touch several; windows of one and of two blocks.
                let length: UInt64 = strategy.padding == Padding.none ? 48 * 5 : 48 * 5 - 7
                return held(
                    id: "circumstances/\(supply.1.rawValue)/\(strategy.label)", flags: [supply.1], strategy: strategy,
                    key: key(index),
                    plaintext: streamBytes(seed: UInt64(15000 + 10 * place + index), count: Int(length)),
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

    /// Small objects that are read hundreds of times, in an order that nobody would guess.
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
