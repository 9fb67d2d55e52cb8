internal import ByteSources
internal import RandomAccess

/// Objects of authenticated chunks that were tampered with.
extension VectorSet {
    /// An object of three and a half chunks, and what is done to it.
    private struct Target {
        let format: ChunkFormat
        let object: GeneratedObject
        let layout: OracleChunkLayout

        init(_ format: ChunkFormat, number: Int) {
            let (first, full) = VectorSet.capacities(format)
            let length = first + 2 * full + full / 2
            self.format = format
            self.layout = OracleChunkLayout(format, plaintextByteCount: length)
            self.object = VectorSet.made(format.name) { () throws(DecryptionError) in
                try GeneratedObject(
                    strategy: .chunked(format), key: VectorSet.key(number, for: format), plaintextByteCount: length,
                    seed: UInt64(20000 + number))
            }
        }

        var total: UInt64 { layout.ciphertextByteCount }

        /// A chunk's ciphertext and tag.
        func chunk(_ index: UInt64) -> Range<UInt64> {
            layout.ciphertextStart(
                ofChunk: index)..<(index == layout.chunkCount - 1 ? total : layout.ciphertextStart(ofChunk: index + 1))
        }

        /// A chunk's plaintext.
        func plaintext(_ index: UInt64) -> Range<UInt64> {
            let start = layout.plaintextStart(ofChunk: index)
            return start..<start + layout.byteCount(ofChunk: index)
        }

        /// The group of the object after some edits: one that does not open, or reads of which those fail that touch a
        /// chunk in `wrong`.
        func group(
            _ name: String, flag: VectorFlag, edits: CiphertextEdits, error: ErrorName? = nil, wrong: [UInt64] = []
        ) -> VectorGroup {
            let edited = VectorSet.made(name) { () throws(DecryptionError) in
                try VectorObject(object, edits: edits)
            }
            return VectorGroup(
                id: "tampered/\(flag.rawValue)/\(object.strategy.label)/\(name)",
                source: "generated, seed \(object.seed)", flags: [flag], strategy: object.strategy,
                key: object.key, ciphertext: edited.ciphertext,
                plaintext: error == nil ? edited.plaintext : GroupPlaintext([]), error: error, rule: edited.rule,
                patterns: error == nil ? reads(wrong: wrong, flag: flag).map(ReadPattern.single) : [])
        }

        /// Reads of every chunk, from one into the next, and of all; twice, so that nothing is remembered.
        private func reads(wrong: [UInt64], flag: VectorFlag) -> [RangeRead] {
            let length = layout.plaintextByteCount
            var ranges: [(UInt64, Int)] = [(0, Int(length))]
            for index in 0..<layout.chunkCount {
                let range = plaintext(index)
                ranges += [
                    (range.lowerBound, 1), (range.lowerBound + 100, 17), (range.upperBound - 1, 1),
                    (range.lowerBound, range.count), (range.upperBound - 1, 2),
                ]
            }
            return ["first", "again"].flatMap { label in
                ranges.map { offset, count in
                    let end = min(offset + UInt64(count), length)
                    let isWrong = wrong.contains {
                        plaintext($0).lowerBound < end && plaintext($0).upperBound > offset
                    }
                    return RangeRead(
                        label: label, flags: [flag], offset: offset, count: count,
                        expected: isWrong ? .error(.authenticationFailed) : .plaintext(byteCount: Int(end - offset)))
                }
            }
        }

        /// The chunks in some order, after the header; `nil` stands for one of another object's.
        func rearranged(_ order: [UInt64], foreign: UInt64? = nil) -> CiphertextEdits {
            CiphertextEdits(
                pieces: [.init(0..<layout.headerByteCount)]
                    + order.map { .init(chunk($0), seed: $0 == foreign ? object.seed + 1000 : nil) })
        }

        var whole: CiphertextEdits.Piece { .init(0..<total) }
    }

    private static var targets: [Target] { chunkFormats.enumerated().map { Target($1, number: $0) } }

    /// A flipped bit in each part of each chunk.
    package static func chunkTags() -> [VectorGroup] {
        targets.flatMap { target in
            (0..<target.layout.chunkCount).flatMap { index in
                let chunk = target.chunk(index)
                let offsets = [
                    ("first byte", chunk.lowerBound), ("byte 1000", chunk.lowerBound + 1000),
                    ("last byte", chunk.upperBound - 17), ("tag's first byte", chunk.upperBound - 16),
                    ("tag's last byte", chunk.upperBound - 1),
                ]
                return offsets.map { name, offset in
                    target.group(
                        "chunk \(index)/\(name)", flag: .chunkTag,
                        edits: CiphertextEdits(pieces: [target.whole], flips: [offset]),
                        error: index == target.layout.chunkCount - 1 ? .authenticationFailed : nil, wrong: [index])
                }
            }
        }
    }

