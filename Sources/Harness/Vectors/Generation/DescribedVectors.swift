import ByteSources
package import RandomAccess
internal import Support

/// The vectors derived from the descriptions of formats.
package struct DescribedVectors: Sendable {
    /// The formats' strategies: with every key length, and with every parameter at its limits, one at a time.
    let strategies: [Keyed]

    /// Finds the strategies of formats.
    ///
    /// - Throws: `DecryptionError.unsupported` for a format whose objects the oracle cannot write.
    package init(_ formats: [Format]) throws(DecryptionError) {
        var strategies: [Keyed] = []
        for format in formats {
            let own = Self.strategies(of: format)
            guard !own.isEmpty else {
                throw .unsupported(
                    "vectors of \(format.name): expected a description that says what all parts of an object are, "
                        + "chunks of at most 64 KiB, and checks that some value of each parameter passes")
            }
            strategies += own
        }
        self.strategies = strategies
    }

    /// Known formats that are more than a mode of operation over chunks, and whose objects the oracle can write. The
    /// others are tested only with objects that their own tools made.
    static let known = known { _ in true }

    /// The same for formats of some names.
    static func known(where isWanted: (_ name: String) -> Bool) -> DescribedVectors {
        let formats = Format.known.filter {
            isWanted($0.name) && !VectorSet.isPlain($0) && !strategies(of: $0).isEmpty
        }
        return VectorSet.made("the formats that come with the program") { () throws(DecryptionError) in
            try DescribedVectors(formats)
        }
    }

    /// All vectors.
    ///
    /// - Throws: `DecryptionError` for a format whose objects the oracle turns out not to be able to write.
    package func groups() throws(DecryptionError) -> [VectorGroup] {
        try lengths(of: strategies) + counters(of: strategies) + tampered() + strangers() + endsWithNothing()
    }

    /// Returns the vectors for mutants: fewer reads, which notice the same faults.
    ///
    /// - Throws: The errors of ``groups()``.
    package func chosenGroups() throws(DecryptionError) -> [VectorGroup] {
        try tampered() + strangers() + endsWithNothing() + counters(of: strategies)
            + lengths(of: strategies).map { $0.choosingEvery(3) }
    }

    /// The max number of bytes that a file holds of an object.
    static let maxHeldByteCount = 1 << 15

    /// The key lengths for formats that take any length: those of AES, and one that is longer.
    private static let anyKeyByteCounts = [16, 24, 32, 80]

    /// Returns a format's usual strategy with keys of each length, and strategies with one value changed and the
    /// shortest key.
    static func strategies(of format: Format) -> [Keyed] {
        let keys = (format.keyByteCounts ?? anyKeyByteCounts).enumerated().map { VectorSet.material($1, number: $0) }
        return variants(of: format).enumerated().flatMap { number, strategy in
            let keyed = keys.compactMap { Keyed(strategy, $0) }.filter(\.isShort)
            return number == 0 ? keyed[...] : keyed.prefix(1)
        }
    }

    /// Returns a format's usual strategy, and strategies with one value changed.
    package static func variants(of format: Format) -> [Strategy] {
        let usual = Strategy(sampling: format)
        return [usual]
            + format.inputs.filter { !$0.isFixed }.flatMap { input in
                input.ends.filter { $0 != usual[input.name] }.map { usual.replacing(input.name, with: $0) }
            }
    }

    /// The first strategy of each format, and those that differ in more than numbers and keys, the first of each kind.
    /// Variants of a description have their kinds in common. Chunks have at most 4 KiB if the format allows that, since
    /// each object is tampered with in many ways.
    var kinds: [Keyed] {
        var names: Set<String> = []
        var seen: Set<[[UInt8]]> = []
        return strategies.filter { keyed in
            let strategy = keyed.strategy
            let words = strategy.format.inputs.compactMap { input -> [UInt8]? in
                if case .text = input.kind { strategy[input.name]?.bytes?.array } else { nil }
            }
            let (isFirst, _) = names.insert(strategy.name)
            return seen.insert([strategy.format.text] + words).inserted || isFirst
        }.map { keyed in
            guard keyed.full > Self.maxKindByteCount else { return keyed }
            return Keyed(keyed.strategy.withChunks(of: Self.maxKindByteCount), keyed.key) ?? keyed
        }
    }

    private static let maxKindByteCount: UInt64 = 4096

    /// Returns the group of a computed object.
    private static func group(
        _ id: String, _ keyed: Keyed, flags: [VectorFlag], plaintextByteCount: UInt64, seed: UInt64,
        patterns: [ReadPattern]
    ) throws(DecryptionError) -> VectorGroup {
        try VectorSet.computed(
            id: "formats/\(id)/\(keyed.label)/length=\(plaintextByteCount)", flags: flags, strategy: keyed.strategy,
            key: keyed.key, plaintextByteCount: plaintextByteCount, seed: seed, patterns: patterns)
    }

    /// Returns plaintext lengths around whole chunks.
    private static func usualLengths(_ keyed: Keyed) -> [UInt64] {
        let (first, full, unit) = (keyed.first, keyed.full, keyed.unit)
        return [
            0, 1, 16, unit, first - min(first, unit), first - 1, first, first + unit, first + 1, first + full - 1,
            first + full, first + full + unit, first + full + 1, first + 2 * full + 17, first + 2 * full + unit,
        ]
    }

    /// Returns objects of all these lengths around whole chunks, or of the `wanted` ones.
    func lengths(
        of strategies: [Keyed], _ wanted: (Keyed) -> [UInt64] = Self.usualLengths
    ) throws(DecryptionError) -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for (index, keyed) in strategies.enumerated() {
            let (first, full) = (keyed.first, keyed.full)
            let lengths = wanted(keyed).filter { $0 % keyed.unit == 0 && keyed.canHold($0) }
            // A parameter that leaves all lengths as they are needs not be tested at every edge.
            let usual = strategies.first { $0.strategy.name == keyed.strategy.name }
            let step = usual.map { $0.strategy != keyed.strategy && $0.isLaidOut(like: keyed) } ?? false ? 2 : 1
            for (number, length) in Set(lengths).sorted().enumerated() where number % step == 0 {
                for seed in keyed.strategy.format.seeds(from: UInt64(30_000 + 100 * index + number)) {
                    var flags: [VectorFlag] = [.chunkEdge, .keyLength]
                    if length == 0 { flags.append(.emptyObject) }
                    if keyed.strategy.format.key.expression != .name("key") { flags.append(.keyDerivation) }
                    groups.append(
                        try Self.group(
                            "lengths", keyed, flags: flags, plaintextByteCount: length, seed: seed,
                            patterns: VectorSet.edgeReads(
                                of: length, edges: [first, first + full, first + 2 * full], full: full)))
                }
            }
        }
        return groups.named()
    }

    /// Returns objects with so many chunks that chunk numbers take more than one, two and three bytes.
    func counters(of strategies: [Keyed]) throws(DecryptionError) -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for (index, keyed) in strategies.enumerated() {
            let (first, full, unit) = (keyed.first, keyed.full, keyed.unit)
            // A single chunk that is opened whole has no number, and would have to be held in memory.
            guard keyed.strategy.isStreaming || keyed.strategy.chunkByteCount != nil else { continue }
            for (number, count) in [UInt64(1) << 8, 1 << 16, 1 << 24].enumerated() {
                let edge = first + (count - 1) * full
                let length = edge + full + (unit == 1 ? 100 : unit)
                guard keyed.canHold(length) else { continue }
                groups.append(
                    try Self.group(
                        "chunk-counters", keyed, flags: [.chunkCounter], plaintextByteCount: length,
                        seed: UInt64(40_000 + 10 * index + number),
                        patterns: [
                            .product(
                                offsets: [
                                    0...0, edge - full - 1...edge - full, edge - 1...edge + 1, length - 1...length,
                                ], counts: [1, 33], flags: [.chunkCounter]),
                            .product(
                                offsets: [edge - 100...edge - 100], counts: [Int(full) + 200], flags: [.chunkCounter]),
                        ]))
            }
        }
        return groups.named()
    }
}

