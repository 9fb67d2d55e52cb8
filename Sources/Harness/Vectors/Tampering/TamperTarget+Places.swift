extension TamperTarget {
    /// The first, the middle and the last of `count` things, as far as they are different ones.
    static func some(_ count: Int) -> [(name: String, index: Int)] {
        var places: [(name: String, index: Int)] = []
        for (name, index) in [("first", 0), ("middle", count / 2), ("last", count - 1)]
        where index >= 0 && index < count && !places.contains(where: { $0.index == index }) {
            places.append((name, index))
        }
        return places
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
        var places = Self.some(blocks.count).map { (name: "\($0.name) block", range: blocks[$0.index]) }
        if hasPadding(chunk: index), blocks.count > 2 {
            places[places.count - 1].name = "padding block"
            places.append(("block before the padding", blocks[blocks.count - 2]))
        }
        return places
    }

    /// A chunk's tag.
    func tag(ofChunk index: Int) -> Range<Int> {
        let count = original.chunks[index].count
        return count - tagByteCount..<count
    }
}
