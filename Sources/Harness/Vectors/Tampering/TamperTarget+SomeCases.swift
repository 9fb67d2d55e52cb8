extension TamperTarget {
    /// A few tamperings of each kind, for tests that read the whole object for each of them.
    package var someCases: [TamperCase] {
        var drafts = Drafts(original: original)
        addSomeFlips(to: &drafts)
        if !original.header.isEmpty { addHeaderDamages(to: &drafts) }
        addSomeZeros(to: &drafts)
        addSomeCuts(to: &drafts)
        for (name, bytes) in [
            ("a zero byte", TamperedBytes.zeros(1)), ("16 zero bytes", .zeros(16)),
            ("its last chunk", original.chunks.last ?? TamperedBytes()),
            ("its first chunk", original.chunks.first ?? TamperedBytes()), ("all of itself", original.joined),
        ] where !original.chunks.isEmpty {
            drafts.add(.extend, "followed by \(name)") { $0.chunks[last] += bytes }
        }
        addSomeMoves(to: &drafts)
        addTableMoves(to: &drafts)
        return judged(drafts)
    }

    /// Adds a flipped bit in each part of some chunks; in the middle chunk, in the first, the middle and the last byte.
    private func addSomeFlips(to drafts: inout Drafts) {
        for (name, index) in someChunks {
            let parts = [("data", layouts[index].data)] + layouts[index].parts.map { ($0.name, $0.range) }
            for (part, range) in parts where !range.isEmpty {
                let bytes = index == middle ? Self.some(range.count) : [("middle", range.count / 2)]
                for (byte, offset) in bytes {
                    drafts.add(.flip, "\(name)\(part), \(byte) byte") {
                        $0.chunks[index].flip(range.lowerBound + offset)
                    }
                }
            }
            guard case .object(let strategy, _) = form, strategy.format.hole != nil else { continue }
            drafts.add(.flip, "\(name)\(Self.holeName)") { $0.chunks[index] = .zeros($0.chunks[index].count) }
        }
    }

    /// Adds header fields, and parts of the first chunk, that are overwritten with zeros.
    private func addSomeZeros(to drafts: inout Drafts) {
        for (field, range, kind) in headerFields {
            drafts.add(kind, "\(field) of zeros") {
                $0.header.replaceSubrange(range, with: .zeros(range.count))
            }
        }
        for (name, range) in layouts.first?.parts ?? [] {
            drafts.add(.flip, "first chunk, \(name) of zeros") {
                $0.chunks[0].replaceSubrange(range, with: .zeros(range.count))
            }
        }
    }

    /// The name of the case in which all bytes of a chunk are zeros, in formats that treat it as a hole.
    static let holeName = "nothing but zeros"

    /// Adds cuts in the header, before some chunks and inside them, and missing chunks.
    private func addSomeCuts(to drafts: inout Drafts) {
        drafts.add(.truncate, "to nothing") { $0.cut(to: 0) }
        var offset = original.header.count
        if offset > 1 { drafts.add(.truncate, "in the header") { $0.cut(to: offset - 1) } }
        let some = someChunks.map(\.index)
        for (index, chunk) in original.chunks.enumerated() {
            if some.contains(index) || index == 1 {
                let place = offset
                drafts.add(.truncate, "before chunk \(index)") { $0.cut(to: place) }
                drafts.add(.truncate, "a byte into chunk \(index)") { $0.cut(to: place + 1) }
                drafts.add(.truncate, "inside chunk \(index)") { $0.cut(to: place + chunk.count / 2) }
            }
            offset += chunk.count
        }
        if offset > 0 { drafts.add(.truncate, "before the last byte") { $0.cut(to: offset - 1) } }
        for index in some where original.chunks.count > 1 {
            drafts.add(.truncate, "without chunk \(index)") { $0.chunks[index] = TamperedBytes() }
        }
    }

    /// Adds moved entries of a table, alone and with the data of their chunks, and a shorter table.
    func addTableMoves(to drafts: inout Drafts) {
        guard let table, last > 0 else { return }
        let entries = table.entries
        func exchange(_ one: Int, _ two: Int, in content: inout TamperContent) {
            content.header.replaceSubrange(entries[one], with: original.header[entries[two]])
            content.header.replaceSubrange(entries[two], with: original.header[entries[one]])
        }
        for (one, two) in [(0, 1), (last - 1, last)] {
            drafts.add(.swap, "entries \(one) and \(two)") { exchange(one, two, in: &$0) }
            drafts.add(.swap, "chunks \(one) and \(two) with their entries") {
                exchange(one, two, in: &$0)
                $0.chunks.swapAt(one, two)
            }
        }
        drafts.add(.repeat, "entry 1 is the one before it") {
            $0.header.replaceSubrange(entries[1], with: original.header[entries[0]])
        }
        drafts.add(.truncate, "without the last chunk and its entry") {
            let end = entries[last].lowerBound
            $0.header = $0.header[0..<end] + .zeros(max(0, table.shorterDataStart - end))
            $0.chunks[last] = TamperedBytes()
        }
        guard let other else { return }
        for (_, index) in Self.some(entries.count) {
            drafts.add(.splice, "entry \(index) of another object") {
                $0.header.replaceSubrange(entries[index], with: other.header[entries[index]])
            }
            drafts.add(.splice, "chunk \(index) of another object with its entry") {
                $0.header.replaceSubrange(entries[index], with: other.header[entries[index]])
                $0.chunks[index] = other.chunks[index]
            }
        }
    }

    /// Adds chunks at wrong positions, and chunks of another object.
    private func addSomeMoves(to drafts: inout Drafts) {
        if original.chunks.count > 1 {
            for (one, two) in [(0, 1), (middle - 1, middle), (last - 1, last)] {
                drafts.add(.swap, "chunks \(one) and \(two)") { $0.chunks.swapAt(one, two) }
            }
            for index in someChunks.map(\.index) {
                drafts.add(.repeat, "chunk \(index) twice") { $0.chunks[index] += original.chunks[index] }
            }
            drafts.add(.repeat, "chunk 1 is the one before it") { $0.chunks[1] = original.chunks[0] }
        }
        guard let other else { return }
        if !original.header.isEmpty {
            drafts.add(.splice, "header of another object") { $0.header = other.header }
        }
        for index in someChunks.map(\.index) where original.chunks.count > 1 || !original.header.isEmpty {
            drafts.add(.splice, "chunk \(index) of another object") { $0.chunks[index] = other.chunks[index] }
        }
    }
}