extension DescribedVectors {
    /// A strategy with the key and the lengths of its objects.
    struct Keyed: Sendable {
        let strategy: Strategy
        let key: SecretKey
        let sizes: OracleSizes

        /// Computes the lengths; `nil` for a strategy that the format or the oracle does not accept.
        init?(_ strategy: Strategy, _ key: SecretKey) {
            guard (try? strategy.validate()) != nil, (try? strategy.check(key)) != nil,
                let sealer = try? GeneratedObject.sealer(strategy, key: key, plaintextByteCount: 0, seed: 0)
            else { return nil }
            (self.strategy, self.key, sizes) = (strategy, key, sealer.object.sizes)
            // The oracle does not know all chunks in a table.
            guard strategy.hasWholeChunks || canHold(unit) && (try? object(unit, seed: 0)) != nil else { return nil }
        }

        /// Says whether chunks have the same positions as those of another strategy.
        func isLaidOut(like other: Keyed) -> Bool {
            sizes.isLike(other.sizes)
                && (try? strategy.dataStart(chunkCount: 1)) == (try? other.strategy.dataStart(chunkCount: 1))
        }

        /// False if chunks or headers are longer than 64 KiB, which would only make vectors longer.
        var isShort: Bool { (isWhole || sizes.full <= 1 << 16) && sizes.start <= 1 << 16 }

