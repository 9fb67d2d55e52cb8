extension TamperTarget {
    /// Something is missing: an end, a block, a chunk.
    var truncations: [Draft] {
        (isJoined ? ends : segmentEnds) + missingBlocks + (isJoined ? missingChunks : [])
    }

    /// The whole ciphertext, cut around each edge.
    private var ends: [Draft] {
        let bytes = original.bytes
        var edges: [(name: String, place: Int)] = []
        var place = original.header.count
        if place > 0 { edges.append(("the header's end", place)) }
        for (index, chunk) in original.chunks.enumerated() {
            let blocks = blocks(ofChunk: index)
            if index == 0 { edges.append(("the first block's end", place + 16)) }
            if index == middle {
                let name = original.chunks.count == 1 ? "" : " of the middle chunk"
                edges.append(("a block's end in the middle" + name, place + blocks[blocks.count / 2].lowerBound))
            }
            place += chunk.count
            edges.append((index == last ? "the end" : "the end of chunk \(index)", place))
        }
        var drafts = [cut(bytes, to: 0, "to nothing"), cut(bytes, to: 1, "to a byte")]
        for (name, edge) in edges {
            for change in [-17, -16, -15, -1, 0, 1, 15, 16] where (0..<bytes.count).contains(edge + change) {
                let sign = change > 0 ? " + \(change)" : change < 0 ? " − \(-change)" : ""
                drafts.append(cut(bytes, to: edge + change, "to \(name)\(sign)"))
            }
        }
        return drafts
    }

    /// The ciphertext up to a length, in the same parts as before.
    private func cut(_ bytes: [UInt8], to length: Int, _ name: String) -> Draft {
        draft(.truncate, name) { content in
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

    private var segmentEnds: [Draft] {
        someChunks.flatMap { name, index in
            let count = original.chunks[index].count
            let blocks = blocks(ofChunk: index)
            let middle = blocks[blocks.count / 2].lowerBound
            let lengths = [
                ("to nothing", 0), ("to a byte", 1), ("to a block − 1", 15), ("to a block", 16), ("to a block + 1", 17),
                ("to a block's end in the middle − 1", middle - 1), ("to a block's end in the middle", middle),
                ("to a block's end in the middle + 1", middle + 1), ("to its end − 17", count - 17),
                ("to its end − 16", count - 16), ("to its end − 15", count - 15), ("to its end − 1", count - 1),
            ]
            return lengths.map { place, length in
                draft(.truncate, name + place) { $0.chunks[index] = Array($0.chunks[index][..<length]) }
            }
        }
    }

    private var missingBlocks: [Draft] {
        someChunks.flatMap { name, index in
            someBlocks(ofChunk: index).map { block, range in
                draft(.truncate, "\(name)without its \(block)") { $0.chunks[index].removeSubrange(range) }
            }
        }
    }

    private var missingChunks: [Draft] {
        guard original.chunks.count > 1 else { return [] }
        return Self.some(original.chunks.count).map { name, index in
            draft(.truncate, "without the \(name) chunk") { $0.chunks[index] = [] }
        }
    }

    /// Something stands behind the end: of the object, or of segments.
    var extensions: [Draft] {
        let places = isJoined ? [("", last)] : someChunks.map { ($0.name, $0.index) }
        return places.flatMap { name, index -> [Draft] in
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
            return extras.map { extra, bytes in
                draft(.extend, "\(name)followed by \(extra)") { $0.chunks[index] += bytes }
            }
        }
    }
}
