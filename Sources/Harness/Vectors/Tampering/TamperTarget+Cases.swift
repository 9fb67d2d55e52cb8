import ByteSources
import RandomAccess

extension TamperTarget {
    /// Every tampering of the object, derived from the positions of its parts. No two have the same result.
    package var cases: [TamperCase] {
        var drafts = Drafts(original: original)
        addTruncations(to: &drafts)
        addExtensions(to: &drafts)
        addFlips(to: &drafts)
        addSwaps(to: &drafts)
        addRepetitions(to: &drafts)
        addSplices(to: &drafts)
        addHeaderDamages(to: &drafts)
        return judged(drafts)
    }

    /// Returns the cases of drafts, each result once: two formulas can have the same result in a short object.
    func judged(_ drafts: Drafts) -> [TamperCase] {
        var seen: Set<TamperContent> = [whole(original)]
        return drafts.list.compactMap { draft in
            guard seen.insert(whole(draft.content)).inserted else { return nil }
            let (errors, touched) = (openingErrors(of: draft.content), touched(by: draft.content))
            return TamperCase(
                kind: draft.kind, location: draft.location, content: draft.content, openingErrors: errors,
                isNoticed: !errors.isEmpty || isRefused(draft.content, from: touched.first ?? 0), touched: touched)
        }
    }

    /// Returns a content as it is stored: a single ciphertext does not show the borders of its parts.
    private func whole(_ content: TamperContent) -> TamperContent {
        isJoined ? TamperContent(chunks: [content.joined], damagedIVByte: content.damagedIVByte) : content
    }

    /// Says whether the oracle rejects the object or any of its chunks. It checks the chunk at a plaintext offset
    /// first.
    private func isRefused(_ content: TamperContent, from offset: Int) -> Bool {
        guard case .object(let strategy, let key) = form, strategy.isAuthenticated else { return false }
        let source = MemorySource(content.bytes)
        guard let object = try? OracleObject(strategy, key: key, source: source, isChecked: true) else { return true }
        guard object.chunkCount > 0 else { return false }
        let first = min(object.sizes.chunk(at: UInt64(offset)), object.chunkCount - 1)
        let order = Array(first..<object.chunkCount) + Array(0..<first)
        return order.contains { index in (try? object.check(index, of: source)) == nil }
    }

    /// Tamperings: the kind, the location, and the result.
    struct Drafts {
        let original: TamperContent
        private(set) var list: [(kind: TamperKind, location: String, content: TamperContent)] = []

        /// Adds a tampering that changes the original as `change` does.
        mutating func add(_ kind: TamperKind, _ location: String, _ change: (inout TamperContent) -> Void) {
            var content = original
            change(&content)
            list.append((kind, location, content))
        }
    }

    /// Returns the oracle's errors in opening a content.
    private func openingErrors(of content: TamperContent) -> [ErrorName] {
        switch form {
        case .playlist(let playlist): return playlist.errors(of: content)
        case .object:
            let group = group(of: content)
            do throws(DecryptionError) {
                _ = try Oracle(strategy: group.strategy, key: group.key).plaintextByteCount(of: group.ciphertext)
                return []
            } catch {
                return [ErrorName(error)]
            }
        }
    }

    /// Returns the plaintext offsets of the first and the last changed ciphertext byte.
    private func touched(by content: TamperContent) -> [Int] {
        guard content.damagedIVByte == nil else { return [0] }
        if isJoined {
            let (old, new) = (original.bytes, content.bytes)
            return Self.differences(old, new).map(plaintextOffset)
        }
        let indices = original.chunks.indices.filter { original.chunks[$0] != content.chunks[$0] }
        guard let first = indices.first, let last = indices.last else { return [] }
        func offset(_ index: Int, _ pick: ([Int]) -> Int?) -> Int {
            let offset = pick(Self.differences(original.chunks[index].bytes, content.chunks[index].bytes)) ?? 0
            return chunkPlaintexts[index].lowerBound + min(offset, max(0, chunkPlaintexts[index].count - 1))
        }
        return [offset(first) { $0.first }, offset(last) { $0.last }]
    }

    /// Returns the first and the last offset at which two texts differ. If their lengths differ, the last is the end of
    /// the longer one.
    private static func differences(_ old: [UInt8], _ new: [UInt8]) -> [Int] {
        let common = min(old.count, new.count)
        let first = (0..<common).first { old[$0] != new[$0] } ?? common
        guard old.count == new.count else { return [first, max(old.count, new.count) - 1] }
        return [first, (0..<common).last { old[$0] != new[$0] } ?? common]
    }

