internal import ByteSources
internal import RandomAccess

/// Draws a case from a seed and its number: the same one in every run.
struct SearchDraws {
    private let stream: SplitMix64Stream
    private var index: UInt64 = 0

    private init(seed: UInt64, number: Int) {
        // Each case has a stream of its own, so that it can be drawn without those before it.
        stream = SplitMix64Stream(seed: SplitMix64Stream(seed: seed).word(UInt64(number)))
    }

    /// The case of a number.
    static func draw(seed: UInt64, number: Int) -> SearchCase {
        var draws = SearchDraws(seed: seed, number: number)
        return draws.searchCase()
    }

    private mutating func searchCase() -> SearchCase {
        // One case in two hundred is about reads of megabytes.
        let size: UInt64 = below(200) == 0 ? 6 << 20 : pick([40, 100, 700, 5000, 70_000])
        let objects = (0..<pick([1, 1, 1, 2, 3])).map { _ in object(size: size) }
        let window: Int = pick([.max, .max, 16, 32, 48, 100, 256, 4096])
        let access: ReaderSetup.Access =
            switch below(6) {
            case 0: .freshBuffers(windowByteCount: window)
            case 1 where objects.allSatisfy({ $0.plaintextByteCount <= 1 << 17 }):
                .wholeChunk(byteCount: min(window, 4096))
            default: .cursor(windowByteCount: window)
            }
        let supply: ReaderSetup.Supply =
            switch below(6) {
            case 0: .shortReads(largest: 1 + Int(below(40)))
            case 1: .faulty
            default: .whole
            }
        var reads: [SearchCase.Read] = []
        for _ in 0..<(1 + below(12)) {
            if let last = reads.last, below(5) == 0 {
                reads.append(last)
                continue
            }
            let place = Int(below(UInt64(objects.count)))
            reads.append(read(of: objects[place], at: place, isFaulty: supply == .faulty))
        }
        return SearchCase(setup: ReaderSetup(access, supply), objects: objects, reads: reads)
    }

    private mutating func object(size: UInt64) -> SearchCase.Object {
        let padding = pick(Padding.allCases)
        let iv = iv()
        let strategy: Strategy
        switch below(3) {
        case 0: strategy = .ctr(iv: iv)
        case 1: strategy = .cbcContinuous(iv: iv, padding: padding)
        default:
            let chunkByteCount: UInt64 = 16 * pick([1, 2, 3, 5, 8, 16, 33, 130, 256, 1 + below(64)])
            strategy = .cbcChunked(
                chunkByteCount: chunkByteCount, iv: iv, ivRule: pick(IVRule.allCases), padding: padding)
        }
        // One object in sixteen is too large for 31 to 36 bits.
        var length = below(16) == 0 ? (UInt64(1) << pick([31, 32, 35, 36])) + below(1 << 20) : below(size)
        if let chunk = strategy.chunkByteCount, below(3) == 0, length > chunk { length -= length % chunk }
        if strategy.padding == Padding.none || below(4) == 0 { length = length / 16 * 16 }
        let keyByteCount: Int = pick([16, 24, 32])
        return SearchCase.Object(
            strategy: strategy, key: (0..<keyByteCount).map { _ in UInt8(below(256)) }, plaintextByteCount: length,
            seed: below(1 << 20))
    }

    /// Any IV, or one that carries soon.
    private mutating func iv() -> Block {
        let value = UInt128(word()) << 64 | UInt128(word())
        guard below(2) == 0 else { return Block(bigEndianValue: value) }
        let bits: UInt128 = pick([7, 8, 16, 24, 31, 32, 63, 64, 96, 127, 128])
        let ones = bits == 128 ? UInt128.max : UInt128(1) << bits - 1
        return Block(bigEndianValue: (value | ones) - UInt128(below(20)))
    }

    private mutating func read(of object: SearchCase.Object, at place: Int, isFaulty: Bool) -> SearchCase.Read {
        let length = object.plaintextByteCount
        var edges: [UInt64] = [0, length, length / 16 * 16]
        if let chunk = object.strategy.chunkByteCount, length > 0 { edges.append(below(length / chunk + 1) * chunk) }
        edges += [31, 32, 35, 36].map { UInt64(1) << $0 }.filter { $0 < length }
        var offset = below(length + 1)
        if below(2) == 0 {
            let (edge, step) = (pick(edges), below(40))
            offset = below(2) == 0 ? edge + step : edge - min(edge, step)
        }
        let blocks: UInt64 = pick([0, 0, 1, 2, 8, 16, 32, 64, 128, below(140)])
        var count = below(3) == 0 ? below(40) : 16 * blocks + below(34)
        if length > 1 << 20, length < 1 << 24, below(3) == 0 { count = below(length) }
        return SearchCase.Read(object: place, offset: offset, count: Int(count), failsFirst: isFaulty && below(2) == 0)
    }

    private mutating func word() -> UInt64 {
        defer { index += 1 }
        return stream.word(index)
    }

    private mutating func below(_ limit: UInt64) -> UInt64 { word() % max(1, limit) }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(below(UInt64(values.count)))] }
}
