import ByteSources
package import RandomAccess
package import Support
package import Vectors

/// Some objects and reads of them, as a differential search draws them. Everything else follows from this value.
package struct SearchCase: Hashable, Sendable {
    /// One object.
    package struct Object: Hashable, Sendable {
        /// The strategy with its parameters.
        package var strategy: Strategy
        /// The key's bytes: 16, 24 or 32.
        package var key: [UInt8]
        /// The plaintext's length.
        package var plaintextByteCount: UInt64
        /// The seed from which the ciphertext is generated.
        package var seed: UInt64
    }

    /// One read.
    package struct Read: Hashable, Sendable {
        /// The object's index in the list.
        package var object: Int
        /// The plaintext offset.
        package var offset: UInt64
        /// The number of bytes to read.
        package var count: Int
        /// True if the source fails once before the read.
        package var failsFirst: Bool
    }

    /// The reader, its window, and the behaviour of its sources.
    package var setup: ReaderSetup
    /// The objects, all of which are open from the start.
    package var objects: [Object]
    /// The reads, in order.
    package var reads: [Read]

    /// The size of the case, which shrinking reduces; the most important part comes first.
    var size: [UInt64] {
        let parameters = objects.reduce(UInt64(0)) { $0 + $1.complexity } + (setup.complexity)
        return [
            UInt64(reads.count), UInt64(objects.count), sum(objects.map(\.plaintextByteCount)),
            sum(reads.map { UInt64($0.count) }), sum(reads.map(\.offset)), parameters,
        ]
    }

    private func sum(_ values: [UInt64]) -> UInt64 {
        values.reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
    }
}

extension SearchCase.Object {
    /// The distance of the parameters from the simplest ones.
    fileprivate var complexity: UInt64 {
        var result: UInt64 = key.count == 16 ? 0 : 2
        if seed != 0 { result += 1 }
        if key.contains(where: { $0 != 0 }) { result += 1 }
        if strategy.iv.bigEndianValue != 0 { result += 1 }
        if strategy.cipher != .aesCTR { result += 4 }
        if strategy.padding == .pkcs7 { result += 2 }
        guard let chunkByteCount = strategy.chunkByteCount else { return result }
        return result + 8 + (strategy.hasOneIV ? 0 : 1) + (chunkByteCount > 16 ? 1 : 0)
    }

    /// Returns the object as a group of vectors without reads.
    ///
    /// - Throws: `DecryptionError.invalidParameter`, `.unalignedPlaintext` for an impossible object.
    package func group(id: String) throws(DecryptionError) -> VectorGroup {
        let object = try generated()
        return VectorGroup(
            id: id, source: "differential search, seed \(seed)", flags: [.exhaustive], strategy: strategy,
            key: object.key, ciphertext: object.source, plaintext: object.plaintext)
    }

    fileprivate func generated() throws(DecryptionError) -> GeneratedObject {
        try GeneratedObject(
            strategy: strategy, key: SecretKey(key), plaintextByteCount: plaintextByteCount, seed: seed)
    }
}

extension ReaderSetup {
    /// The distance of the setup from the simplest one.
    fileprivate var complexity: UInt64 {
        var result: UInt64 = supply == .whole ? 0 : 1
        switch access {
        case .cursor(.max): break
        case .cursor: result += 1
        case .freshBuffers(.max): result += 2
        case .freshBuffers: result += 3
        case .wholeChunk: result += 4
        }
        return result
    }
}

extension SearchCase {
    /// The largest object whose bytes are written.
    private static let largestWrittenByteCount: UInt64 = 1 << 16

    /// Returns the case as the contents of a vector file, with one group for each object and its reads in order.
    ///
    /// Instead of their bytes, objects of more than 64 KiB have the description that generates them.
    ///
    /// - Throws: `DecryptionError` for an impossible object.
    package func vectorFile(id: String, source: String) throws(DecryptionError) -> JSONValue {
        var groups: [VectorGroup] = []
        for (index, object) in objects.enumerated() {
            let reads = reads.filter { $0.object == index }
            guard !reads.isEmpty || self.reads.isEmpty else { continue }
            let (generated, byteCount) = (try object.generated(), object.plaintextByteCount)
            groups.append(
                VectorGroup(
                    id: "\(id)/object \(index)", source: source, flags: [.seekStorm], strategy: object.strategy,
                    key: generated.key, ciphertext: generated.source, plaintext: generated.plaintext,
                    rule: byteCount > Self.largestWrittenByteCount ? .generated(generated) : nil,
                    interleaving: objects.count > 1 ? source : nil,
                    patterns: reads.map {
                        .single(RangeRead(offset: $0.offset, count: $0.count, of: byteCount, flags: [.seekStorm]))
                    }))
        }
        return try VectorWriter.json(of: groups, source: source)
    }
}

/// Draws a case from a seed and its number, the same one in every run.
struct SearchDraws {
    private let stream: SplitMix64Stream
    private var index: UInt64 = 0

    private init(seed: UInt64, number: Int) {
        // Each case has its own stream, so that it can be drawn without the cases before it.
        stream = SplitMix64Stream(seed: SplitMix64Stream(seed: seed).word(UInt64(number)))
    }

    /// Returns the case with a number.
    static func draw(seed: UInt64, number: Int) -> SearchCase {
        var draws = SearchDraws(seed: seed, number: number)
        return draws.searchCase()
    }

    private mutating func searchCase() -> SearchCase {
        // One case in two hundred has reads of megabytes.
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
            let index = Int(below(UInt64(objects.count)))
            reads.append(read(of: objects[index], index: index, isFaulty: supply == .faulty))
        }
        return SearchCase(setup: ReaderSetup(access, supply), objects: objects, reads: reads)
    }

    private mutating func object(size: UInt64) -> SearchCase.Object {
        let chunkByteCount: UInt64 = 16 * pick([1, 2, 3, 5, 8, 16, 33, 130, 256, 1 + below(64)])
        let strategy = pick(VectorSet.plain(chunkByteCount: chunkByteCount, iv: iv()))
        // One object in sixteen is too large for 31 to 36 bits.
        var length = below(16) == 0 ? (UInt64(1) << pick([31, 32, 35, 36])) + below(1 << 20) : below(size)
        if let chunk = strategy.chunkByteCount, below(3) == 0, length > chunk { length -= length % chunk }
        if strategy.padding == Padding.none || below(4) == 0 { length = length / 16 * 16 }
        let keyByteCount: Int = pick([16, 24, 32])
        return SearchCase.Object(
            strategy: strategy, key: (0..<keyByteCount).map { _ in UInt8(below(256)) }, plaintextByteCount: length,
            seed: below(1 << 20))
    }

    /// Returns any IV, or one that carries soon.
    private mutating func iv() -> Block {
        let value = UInt128(word()) << 64 | UInt128(word())
        guard below(2) == 0 else { return Block(bigEndianValue: value) }
        let bits: UInt128 = pick([7, 8, 16, 24, 31, 32, 63, 64, 96, 127, 128])
        let ones = bits == 128 ? UInt128.max : UInt128(1) << bits - 1
        return Block(bigEndianValue: (value | ones) - UInt128(below(20)))
    }

    private mutating func read(of object: SearchCase.Object, index: Int, isFaulty: Bool) -> SearchCase.Read {
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
        return SearchCase.Read(object: index, offset: offset, count: Int(count), failsFirst: isFaulty && below(2) == 0)
    }

    private mutating func word() -> UInt64 {
        defer { index += 1 }
        return stream.word(index)
    }

    private mutating func below(_ limit: UInt64) -> UInt64 { word() % max(1, limit) }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(below(UInt64(values.count)))] }
}