    /// Returns the plaintext offset for a ciphertext byte. Padding and tags map to the chunk's last byte, the header to
    /// the first byte, and bytes beyond the end to the last.
    private func plaintextOffset(_ offset: Int) -> Int {
        var start = original.header.count
        guard offset >= start else { return 0 }
        for (chunk, range) in zip(original.chunks, chunkPlaintexts) {
            if offset < start + chunk.count {
                return range.lowerBound + min(offset - start, max(0, range.count - 1))
            }
            start += chunk.count
        }
        return max(0, plaintext.count - 1)
    }

    /// Returns the first, the middle and the last of `count` indices, each once.
    static func some(_ count: Int) -> [(name: String, index: Int)] {
        var chosen: [(name: String, index: Int)] = []
        for (name, index) in [("first", 0), ("middle", count / 2), ("last", count - 1)]
        where index >= 0 && index < count && !chosen.contains(where: { $0.index == index }) {
            chosen.append((name, index))
        }
        return chosen
    }

    /// The first, the middle and the last chunk; the name is empty if there is only one.
    var someChunks: [(name: String, index: Int)] {
        let count = original.chunks.count
        return Self.some(count).map { (count == 1 ? "" : "\($0.name) \(unit), ", $0.index) }
    }

    /// The word for a chunk.
    var unit: String { isJoined ? "chunk" : "segment" }

    /// The middle chunk.
    var middle: Int { original.chunks.count / 2 }

    /// The last chunk.
    var last: Int { original.chunks.count - 1 }

    /// Returns the blocks of a chunk's data, of which the last may be shorter.
    func blocks(ofChunk index: Int) -> [Range<Int>] {
        let data = layouts[index].data
        return stride(from: data.lowerBound, to: data.upperBound, by: 16).map { $0..<min(data.upperBound, $0 + 16) }
    }

    /// Returns the first, the middle and the last block with their names; if the last one is padding, also the one
    /// before.
    func someBlocks(ofChunk index: Int) -> [(name: String, range: Range<Int>)] {
        let blocks = blocks(ofChunk: index)
        var chosen = Self.some(blocks.count).map { (name: "\($0.name) block", range: blocks[$0.index]) }
        if hasPadding(chunk: index), blocks.count > 2 {
            chosen[chosen.count - 1].name = "padding block"
            chosen.append(("block before the padding", blocks[blocks.count - 2]))
        }
        return chosen
    }

    /// Returns these blocks, and the other stored parts of a chunk, such as tag and nonce.
    func someParts(ofChunk index: Int) -> [(name: String, range: Range<Int>)] {
        someBlocks(ofChunk: index) + layouts[index].parts.map { ($0.name, $0.range) }
    }

    /// The tags of the first two chunks, if chunks have tags.
    private var firstTags: (Range<Int>, Range<Int>)? {
        let tags = layouts.prefix(2).compactMap { layout in layout.parts.first { $0.name == "tag" }?.range }
        return tags.count == 2 ? (tags[0], tags[1]) : nil
    }

    /// Adds flipped bits: at the edges of blocks at the edges of chunks, and in tags.
    private func addFlips(to drafts: inout Drafts) {
        for (name, index) in someChunks {
            for (part, range) in someParts(ofChunk: index) {
                for (byte, offset) in Self.some(range.count) {
                    drafts.add(.flip, "\(name)\(part), \(byte) byte") {
                        $0.chunks[index].flip(range.lowerBound + offset)
                    }
                }
            }
        }
    }

    /// Adds exchanges of two parts.
    private func addSwaps(to drafts: inout Drafts) {
        for (name, index) in someChunks {
            let blocks = blocks(ofChunk: index)
            let pairs = [
                ("first two blocks", 0, 1), ("middle two blocks", blocks.count / 2 - 1, blocks.count / 2),
                ("last two blocks", blocks.count - 2, blocks.count - 1),
                ("first and last block", 0, blocks.count - 1),
            ]
            for (pair, one, two) in pairs where one >= 0 && one < two && two < blocks.count {
                drafts.add(.swap, name + pair) {
                    $0.chunks[index] = Self.swapping(blocks[one], blocks[two], of: $0.chunks[index])
                }
            }
            guard !blocks.isEmpty, blocks[blocks.count / 2].count > 1 else { continue }
            let middle = blocks[blocks.count / 2]
            drafts.add(.swap, "\(name)two bytes of the middle block") {
                $0.chunks[index] = Self.swapping(
                    middle.lowerBound..<middle.lowerBound + 1, middle.upperBound - 1..<middle.upperBound,
                    of: $0.chunks[index])
            }
        }
        guard original.chunks.count > 1 else { return }
        if let end = blocks(ofChunk: 0).last, let start = blocks(ofChunk: 1).first {
            drafts.add(.swap, "last block of the first \(unit) and first block of the next") {
                let moved = $0.chunks[0][end]
                $0.chunks[0].replaceSubrange(end, with: $0.chunks[1][start])
                $0.chunks[1].replaceSubrange(start, with: moved)
            }
        }
        for (name, one, two) in [
            ("first two \(unit)s", 0, 1), ("middle two \(unit)s", middle - 1, middle),
            ("last two \(unit)s", last - 1, last), ("first and last \(unit)", 0, last),
        ] {
            drafts.add(.swap, name) { $0.chunks.swapAt(one, two) }
        }
        guard let (one, two) = firstTags else { return }
        drafts.add(.swap, "tags of the first two chunks") {
            $0.chunks[0].replaceSubrange(one, with: original.chunks[1][two])
            $0.chunks[1].replaceSubrange(two, with: original.chunks[0][one])
        }
    }