        private var isWhole: Bool { sizes.full == OracleSizes.whole }

        /// The number of plaintext bytes in the first chunk; a file of one chunk is treated as pages.
        var first: UInt64 { isWhole ? 4096 : UInt64(clamping: sizes.first) }

        /// The number of plaintext bytes in a full chunk.
        var full: UInt64 { isWhole ? 4096 : sizes.fullByteCount }

        /// The unit of which every plaintext length is a multiple.
        var unit: UInt64 { isWhole ? 16 : sizes.isPadded ? 1 : UInt64(clamping: sizes.unit) }

        /// The plaintext length of an object to be tampered with: the first chunk, two full ones, and about half a
        /// chunk.
        var tamperedByteCount: UInt64 { first + 2 * full + max(unit, (full / 2 + 5) / unit * unit) }

        /// The strategy's name in groups, with the key length if it can vary.
        var label: String {
            strategy.label + (strategy.format.keyByteCounts?.count == 1 ? "" : " key=\(key.byteCount)")
        }

        /// Says whether an object can have a length: some formats limit the number of chunks.
        func canHold(_ length: UInt64) -> Bool {
            // A table has at least one chunk.
            (try? sizes.written(ofPlaintext: length)).map { $0.chunkCount > 0 || strategy.hasWholeChunks } ?? false
        }

        /// Returns a computed object.
        func object(_ byteCount: UInt64, seed: UInt64) throws(DecryptionError) -> GeneratedObject {
            try GeneratedObject(strategy: strategy, key: key, plaintextByteCount: byteCount, seed: seed)
        }
    }
}

/// Objects that were tampered with.
extension DescribedVectors {
    /// An object to be tampered with, and the seed of another one with the same alternatives in its header.
    private struct Tampered {
        let original: GeneratedObject
        let target: TamperTarget
        let otherSeed: UInt64
    }

    /// Returns objects of one kind: one for each set of fields that its headers can have.
    private static func tampered(_ keyed: Keyed, from number: UInt64) throws(DecryptionError) -> [Tampered] {
        guard keyed.canHold(keyed.tamperedByteCount) else { return [] }
        var seen: Set<[String]> = []
        var objects: [Tampered] = []
        for seed in keyed.strategy.format.seeds(from: number) {
            let otherSeed = seed + 1000 * keyed.strategy.format.alternativeCount
            let original = try keyed.object(keyed.tamperedByteCount, seed: seed)
            let target = try TamperTarget(
                original, other: try keyed.object(keyed.tamperedByteCount, seed: otherSeed))
            guard seen.insert(target.headerFields.filter { !$0.range.isEmpty }.map(\.name)).inserted else { continue }
            objects.append(Tampered(original: original, target: target, otherSeed: otherSeed))
        }
        return objects
    }

    /// Returns a few cases of each kind of tampering, on objects of each kind.
    private func tampered() throws(DecryptionError) -> [VectorGroup] {
        let parts = Parallel.map(Array(kinds.enumerated())) { index, keyed in
            Result { () throws(DecryptionError) in try Self.tamperedGroups(keyed, from: UInt64(50_000 + index)) }
        }
        var groups: [VectorGroup] = []
        for part in parts { groups += try part.get() }
        return try (groups + holes()).named()
    }

