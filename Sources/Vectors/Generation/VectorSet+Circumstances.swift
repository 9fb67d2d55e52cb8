internal import ByteSources
internal import RandomAccess

extension VectorSet {
    /// Short reads, failures, early ends and changes of the source, and the fetches of each read.
    package static func circumstances() -> [VectorGroup] {
        let supplies: [(Circumstances.Supply, VectorFlag)] = [
            (.whole, .minimalFetch), (.whole, .bufferBounds), (.shortReads, .shortReads), (.failing, .sourceFault),
            (.endingEarly, .earlyEnd), (.recovering, .afterFailure), (.changing, .changedLength),
        ]
        return supplies.enumerated().flatMap { place, supply in
            smallStrategies.enumerated().map { index, strategy in
                // Chunks of three blocks, of which reads touch several; windows of one and of two blocks.
                let length: UInt64 = strategy.padding == Padding.none ? 48 * 5 : 48 * 5 - 7
                let stream = SplitMix64Stream(seed: UInt64(100 * place + index))
                var reads = [(0, 300), (0, 16), (16, 16), (32, 16), (16, 32), (48, 48), (5, 1), (47, 2)].map {
                    RangeRead(offset: $0, count: $1, of: length, flags: [supply.1])
                }
                for number in 0..<UInt64(60) {
                    let offset = stream.word(2 * number) % length
                    let count = 1 + Int(stream.word(2 * number + 1) % 150)
                    reads.append(RangeRead(offset: offset, count: count, of: length, flags: [supply.1]))
                }
                return generated(
                    id: "\(supply.1.rawValue)/\(strategy.label)", flags: [supply.1], strategy: strategy,
                    key: key(index), plaintextByteCount: length, seed: UInt64(7700 + 10 * place + index),
                    windowByteCounts: [.max, 16, 32], reads: reads
                ).under(Circumstances(supply: supply.0))
            }
        }
    }

    /// Reads backward, again and again, and in turn with those of objects that have another key and IV.
    package static func orders() -> [VectorGroup] {
        smallStrategies.enumerated().flatMap { index, strategy in
            let length: UInt64 = strategy.padding == Padding.none ? 48 * 8 : 48 * 8 - 9
            func object(_ flag: VectorFlag, key number: Int, strategy: Strategy, ranges: [(UInt64, Int)]) -> VectorGroup
            {
                generated(
                    id: "\(flag.rawValue)/\(strategy.label)/key \(number)", flags: [flag], strategy: strategy,
                    key: key(number), plaintextByteCount: length, seed: UInt64(7800 + 10 * index + number),
                    windowByteCounts: [.max, 32],
                    reads: ranges.map { RangeRead(offset: $0, count: $1, of: length, flags: [flag]) })
            }
            let forward = stride(from: UInt64(0), to: length, by: 21).map { ($0, 21) }
            let backward = stride(from: UInt64(0), to: length, by: 7).reversed().flatMap { [($0, 7), ($0, 40)] }
            let repeated = forward.flatMap { range in
                [range, range, (range.0 + 3, 5), (range.0, 16), range, (range.0, 60), (range.0 + 16, 16)]
            }
            // The same key length in turn with itself and with another one.
            let others = [strategy.replacingIV(with: iv(9)), strategy, .ctr(iv: iv(10))].enumerated().map {
                place, other in
                object(.interleaved, key: index + 3 - place, strategy: other, ranges: place == 1 ? backward : forward)
            }
            return [
                object(.backwardRead, key: index, strategy: strategy, ranges: backward),
                object(.repeatedRead, key: index, strategy: strategy, ranges: repeated),
                object(.interleaved, key: index, strategy: strategy, ranges: forward + repeated)
                    .under(Circumstances(companions: others)),
            ]
        }
    }

    /// Everything in a small object that is read thousands of times, in an order that nobody would guess.
    package static func seekStorms() -> [VectorGroup] {
        smallStrategies.enumerated().map { index, strategy in
            let length: UInt64 = strategy.padding == Padding.none ? 4800 : 4801
            let stream = SplitMix64Stream(seed: UInt64(7900 + index))
            let reads = (0..<UInt64(2000)).map { number in
                RangeRead(
                    offset: stream.word(2 * number) % length, count: Int(stream.word(2 * number + 1) % 200), of: length,
                    flags: [.seekStorm])
            }
            return generated(
                id: "seek-storm/\(strategy.label)", flags: [.seekStorm], strategy: strategy, key: key(index),
                plaintextByteCount: length, seed: UInt64(7900 + index), windowByteCounts: [.max, 64], reads: reads)
        }
    }
}

extension Strategy {
    /// The same strategy from another IV.
    fileprivate func replacingIV(with iv: Block) -> Strategy {
        switch self {
        case .ctr: .ctr(iv: iv)
        case .cbcContinuous(_, let padding): .cbcContinuous(iv: iv, padding: padding)
        case .cbcChunked(let chunkByteCount, _, let ivRule, let padding):
            .cbcChunked(chunkByteCount: chunkByteCount, iv: iv, ivRule: ivRule, padding: padding)
        }
    }
}