    private static func swapping(
        _ one: Range<Int>, _ two: Range<Int>, of bytes: TamperedBytes
    ) -> TamperedBytes {
        let between = bytes[one.upperBound..<two.lowerBound]
        return bytes[0..<one.lowerBound] + bytes[two] + between + bytes[one] + bytes[two.upperBound..<bytes.count]
    }

    /// Adds repetitions of a part: instead of its neighbour, or next to itself.
    private func addRepetitions(to drafts: inout Drafts) {
        for (name, index) in someChunks {
            let blocks = blocks(ofChunk: index)
            for (block, blockIndex) in Self.some(blocks.count) {
                let range = blocks[blockIndex]
                if blockIndex > 0 {
                    drafts.add(.repeat, "\(name)\(block) block is the one before it") {
                        $0.chunks[index].replaceSubrange(
                            range, with: original.chunks[index][blocks[blockIndex - 1]].prefix(range.count))
                    }
                }
                drafts.add(.repeat, "\(name)\(block) block twice") {
                    $0.chunks[index].replaceSubrange(
                        range.upperBound..<range.upperBound, with: original.chunks[index][range])
                }
            }
        }
        guard original.chunks.count > 1 else { return }
        for (name, index) in Self.some(original.chunks.count) {
            if index > 0 {
                drafts.add(.repeat, "\(name) \(unit) is the one before it") {
                    $0.chunks[index] = original.chunks[index - 1]
                }
            }
            guard isJoined else { continue }
            drafts.add(.repeat, "\(name) chunk twice") { $0.chunks[index] += original.chunks[index] }
        }
        guard let (one, two) = firstTags else { return }
        drafts.add(.repeat, "the second chunk's tag is the first's") {
            $0.chunks[1].replaceSubrange(two, with: original.chunks[0][one])
        }
    }

    /// Adds truncations: a missing end, block or chunk.
    private func addTruncations(to drafts: inout Drafts) {
        if isJoined { addEnds(to: &drafts) } else { addSegmentEnds(to: &drafts) }
        for (name, index) in someChunks {
            for (block, range) in someBlocks(ofChunk: index) {
                drafts.add(.truncate, "\(name)without its \(block)") {
                    $0.chunks[index].replaceSubrange(range, with: TamperedBytes())
                }
            }
        }
        guard isJoined, original.chunks.count > 1 else { return }
        for (name, index) in Self.some(original.chunks.count) {
            drafts.add(.truncate, "without the \(name) chunk") { $0.chunks[index] = TamperedBytes() }
        }
    }

    /// Adds cuts of the whole ciphertext around each edge, in the same parts as before.
    private func addEnds(to drafts: inout Drafts) {
        var edges: [(name: String, offset: Int)] = []
        var offset = original.header.count
        if offset > 0 { edges.append(("the header's end", offset)) }
        for (index, chunk) in original.chunks.enumerated() {
            let blocks = blocks(ofChunk: index)
            if index == 0 { edges.append(("the first block's end", offset + 16)) }
            if index == middle, !blocks.isEmpty {
                let name = original.chunks.count == 1 ? "" : " of the middle chunk"
                edges.append(("a block's end in the middle" + name, offset + blocks[blocks.count / 2].lowerBound))
            }
            offset += chunk.count
            edges.append((index == last ? "the end" : "the end of chunk \(index)", offset))
        }
        var cuts = [("to nothing", 0), ("to a byte", 1)]
        for (name, edge) in edges {
            for change in [-17, -16, -15, -1, 0, 1, 15, 16] where (0..<offset).contains(edge + change) {
                let sign = change > 0 ? " + \(change)" : change < 0 ? " − \(-change)" : ""
                cuts.append(("to \(name)\(sign)", edge + change))
            }
        }
        for (name, length) in cuts {
            drafts.add(.truncate, name) { $0.cut(to: length) }
        }
    }