    /// Chunks that stand where others belong.
    package static func chunkOrders() -> [VectorGroup] {
        let orders: [(name: String, order: [UInt64], foreign: UInt64?, wrong: [UInt64]?)] = [
            ("1 and 2 swapped", [0, 2, 1, 3], nil, [1, 2]), ("1 twice", [0, 1, 1, 3], nil, [2]),
            ("1 of another object", [0, 1, 2, 3], 1, [1]), ("without 1", [0, 2, 3], nil, nil),
            ("the last of another object", [0, 1, 2, 3], 3, nil), ("3 before 2", [0, 1, 3, 2], nil, nil),
            ("2 as the last", [0, 1, 2], nil, nil),
        ]
        return targets.flatMap { target in
            orders.prefix(target.format.hasFullLastChunk ? 7 : 6).map { name, order, foreign, wrong in
                target.group(
                    name, flag: .chunkOrder, edits: target.rearranged(order, foreign: foreign),
                    error: wrong == nil ? .authenticationFailed : nil, wrong: wrong ?? [])
            }
        }
    }

    /// Ciphertexts whose end, or more, is missing.
    package static func truncations() -> [VectorGroup] {
        targets.flatMap { target in
            let header = target.layout.headerByteCount
            var lengths: [(UInt64, ErrorName)] = [0, 1, header - 1, header, header + 1, header + 15].map {
                ($0, .truncatedCiphertext)
            }
            lengths.append((header + 16, .authenticationFailed))
            for index in 0..<target.layout.chunkCount - 1 {
                let end = target.chunk(index).upperBound
                // A tag whose rest is missing is too short for a chunk only where the next one begins.
                lengths += [
                    (end - 1, .authenticationFailed),
                    (end, target.format.hasFullLastChunk ? .authenticationFailed : .truncatedCiphertext),
                    (end + 1, .truncatedCiphertext), (end + 15, .truncatedCiphertext),
                    (end + 16, .authenticationFailed),
                    (end + 1000, .authenticationFailed),
                ]
            }
            lengths += [1, 15, 16, 17].map { (target.total - $0, .authenticationFailed) }
            return lengths.map { length, error in
                target.group(
                    "cut to \(length)", flag: .truncatedChunks, edits: CiphertextEdits(pieces: [.init(0..<length)]),
                    error: error)
            }
        }
    }

    /// Ciphertexts with something behind their end.
    package static func trailingData() -> [VectorGroup] {
        targets.flatMap { target in
            let last = target.chunk(target.layout.chunkCount - 1)
            let extras: [(String, Range<UInt64>)] = [
                ("a byte", 0..<1), ("a tag's length", 0..<16), ("its last tag", target.total - 16..<target.total),
                ("its last chunk", last), ("its first chunk", target.chunk(0)), ("itself", 0..<target.total),
            ]
            return extras.map { name, range in
                target.group(
                    "followed by \(name)", flag: .trailingData,
                    edits: CiphertextEdits(pieces: [target.whole, .init(range)]), error: .authenticationFailed)
            }
        }
    }

    /// Headers that are damaged, and keys and contexts that are others.
    package static func headerChecks() -> [VectorGroup] {
        targets.flatMap { target in
            let header = target.layout.headerByteCount
            let flips: [UInt64] = [0, 1, header / 2 - 5, header / 2 - 4, header - 2, header - 1]
            var groups = flips.map { offset in
                target.group(
                    "byte \(offset)", flag: .headerCheck,
                    edits: CiphertextEdits(pieces: [target.whole], flips: [offset]), error: .authenticationFailed)
            }
            for (name, strategy, key) in others(than: target.format) {
                let small = try? GeneratedObject(
                    strategy: .chunked(target.format), key: target.object.key, plaintextByteCount: 40, seed: 21000)
                guard let bytes = small.flatMap({ try? $0.source.bytes() }) else { continue }
                groups.append(
                    failing(
                        id: "tampered/HeaderCheck/\(Strategy.chunked(target.format).label)/\(name)",
                        flag: .headerCheck, strategy: strategy, key: key ?? target.object.key, ciphertext: bytes,
                        error: .authenticationFailed))
            }
            return groups
        }
    }

    /// The same format with another context, and with another key (`nil` for the same).
    private static func others(than format: ChunkFormat) -> [(String, Strategy, SecretKey?)] {
        let another: ChunkFormat
        switch format {
        case .cobblestone(let keyByteCount, let context):
            another = .cobblestone(keyByteCount: keyByteCount, context: context + [0])
        case .tinkAESGCMHKDF(let data, let segmentByteCount, let keyByteCount):
            another = .tinkAESGCMHKDF(
                associatedData: data + [0], segmentByteCount: segmentByteCount, derivedKeyByteCount: keyByteCount)
        }
        return [
            ("another context", .chunked(another), nil), ("another key", .chunked(format), key(7, for: format)),
        ]
    }
}

extension ChunkFormat {
    /// Whether an object may end with a full chunk.
    fileprivate var hasFullLastChunk: Bool {
        if case .tinkAESGCMHKDF = self { true } else { false }
    }
}