    private static func tamperedGroups(
        _ keyed: Keyed, from number: UInt64
    ) throws(DecryptionError) -> [VectorGroup] {
        let objects = try tampered(keyed, from: number)
        var groups: [VectorGroup] = []
        for object in objects {
            for one in object.target.someCases {
                groups.append(
                    try group(object.original, one, edits: one.content.joined.edits(otherSeed: object.otherSeed)))
            }
        }
        // After a full last chunk, a reader may look for another one, or for nothing.
        let byteCount = keyed.first + keyed.full
        guard let otherSeed = objects.first?.otherSeed, keyed.strategy.chunkByteCount != nil,
            !keyed.strategy.format.isLastNeverFull, keyed.canHold(byteCount)
        else { return groups }
        let full = try keyed.object(byteCount, seed: otherSeed)
        for one in try TamperTarget(full, other: full).someCases where one.kind == .extend {
            groups.append(
                try group(full, one, edits: one.content.joined.edits(otherSeed: otherSeed), of: "a full end"))
        }
        return groups
    }

    /// Returns objects that are opened with another key or another binding, if opening notices that.
    private func strangers() throws(DecryptionError) -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for (index, keyed) in kinds.enumerated() {
            let (strategy, key, unit) = (keyed.strategy, keyed.key, keyed.unit)
            let byteCount = max(unit, 40 / unit * unit)
            guard keyed.canHold(byteCount) else { continue }
            let bytes = try keyed.object(byteCount, seed: UInt64(21_000 + index)).source.bytes()
            var others = [("another key", strategy, VectorSet.material(key.byteCount, number: 7))]
            if let binding = strategy.binding {
                others.append(("another binding", strategy.bound(to: binding + [0]), key))
            }
            for (name, other, key) in others {
                do throws(DecryptionError) {
                    _ = try Oracle(strategy: other, key: key).plaintextByteCount(of: MemorySource(bytes))
                } catch {
                    groups.append(
                        VectorSet.failing(
                            id: "formats/strangers/\(keyed.label)/\(name)", flag: .headerCheck,
                            strategy: other, key: key, ciphertext: bytes, error: ErrorName(error)))
                }
            }
        }
        return groups
    }

    /// Returns objects of each kind, to be tampered with in every way: one for each set of fields in the header.
    ///
    /// - Throws: The errors of ``groups()``.
    package func tamperTargets() throws(DecryptionError) -> [TamperTarget] {
        var targets: [TamperTarget] = []
        for (number, keyed) in kinds.enumerated() {
            for (header, object) in try Self.tampered(keyed, from: UInt64(23_000 + number)).enumerated() {
                targets.append(header == 0 ? object.target : object.target.named("header \(header + 1)"))
            }
        }
        return targets
    }

    /// Returns the group of a tampered object: one that does not open, or reads of each chunk and of the whole.
    private static func group(
        _ object: GeneratedObject, _ one: TamperCase, edits: CiphertextEdits, of kind: String? = nil
    ) throws(DecryptionError) -> VectorGroup {
        let edited = try VectorObject(object, edits: edits)
        let error = one.openingErrors.first
        // Only these vectors show that a reader knows holes, so every choice of vectors includes them all.
        let isHole = one.location.hasSuffix(TamperTarget.holeName)
        var flags = [one.kind.flag]
        // In some formats the header overlaps the first chunk.
        let start = try object.source.bytes(0..<min(object.headerByteCount, object.source.byteCount))
        if one.kind == .flip, !one.content.bytes.starts(with: start) { flags.append(.headerCheck) }
        return VectorGroup(
            id: "\(isHole ? VectorSet.shortListPrefix : "")formats/tampered/\(object.strategy.label)/"
                + "\(kind.map { "\($0), " } ?? "")\(one.name)",
            source: "generated, seed \(object.seed)", flags: flags, strategy: object.strategy, key: object.key,
            ciphertext: edited.ciphertext, plaintext: error == nil ? edited.plaintext : GroupPlaintext([]),
            error: error, rule: edited.rule,
            patterns: error == nil ? try reads(of: edited, object, one, flags: flags).map(ReadPattern.single) : [])
    }

    /// Returns reads of an object. Each expects the error of the first chunk that the oracle rejects.
    private static func reads(
        of edited: VectorObject, _ object: GeneratedObject, _ one: TamperCase, flags: [VectorFlag]
    ) throws(DecryptionError) -> [RangeRead] {
        let (source, length) = (edited.ciphertext, edited.plaintext.byteCount)
        let opened = try object.oracle.object(source)
        var chunks: [(plaintext: Range<UInt64>, error: ErrorName?)] = []
        for index in 0..<opened.chunkCount {
            let start = opened.sizes.plaintextStart(ofChunk: index)
            let end = index + 1 == opened.chunkCount ? length : opened.sizes.plaintextStart(ofChunk: index + 1)
            var error: ErrorName?
            do throws(DecryptionError) { try opened.check(index, of: source) } catch let found {
                error = ErrorName(found)
            }
            chunks.append((start..<end, error))
        }
        var ranges: [(offset: UInt64, count: Int)] = [(0, Int(length))]
        for (plaintext, _) in chunks where !plaintext.isEmpty {
            ranges += [(plaintext.lowerBound, 17), (plaintext.upperBound - 1, 2)]
        }
        ranges.append((length, 1))
        // A reader may notice a foreign chunk by its first bytes only, or beside a chunk that belongs there.
        if flags.contains(.chunkOrder), object.strategy.isAuthenticated,
            let foreign = chunks.map(\.plaintext).first(where: { $0.contains(UInt64(one.touched.first ?? 0)) })
        {
            let half = UInt64(foreign.count) / 2
            if half > 1 { ranges.append((foreign.lowerBound + half, Int(min(17, half - 1)))) }
        }
        return ranges.map { offset, count in
            let end = min(offset + UInt64(count), length)
            let error = chunks.first {
                $0.error != nil && $0.plaintext.lowerBound < end && $0.plaintext.upperBound > offset
            }?.error
            let expected = error.map(RangeRead.Expectation.error) ?? .plaintext(byteCount: Int(end - offset))
            return RangeRead(flags: flags, offset: offset, count: count, expected: expected)
        }
    }
}