    private func addSegmentEnds(to drafts: inout Drafts) {
        for (name, index) in someChunks {
            let count = original.chunks[index].count
            let blocks = blocks(ofChunk: index)
            guard !blocks.isEmpty else { continue }
            let middle = blocks[blocks.count / 2].lowerBound
            let lengths = [
                ("to nothing", 0), ("to a byte", 1), ("to a block − 1", 15), ("to a block", 16), ("to a block + 1", 17),
                ("to a block's end in the middle − 1", middle - 1), ("to a block's end in the middle", middle),
                ("to a block's end in the middle + 1", middle + 1), ("to its end − 17", count - 17),
                ("to its end − 16", count - 16), ("to its end − 15", count - 15), ("to its end − 1", count - 1),
            ]
            for (end, length) in lengths {
                drafts.add(.truncate, name + end) { $0.chunks[index] = $0.chunks[index].prefix(length) }
            }
        }
    }

    /// Adds bytes after the end of the object, or of segments.
    private func addExtensions(to drafts: inout Drafts) {
        for (name, index) in isJoined ? [("", last)] : someChunks {
            let chunk = original.chunks[index]
            var extras: [(String, TamperedBytes)] = [
                ("a zero byte", .zeros(1)), ("15 zero bytes", .zeros(15)), ("16 zero bytes", .zeros(16)),
                ("a zero byte more than a block", .zeros(17)), ("its last 16 bytes", chunk.suffix(16)),
                ("its first block", blocks(ofChunk: index).first.map { chunk[$0] } ?? TamperedBytes()),
                ("its last byte", chunk.suffix(1)),
            ]
            if let other {
                extras += [
                    ("its \(unit) of another object", other.chunks[index]),
                    ("a block of another object", other.chunks[index].prefix(16)),
                ]
            }
            if original.chunks.count > 1 {
                extras += [("the first \(unit)", original.chunks[0]), ("the last \(unit)", original.chunks[last])]
            }
            extras.append(("all of itself", isJoined ? original.joined : chunk))
            if let other, isJoined { extras.append(("all of another object", other.joined)) }
            for (extra, bytes) in extras {
                drafts.add(.extend, "\(name)followed by \(extra)") { $0.chunks[index] += bytes }
            }
        }
    }

    /// Adds parts of another object with the same key: blocks, tags, chunks, a start, an end, the header. They are
    /// never the whole object, which would be another object as its writer made it.
    private func addSplices(to drafts: inout Drafts) {
        guard let other else { return }
        for (name, index) in someChunks {
            let blocks = blocks(ofChunk: index)
            guard !blocks.isEmpty else { continue }
            let half = blocks[blocks.count / 2].lowerBound
            let halves = [("first half", 0..<half), ("second half", half..<original.chunks[index].count)]
            for (part, range) in someParts(ofChunk: index) + halves {
                drafts.add(.splice, "\(name)\(part) of another object") {
                    $0.chunks[index].replaceSubrange(range, with: other.chunks[index][range])
                }
            }
        }
        if !original.header.isEmpty {
            drafts.add(.splice, "header of another object") { $0.header = other.header }
            drafts.add(.splice, "all but the header of another object") { $0.chunks = other.chunks }
        }
        guard original.chunks.count > 1 else { return }
        for (name, index) in Self.some(original.chunks.count) {
            drafts.add(.splice, "\(name) \(unit) of another object") { $0.chunks[index] = other.chunks[index] }
            // With the other header as well, it would be the other object with one spliced chunk.
            drafts.add(.splice, "all \(unit)s but the \(name) of another object") {
                $0.chunks = other.chunks
                $0.chunks[index] = original.chunks[index]
            }
        }
        drafts.add(.splice, "start of another object") {
            $0.header = other.header
            $0.chunks.replaceSubrange(..<middle, with: other.chunks[..<middle])
        }
        drafts.add(.splice, "end of another object") {
            $0.chunks.replaceSubrange(middle..., with: other.chunks[middle...])
        }
    }

    /// Adds changes of the header or the IV.
    func addHeaderDamages(to drafts: inout Drafts) {
        switch form {
        case .playlist: drafts.add(.header, "media sequence number + 1") { $0.damagedIVByte = 0 }
        case .object(let strategy, _) where original.header.isEmpty:
            let byteCount = strategy[Format.Input.ivName]?.bytes?.count ?? 0
            for (name, index) in Self.some(byteCount) {
                drafts.add(.header, "IV, \(name) byte") { $0.damagedIVByte = index }
            }
        case .object:
            for (field, range) in headerFields {
                for (name, index) in Self.some(range.count) {
                    drafts.add(.header, range.count == 1 ? field : "\(field), \(name) byte") {
                        $0.header.flip(range.lowerBound + index)
                    }
                }
            }
            drafts.add(.header, "zeros") { $0.header = .zeros($0.header.count) }
            drafts.add(.header, "missing") { $0.header = TamperedBytes() }
            drafts.add(.header, "twice") { $0.header += $0.header }
            drafts.add(.header, "without its first byte") { $0.header = $0.header.suffix($0.header.count - 1) }
        }
    }
}
