import ByteSources
import RandomAccess

extension TamperTarget {
    /// Every tampering of the object, by formula from where its parts lie; no two have the same result.
    package var cases: [TamperCase] {
        var seen: Set<TamperContent> = [whole(original)]
        var drafts = Drafts(original: original)
        addTruncations(to: &drafts)
        addExtensions(to: &drafts)
        addFlips(to: &drafts)
        addSwaps(to: &drafts)
        addRepetitions(to: &drafts)
        addSplices(to: &drafts)
        addHeaderDamages(to: &drafts)
        return drafts.list.compactMap { draft in
            // Where an object is short, two formulas may come to the same.
            guard seen.insert(whole(draft.content)).inserted else { return nil }
            return TamperCase(
                kind: draft.kind, location: draft.location, content: draft.content,
                openingErrors: openingErrors(of: draft.content), touched: touched(by: draft.content))
        }
    }

    /// A content as it is stored: parts of one ciphertext are told apart by nothing.
    private func whole(_ content: TamperContent) -> TamperContent {
        isJoined ? TamperContent(chunks: [content.bytes], damagedIVByte: content.damagedIVByte) : content
    }

    /// Tamperings: what was done, where, and what came of it.
    struct Drafts {
        let original: TamperContent
        private(set) var list: [(kind: TamperKind, location: String, content: TamperContent)] = []

        init(original: TamperContent) {
            self.original = original
        }

        /// Adds a tampering that changes the original as `change` does.
        mutating func add(_ kind: TamperKind, _ location: String, _ change: (inout TamperContent) -> Void) {
            var content = original
            change(&content)
            list.append((kind, location, content))
        }
    }

    /// What the oracle says of opening.
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

    /// The plaintext of the first and of the last ciphertext byte that is another one.
    private func touched(by content: TamperContent) -> [Int] {
        guard content.damagedIVByte == nil else { return [0] }
        if isJoined {
            let (old, new) = (original.bytes, content.bytes)
            return Self.differences(old, new).map(plaintextOffset)
        }
        let indices = original.chunks.indices.filter { original.chunks[$0] != content.chunks[$0] }
        guard let first = indices.first, let last = indices.last else { return [] }
        func offset(_ index: Int, _ pick: ([Int]) -> Int?) -> Int {
            let offset = pick(Self.differences(original.chunks[index], content.chunks[index])) ?? 0
            return chunkPlaintexts[index].lowerBound + min(offset, max(0, chunkPlaintexts[index].count - 1))
        }
        return [offset(first) { $0.first }, offset(last) { $0.last }]
    }

    /// The first and the last offset at which two texts differ; of texts of different lengths, the last is the longer's end.
    private static func differences(_ old: [UInt8], _ new: [UInt8]) -> [Int] {
        let common = min(old.count, new.count)
        let first = (0..<common).first { old[$0] != new[$0] } ?? common
        guard old.count == new.count else { return [first, max(old.count, new.count) - 1] }
        return [first, (0..<common).last { old[$0] != new[$0] } ?? common]
    }

    /// The plaintext byte that a ciphertext byte stands for: of padding and tags, the chunk's last; of the header, the
    /// first; of what lies behind the end, the last.
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

    /// The first, the middle and the last of `count` things, as far as they are different ones.
    static func some(_ count: Int) -> [(name: String, index: Int)] {
        var chosen: [(name: String, index: Int)] = []
        for (name, index) in [("first", 0), ("middle", count / 2), ("last", count - 1)]
        where index >= 0 && index < count && !chosen.contains(where: { $0.index == index }) {
            chosen.append((name, index))
        }
        return chosen
    }

    /// The first, the middle and the last chunk; the name is empty where there is one only.
    var someChunks: [(name: String, index: Int)] {
        let count = original.chunks.count
        return Self.some(count).map { (count == 1 ? "" : "\($0.name) \(unit), ", $0.index) }
    }

    /// What a chunk is called.
    var unit: String { isJoined ? "chunk" : "segment" }

    /// The middle chunk.
    var middle: Int { original.chunks.count / 2 }

    /// The last chunk.
    var last: Int { original.chunks.count - 1 }

    /// The blocks of a chunk, the last of which may be shorter; its tag is none of them.
    func blocks(ofChunk index: Int) -> [Range<Int>] {
        let count = original.chunks[index].count - tagByteCount
        return stride(from: 0, to: count, by: 16).map { $0..<min(count, $0 + 16) }
    }