extension TamperKind {
    /// The class of bugs for vectors with such a tampering.
    fileprivate var flag: VectorFlag {
        switch self {
        case .flip: .chunkTag
        case .swap, .repeat, .splice: .chunkOrder
        case .truncate: .truncatedChunks
        case .extend: .trailingData
        case .header: .headerCheck
        }
    }
}

extension Format {
    /// The number of combinations of header alternatives: two seeds whose difference is a multiple of it select the
    /// same ones, as long as there are fewer than 2^32.
    package var alternativeCount: UInt64 {
        self.header.reduce(1) { min(1 << 32, $0 * UInt64(max(1, $1.content.count))) }
    }

    /// Returns seeds for objects with different alternatives, at most four. With *k* alternatives, a seed selects
    /// number seed mod *k*.
    func seeds(from number: UInt64) -> [UInt64] {
        let count = self.header.reduce(1) { min(4, $0 * UInt64(max(1, $1.content.count))) }
        return (0..<count).map { number * count + $0 }
    }
}

extension Format.Input {
    /// The values at the limits of the input: the smallest, the next one and the largest; each length; each word and
    /// each number of a list.
    var ends: [Value] {
        switch kind {
        case .integer(_, _, let list) where !list.isEmpty: return list.map { .integer(Int128($0)) }
        case .integer(let range, let unit, _):
            let least = range.lowerBound / unit * unit + (range.lowerBound % unit == 0 ? 0 : unit)
            return Set([least, least + unit, range.upperBound / unit * unit]).sorted().map {
                .integer(Int128($0))
            }.filter(accepts)
        case .bytes(let counts):
            return (counts ?? [0, 1, 33]).map { .bytes(ByteString(VectorSet.streamBytes(seed: 29_000, count: $0))) }
        case .text(let words): return words.map(Value.text)
        }
    }
}

extension [VectorGroup] {
    /// Returns the groups, with a number added to names that repeat.
    fileprivate func named() -> [VectorGroup] {
        var counts: [String: Int] = [:]
        return map { group in
            counts[group.id, default: 0] += 1
            let count = counts[group.id] ?? 1
            return count == 1 ? group : group.renamed("\(group.id)/\(count)")
        }
    }
}
