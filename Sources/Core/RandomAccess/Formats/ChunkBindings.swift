/// The keys, nonces and associated data of an object's chunks, for hypothetical chunks. They show whether a reader
/// detects chunks that are moved, cut off or put into another object, and whether two chunks share a nonce.
struct ChunkBindings {
    private let format: Format
    private let shape: ChunkShape
    private let names: [String: Value]
    private let key: Formula
    private let nonce: Formula
    private let associatedData: Formula?
    /// The number of chunks of a long object. Its numbers fit into the format's widths.
    private var farCount: UInt64 = 1 << 40

    /// The input of a cipher besides the plaintext.
    struct Binding: Hashable {
        let key: ByteString
        let nonce: ByteString
        /// The inputs of a tag besides the data. For a cipher's tag: key, nonce and associated data. For a code of the
        /// data: its key and the rest of its message.
        let noticed: [ByteString]
    }

    /// Evaluates the formulas as far as an object's names allow.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for expressions without values.
    init(_ format: Format, _ shape: ChunkShape, _ names: [String: Value]) throws(DecryptionError) {
        // These names reveal the object's end, which differs between the compared chunks.
        let names = names.filter { $0.key != "count" && $0.key != "size" }
        (self.format, self.shape, self.names) = (format, shape, names)
        key = try format.key.folded(names, in: format.name)
        nonce = try format.nonce.folded(names, in: format.name)
        associatedData = try format.associatedData.map { formula throws(DecryptionError) in
            try formula.folded(names, in: format.name)
        }
        let counts = [40, 31, 23, 15, 7, 6].map { UInt64(1) << $0 }.filter { $0 <= shape.geometry.maxChunkCount }
        farCount = counts.first { binding(ofChunk: 0, of: $0, seed: 1) != nil } ?? farCount
    }

    /// The numbers of chunks around the limits of counter widths.
    private var indices: [UInt64] {
        guard shape.geometry.chunkByteCount != .max else { return [0] }
        let all: [UInt64] = Array(0..<34) + [255, 256, 65535, 65536, 1 << 24, 1 << 32]
        return all.filter { $0 < shape.geometry.maxChunkCount }
    }

    /// Returns the binding of a chunk.
    ///
    /// - Parameters:
    ///   - index: The chunk's number.
    ///   - chunkCount: The number of the object's chunks.
    ///   - seed: A value that distinguishes the random parts of one chunk from those of another.
    ///   - byteCount: The length of its plaintext; `nil` for a full chunk.
    /// - Returns: `nil` for an impossible chunk, whose number does not fit.
    private func binding(
        ofChunk index: UInt64, of chunkCount: UInt64, seed: UInt8, byteCount: UInt64? = nil
    ) -> Binding? {
        let geometry = shape.geometry
        let plaintextByteCount =
            byteCount
            ?? (geometry.chunkByteCount == .max
                ? geometry.end.unitByteCount : geometry.chunkByteCount - (index == 0 ? geometry.missingByteCount : 0))
        let (offset, overflow) = index.multipliedReportingOverflow(by: geometry.chunkByteCount)
        guard !overflow else { return nil }
        let numbers = ChunkNumbers(
            index: index, plaintextByteCount: plaintextByteCount,
            storedByteCount: plaintextByteCount
                + (index + 1 == chunkCount ? geometry.lastOverheadByteCount : geometry.overheadByteCount),
            offset: offset - min(offset, geometry.missingByteCount))
        var names = names.merging(numbers.names) { $1 }
        names["last"] = .integer(index + 1 == chunkCount ? 1 : 0)
        names["count"] = .integer(Int128(chunkCount))
        let storedByteCount =
            geometry.chunkByteCount == .max
            ? 1 << 20 : Int128(geometry.chunkByteCount) + Int128(geometry.overheadByteCount)
        names["size"] = .integer(Int128(chunkCount) * storedByteCount)
        var open: [(field: Format.Field, count: Int)] = []
        for part in shape.parts {
            guard case .field(let field) = part.part else { continue }
            let count = part.range(isLast: index + 1 == chunkCount).count
            if field.content.isEmpty {
                names[field.name] = .bytes(ByteString(repeating: seed, count: count))
            } else {
                open.append((field, count))
            }
        }
        while let place = open.firstIndex(where: { $0.field.content[0].isKnown(names) }) {
            let field = open.remove(at: place).field
            guard let value = try? field.content[0].value(names, in: format.name) else { return nil }
            names[field.name] = value
        }
        // Parts that depend on one another.
        for (field, count) in open { names[field.name] = .bytes(ByteString(repeating: seed, count: count)) }
        guard let key = try? key.bytes(names, in: format.name), let nonce = try? nonce.bytes(names, in: format.name)
        else { return nil }
        var noticed = shape.cipher.isAuthenticated ? [key, nonce] : []
        let codes = shape.parts.filter(\.part.isCode).flatMap { part -> [Expression] in
            guard case .field(let field) = part.part, let code = CodeExpression(field.content[0].expression) else {
                return []
            }
            return [code.key, code.before, code.behind]
        }
        for expression in (associatedData.map { [$0.expression] } ?? []) + codes {
            guard let bytes = (try? expression.value(names))?.bytes else { return nil }
            noticed.append(bytes)
        }
        return Binding(key: key, nonce: nonce, noticed: noticed)
    }