    /// The first, the middle and the last block, with the name of what the last one is; before padding, one more.
    func someBlocks(ofChunk index: Int) -> [(name: String, range: Range<Int>)] {
        let blocks = blocks(ofChunk: index)
        var chosen = Self.some(blocks.count).map { (name: "\($0.name) block", range: blocks[$0.index]) }
        if hasPadding(chunk: index), blocks.count > 2 {
            chosen[chosen.count - 1].name = "padding block"
            chosen.append(("block before the padding", blocks[blocks.count - 2]))
        }
        return chosen
    }

    /// Those blocks, and the tag where there is one.
    func someParts(ofChunk index: Int) -> [(name: String, range: Range<Int>)] {
        someBlocks(ofChunk: index) + (tagByteCount > 0 ? [("tag", tag(ofChunk: index))] : [])
    }

    /// A chunk's tag.
    func tag(ofChunk index: Int) -> Range<Int> {
        let count = original.chunks[index].count
        return count - tagByteCount..<count
    }

    /// A flipped bit: at the edges of blocks at the edges of chunks, and in tags.
    private func addFlips(to drafts: inout Drafts) {
        for (name, index) in someChunks {
            for (part, range) in someParts(ofChunk: index) {
                for (byte, offset) in Self.some(range.count) {
                    drafts.add(.flip, "\(name)\(part), \(byte) byte") {
                        $0.chunks[index][range.lowerBound + offset] ^= 1
                    }
                }
            }
        }
    }

    /// Two parts that stand in each other's stead.
    private func addSwaps(to drafts: inout Drafts) {
        for (name, index) in someChunks {
            let blocks = blocks(ofChunk: index)
            let pairs = [
                ("first two blocks", 0, 1), ("middle two blocks", blocks.count / 2 - 1, blocks.count / 2),
                ("last two blocks", blocks.count - 2, blocks.count - 1),
                ("first and last block", 0, blocks.count - 1),
            ]
            for (pair, one, two) in pairs where one >= 0 && one < two {
                drafts.add(.swap, name + pair) {
                    $0.chunks[index] = Self.swapping(blocks[one], blocks[two], of: $0.chunks[index])
                }
            }
            let middle = blocks[blocks.count / 2]
            drafts.add(.swap, "\(name)two bytes of the middle block") {
                $0.chunks[index].swapAt(middle.lowerBound, middle.upperBound - 1)
            }
        }
        guard original.chunks.count > 1 else { return }
        let (end, start) = (blocks(ofChunk: 0).last ?? 0..<0, blocks(ofChunk: 1)[0])
        drafts.add(.swap, "last block of the first \(unit) and first block of the next") {
            let moved = Array($0.chunks[0][end])
            $0.chunks[0].replaceSubrange(end, with: $0.chunks[1][start])
            $0.chunks[1].replaceSubrange(start, with: moved)
        }
        for (name, one, two) in [
            ("first two \(unit)s", 0, 1), ("middle two \(unit)s", middle - 1, middle),
            ("last two \(unit)s", last - 1, last), ("first and last \(unit)", 0, last),
        ] {
            drafts.add(.swap, name) { $0.chunks.swapAt(one, two) }
        }
        guard tagByteCount > 0 else { return }
        drafts.add(.swap, "tags of the first two chunks") {
            $0.chunks[0].replaceSubrange(tag(ofChunk: 0), with: original.chunks[1][tag(ofChunk: 1)])
            $0.chunks[1].replaceSubrange(tag(ofChunk: 1), with: original.chunks[0][tag(ofChunk: 0)])
        }
    }

    private static func swapping(_ one: Range<Int>, _ two: Range<Int>, of bytes: [UInt8]) -> [UInt8] {
        Array(bytes[..<one.lowerBound] + bytes[two] + bytes[one.upperBound..<two.lowerBound] + bytes[one])
            + bytes[two.upperBound...]
    }

