extension TamperTarget {
    /// A flipped bit: at the edges of blocks at the edges of chunks, and in tags.
    var flips: [Draft] {
        someChunks.flatMap { name, index -> [Draft] in
            var parts = someBlocks(ofChunk: index)
            if tagByteCount > 0 { parts.append(("tag", tag(ofChunk: index))) }
            return parts.flatMap { part, range in
                Self.some(range.count).map { byte, place in
                    draft(.flip, "\(name)\(part), \(byte) byte") { $0.chunks[index][range.lowerBound + place] ^= 1 }
                }
            }
        }
    }

    /// Two parts that have changed places.
    var swaps: [Draft] {
        var drafts: [Draft] = []
        for (name, index) in someChunks {
            let blocks = blocks(ofChunk: index)
            let pairs = [
                ("first two blocks", 0, 1), ("middle two blocks", blocks.count / 2 - 1, blocks.count / 2),
                ("last two blocks", blocks.count - 2, blocks.count - 1),
                ("first and last block", 0, blocks.count - 1),
            ]
            for (pair, one, two) in pairs where one >= 0 && one < two {
                drafts.append(
                    draft(.swap, name + pair) {
                        $0.chunks[index] = Self.swapping(blocks[one], blocks[two], of: $0.chunks[index])
                    })
            }
            let middle = blocks[blocks.count / 2]
            drafts.append(
                draft(.swap, "\(name)two bytes of the middle block") {
                    $0.chunks[index].swapAt(middle.lowerBound, middle.upperBound - 1)
                })
        }
        guard original.chunks.count > 1 else { return drafts }
        let (end, start) = (blocks(ofChunk: 0).last ?? 0..<0, blocks(ofChunk: 1)[0])
        drafts.append(
            draft(.swap, "last block of the first \(unit) and first block of the next") {
                let moved = Array($0.chunks[0][end])
                $0.chunks[0].replaceSubrange(end, with: $0.chunks[1][start])
                $0.chunks[1].replaceSubrange(start, with: moved)
            })
        for (name, one, two) in [
            ("first two \(unit)s", 0, 1), ("middle two \(unit)s", middle - 1, middle),
            ("last two \(unit)s", last - 1, last), ("first and last \(unit)", 0, last),
        ] {
            drafts.append(draft(.swap, name) { $0.chunks.swapAt(one, two) })
        }
        if tagByteCount > 0 {
            drafts.append(
                draft(.swap, "tags of the first two chunks") {
                    $0.chunks[0].replaceSubrange(tag(ofChunk: 0), with: original.chunks[1][tag(ofChunk: 1)])
                    $0.chunks[1].replaceSubrange(tag(ofChunk: 1), with: original.chunks[0][tag(ofChunk: 0)])
                })
        }
        return drafts
    }

    private static func swapping(_ one: Range<Int>, _ two: Range<Int>, of bytes: [UInt8]) -> [UInt8] {
        Array(bytes[..<one.lowerBound] + bytes[two] + bytes[one.upperBound..<two.lowerBound] + bytes[one])
            + bytes[two.upperBound...]
    }

    /// A part that stands there twice: instead of its neighbour, or beside itself.
    var repetitions: [Draft] {
        var drafts: [Draft] = []
        for (name, index) in someChunks {
            let blocks = blocks(ofChunk: index)
            for (block, place) in Self.some(blocks.count) {
                let range = blocks[place]
                if place > 0 {
                    drafts.append(
                        draft(.repeat, "\(name)\(block) block is the one before it") {
                            $0.chunks[index].replaceSubrange(
                                range, with: original.chunks[index][blocks[place - 1]].prefix(range.count))
                        })
                }
                drafts.append(
                    draft(.repeat, "\(name)\(block) block twice") {
                        $0.chunks[index].insert(contentsOf: original.chunks[index][range], at: range.upperBound)
                    })
            }
        }
        guard original.chunks.count > 1 else { return drafts }
        for (name, index) in Self.some(original.chunks.count) {
            if index > 0 {
                drafts.append(
                    draft(.repeat, "\(name) \(unit) is the one before it") {
                        $0.chunks[index] = original.chunks[index - 1]
                    })
            }
            guard isJoined else { continue }
            drafts.append(draft(.repeat, "\(name) chunk twice") { $0.chunks[index] += original.chunks[index] })
        }
        if tagByteCount > 0 {
            drafts.append(
                draft(.repeat, "the second chunk's tag is the first's") {
                    $0.chunks[1].replaceSubrange(tag(ofChunk: 1), with: original.chunks[0][tag(ofChunk: 0)])
                })
        }
        return drafts
    }
}
