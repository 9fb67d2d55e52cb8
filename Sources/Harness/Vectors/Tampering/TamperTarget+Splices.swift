extension TamperTarget {
    /// Parts of another object with the same key: blocks, tags, chunks, a start, an end, the header. Never all of it:
    /// that is another object as its writer made it.
    var splices: [Draft] {
        var drafts: [Draft] = []
        for (name, index) in someChunks {
            var parts = someBlocks(ofChunk: index)
            if tagByteCount > 0 { parts.append(("tag", tag(ofChunk: index))) }
            for (part, range) in parts {
                drafts.append(
                    draft(.splice, "\(name)\(part) of another object") {
                        $0.chunks[index].replaceSubrange(range, with: other.chunks[index][range])
                    })
            }
            let blocks = blocks(ofChunk: index)
            let half = blocks[blocks.count / 2].lowerBound
            drafts.append(
                draft(.splice, "\(name)first half of another object") {
                    $0.chunks[index].replaceSubrange(..<half, with: other.chunks[index][..<half])
                })
            drafts.append(
                draft(.splice, "\(name)second half of another object") {
                    $0.chunks[index].replaceSubrange(half..., with: other.chunks[index][half...])
                })
        }
        if !original.header.isEmpty {
            drafts.append(draft(.splice, "header of another object") { $0.header = other.header })
            drafts.append(draft(.splice, "all but the header of another object") { $0.chunks = other.chunks })
        }
        guard original.chunks.count > 1 else { return drafts }
        for (name, index) in Self.some(original.chunks.count) {
            drafts.append(
                draft(.splice, "\(name) \(unit) of another object") { $0.chunks[index] = other.chunks[index] })
            drafts.append(
                draft(.splice, "all \(unit)s but the \(name) of another object") {
                    // With its header, too, it would be the other object, and the one chunk the splice.
                    $0.chunks = other.chunks
                    $0.chunks[index] = original.chunks[index]
                })
        }
        drafts.append(
            draft(.splice, "start of another object") {
                $0.header = other.header
                $0.chunks.replaceSubrange(..<middle, with: other.chunks[..<middle])
            })
        drafts.append(
            draft(.splice, "end of another object") {
                $0.chunks.replaceSubrange(middle..., with: other.chunks[middle...])
            })
        return drafts
    }

    /// A header, or an IV, that is another one.
    var headerDamages: [Draft] {
        switch form {
        case .playlist:
            return [draft(.header, "media sequence number + 1") { $0.damagedIVByte = 0 }]
        case .object where original.header.isEmpty:
            return Self.some(16).map { name, index in
                draft(.header, "IV, \(name) byte") { $0.damagedIVByte = index }
            }
        case .object:
            var drafts = headerFields.flatMap { field, range in
                Self.some(range.count).map { name, index in
                    draft(.header, range.count == 1 ? field : "\(field), \(name) byte") {
                        $0.header[range.lowerBound + index] ^= 1
                    }
                }
            }
            drafts.append(draft(.header, "zeros") { $0.header = [UInt8](repeating: 0, count: $0.header.count) })
            drafts.append(draft(.header, "missing") { $0.header = [] })
            drafts.append(draft(.header, "twice") { $0.header += $0.header })
            drafts.append(draft(.header, "without its first byte") { $0.header.removeFirst() })
            return drafts
        }
    }
}