    /// True if the tag alone detects a chunk in another chunk's place, without a check of its parts.
    var isIndexBound: Bool {
        let all = indices.compactMap { binding(ofChunk: $0, of: farCount, seed: 1) }
        return !all.isEmpty && Set(all.map(\.noticed)).count == all.count
    }

    /// True if a reader detects that an object was cut behind a full chunk.
    var isEndBound: Bool {
        if shape.geometry.chunkByteCount == .max || format.isLastNeverFull { return true }
        // A derived value that uses the length changes with it.
        if format.derived.contains(where: { $0.formula.expression.names.contains("size") }) { return true }
        return indices.prefix(3).allSatisfy { index in
            let last = binding(ofChunk: index, of: index + 1, seed: 1)
            // Much is cut off, or a single chunk.
            return last == nil
                || [farCount, index + 2].allSatisfy {
                    binding(ofChunk: index, of: $0, seed: 1)?.noticed != last?.noticed
                }
        }
    }

    /// Returns whether chunks have the same bindings as those of another object. It compares the first chunks and the
    /// last one, with several plaintext lengths, since not every length is possible in every format.
    func isEqual(to other: ChunkBindings, byteCount: UInt64) -> Bool {
        [(0, 1), (0, 2), (1, 2), (1, 3)].allSatisfy { index, count in
            [nil, shape.geometry.end.unitByteCount, byteCount].allSatisfy { byteCount in
                binding(ofChunk: index, of: count, seed: 1, byteCount: byteCount)
                    == other.binding(ofChunk: index, of: count, seed: 1, byteCount: byteCount)
            }
        }
    }

    /// Returns whether a reader detects chunks of another object with the same key and inputs.
    func isBound(against other: ChunkBindings) -> Bool {
        binding(ofChunk: 0, of: farCount, seed: 1)?.noticed
            != other.binding(ofChunk: 0, of: farCount, seed: 1)?.noticed
    }

    /// Returns whether chunks of another object have the same nonces, for a cipher that needs different ones. Random
    /// nonces count as different.
    func sharesNonces(with other: ChunkBindings) -> Bool { shape.cipher.needsNoncesOnce && hasNonces(of: other) }

    /// True if each chunk of an object has a key or a nonce of its own.
    var hasOwnNonces: Bool {
        let all = indices.enumerated().compactMap { binding(ofChunk: $1, of: farCount, seed: UInt8($0)) }
        return Set(all.map { [$0.key, $0.nonce] }).count == all.count
    }

    /// Returns whether the first chunks of both objects share key and nonce.
    func hasNonces(of other: ChunkBindings) -> Bool {
        let (left, right) = (
            binding(ofChunk: 0, of: farCount, seed: 1), other.binding(ofChunk: 0, of: farCount, seed: 2)
        )
        return left?.key == right?.key && left?.nonce == right?.nonce
    }

    /// Two chunks of one object with the same key and nonce, or, in CTR, with common counter blocks. It is `nil` if
    /// there are none, or if the cipher allows them.
    var chunksWithOneNonce: (UInt64, UInt64)? {
        guard shape.cipher.needsNoncesOnce else { return nil }
        let all = indices.enumerated().compactMap { place, index in
            binding(ofChunk: index, of: farCount, seed: UInt8(place)).map { (index, $0) }
        }
        for (place, one) in all.enumerated() {
            if let other = all[..<place].first(where: { collide($0, one) }) { return (other.0, one.0) }
        }
        // Compares the last chunk, full and short, with the others.
        guard let last = indices.last, last > 0 else { return nil }
        for (seed, byteCount) in [(UInt8(0x7E), nil), (0x7F, shape.geometry.end.unitByteCount)] {
            guard let end = binding(ofChunk: last, of: last + 1, seed: seed, byteCount: byteCount) else { continue }
            if let other = all.first(where: { $0.0 != last && collide($0, (last, end)) }) { return (other.0, last) }
        }
        return nil
    }

    /// Returns whether any chunk of an object with that many chunks has a given key and nonce.
    func uses(_ key: ByteString, _ nonce: ByteString, chunkCount: UInt64) -> Bool {
        (0..<chunkCount).contains { index in
            let chunk = binding(ofChunk: index, of: chunkCount, seed: UInt8(truncatingIfNeeded: index + 1))
            return chunk?.key == key && chunk?.nonce == nonce
        }
    }

    /// Returns whether two chunks share key and nonce, or in CTR key and a counter block.
    private func collide(_ one: (UInt64, Binding), _ other: (UInt64, Binding)) -> Bool {
        guard one.1.key == other.1.key else { return false }
        guard shape.cipher.isStreaming, let left = try? Block(one.1.nonce.array),
            let right = try? Block(other.1.nonce.array)
        else { return one.1.nonce == other.1.nonce }
        // The number of counter blocks of a chunk.
        func blockCount(_ index: UInt64) -> UInt128 {
            let geometry = shape.geometry
            return UInt128(geometry.chunkByteCount - (index == 0 ? geometry.missingByteCount : 0) + 15) / 16
        }
        let distance = right.bigEndianValue &- left.bigEndianValue
        return distance < blockCount(one.0) || 0 &- distance < blockCount(other.0)
    }
}