    /// A part that stands there twice: instead of its neighbour, or beside itself.
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
                    $0.chunks[index].insert(contentsOf: original.chunks[index][range], at: range.upperBound)
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
        guard tagByteCount > 0 else { return }
        drafts.add(.repeat, "the second chunk's tag is the first's") {
            $0.chunks[1].replaceSubrange(tag(ofChunk: 1), with: original.chunks[0][tag(ofChunk: 0)])
        }
    }

    /// Something is missing: an end, a block, a chunk.
    private func addTruncations(to drafts: inout Drafts) {
        if isJoined { addEnds(to: &drafts) } else { addSegmentEnds(to: &drafts) }
        for (name, index) in someChunks {
            for (block, range) in someBlocks(ofChunk: index) {
                drafts.add(.truncate, "\(name)without its \(block)") { $0.chunks[index].removeSubrange(range) }
            }
        }
        guard isJoined, original.chunks.count > 1 else { return }
        for (name, index) in Self.some(original.chunks.count) {
            drafts.add(.truncate, "without the \(name) chunk") { $0.chunks[index] = [] }
        }
    }

    /// The whole ciphertext, cut around each edge, in the same parts as before.
    private func addEnds(to drafts: inout Drafts) {
        var edges: [(name: String, offset: Int)] = []
        var offset = original.header.count
        if offset > 0 { edges.append(("the header's end", offset)) }
        for (index, chunk) in original.chunks.enumerated() {
            let blocks = blocks(ofChunk: index)
            if index == 0 { edges.append(("the first block's end", offset + 16)) }
            if index == middle {
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
            drafts.add(.truncate, name) { content in
                var rest = length
                func first(_ part: [UInt8]) -> [UInt8] {
                    let count = min(rest, part.count)
                    rest -= count
                    return Array(part[..<count])
                }
                content.header = first(content.header)
                content.chunks = content.chunks.map(first)
            }
        }
    }

    private func addSegmentEnds(to drafts: inout Drafts) {
        for (name, index) in someChunks {
            let count = original.chunks[index].count
            let blocks = blocks(ofChunk: index)
            let middle = blocks[blocks.count / 2].lowerBound
            let lengths = [
                ("to nothing", 0), ("to a byte", 1), ("to a block − 1", 15), ("to a block", 16), ("to a block + 1", 17),
                ("to a block's end in the middle − 1", middle - 1), ("to a block's end in the middle", middle),
                ("to a block's end in the middle + 1", middle + 1), ("to its end − 17", count - 17),
                ("to its end − 16", count - 16), ("to its end − 15", count - 15), ("to its end − 1", count - 1),
            ]
            for (end, length) in lengths {
                drafts.add(.truncate, name + end) { $0.chunks[index] = Array($0.chunks[index][..<length]) }
            }
        }
    }

    /// Something stands behind the end: of the object, or of segments.
    private func addExtensions(to drafts: inout Drafts) {
        for (name, index) in isJoined ? [("", last)] : someChunks {
            let chunk = original.chunks[index]
            let blocks = blocks(ofChunk: index)
            var extras: [(String, [UInt8])] = [
                ("a zero byte", [0]), ("15 zero bytes", [UInt8](repeating: 0, count: 15)),
                ("16 zero bytes", [UInt8](repeating: 0, count: 16)),
                ("a zero byte more than a block", [UInt8](repeating: 0, count: 17)),
                ("its last 16 bytes", Array(chunk.suffix(16))), ("its first block", Array(chunk[blocks[0]])),
                ("its last byte", Array(chunk.suffix(1))),
                ("its \(unit) of another object", other.chunks[index]),
                ("a block of another object", Array(other.chunks[index].prefix(16))),
            ]
            if original.chunks.count > 1 {
                extras += [("the first \(unit)", original.chunks[0]), ("the last \(unit)", original.chunks[last])]
            }
            extras.append(("all of itself", isJoined ? original.bytes : chunk))
            if isJoined { extras.append(("all of another object", other.bytes)) }
            for (extra, bytes) in extras {
                drafts.add(.extend, "\(name)followed by \(extra)") { $0.chunks[index] += bytes }
            }
        }
    }

    /// Parts of another object with the same key: blocks, tags, chunks, a start, an end, the header. Never all of it:
    /// that is another object as its writer made it.
    private func addSplices(to drafts: inout Drafts) {
        for (name, index) in someChunks {
            let blocks = blocks(ofChunk: index)
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
            // With its header, too, it would be the other object, and the one chunk the splice.
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

    /// A header, or an IV, that is another one.
    private func addHeaderDamages(to drafts: inout Drafts) {
        switch form {
        case .playlist: drafts.add(.header, "media sequence number + 1") { $0.damagedIVByte = 0 }
        case .object where original.header.isEmpty:
            for (name, index) in Self.some(16) {
                drafts.add(.header, "IV, \(name) byte") { $0.damagedIVByte = index }
            }
        case .object:
            for (field, range) in headerFields {
                for (name, index) in Self.some(range.count) {
                    drafts.add(.header, range.count == 1 ? field : "\(field), \(name) byte") {
                        $0.header[range.lowerBound + index] ^= 1
                    }
                }
            }
            drafts.add(.header, "zeros") { $0.header = [UInt8](repeating: 0, count: $0.header.count) }
            drafts.add(.header, "missing") { $0.header = [] }
            drafts.add(.header, "twice") { $0.header += $0.header }
            drafts.add(.header, "without its first byte") { $0.header.removeFirst() }
        }
    }
}
