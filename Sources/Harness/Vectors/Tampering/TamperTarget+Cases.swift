internal import ByteSources
internal import RandomAccess

extension TamperTarget {
    /// Every tampering of the object, by formula from where its parts lie; no two have the same result.
    package var cases: [TamperCase] {
        var seen: Set<TamperContent> = [whole(original)]
        let drafts =
            truncations + extensions + flips + swaps + repetitions + splices + headerDamages
        return drafts.compactMap { draft in
            // Where an object is short, two formulas may come to the same.
            guard seen.insert(whole(draft.content)).inserted else { return nil }
            return TamperCase(
                kind: draft.kind, place: draft.place, content: draft.content,
                openingErrors: openingErrors(of: draft.content), touched: touched(by: draft.content))
        }
    }

    /// A content as it is stored: parts of one ciphertext are told apart by nothing.
    private func whole(_ content: TamperContent) -> TamperContent {
        isJoined ? TamperContent(chunks: [content.bytes], damagedIVByte: content.damagedIVByte) : content
    }

    /// What was done, where, and what came of it.
    struct Draft {
        let kind: TamperKind
        let place: String
        let content: TamperContent
    }

    /// A tampering that changes the object as `change` does.
    func draft(_ kind: TamperKind, _ place: String, _ change: (inout TamperContent) -> Void) -> Draft {
        var content = original
        change(&content)
        return Draft(kind: kind, place: place, content: content)
    }

    /// What the oracle says of opening.
    private func openingErrors(of content: TamperContent) -> [ErrorName] {
        switch form {
        case .playlist(let playlist): return playlist.errors(of: content)
        case .object:
            guard let opening = opening(of: content) else { return [] }
            do throws(DecryptionError) {
                _ = try Oracle(strategy: opening.strategy, key: opening.key)
                    .plaintextByteCount(of: MemorySource(opening.bytes))
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
            let place = pick(Self.differences(original.chunks[index], content.chunks[index])) ?? 0
            return chunkPlaintexts[index].lowerBound + min(place, max(0, chunkPlaintexts[index].count - 1))
        }
        return [offset(first) { $0.first }, offset(last) { $0.last }]
    }

    /// The first and the last place where two texts differ; of texts of different lengths, the last is the longer's end.
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
}
