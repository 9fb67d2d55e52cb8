import ByteSources
import RandomAccess
import Synchronization

/// A new object as its format's description says it is written. Each chunk can be made on its own.
///
/// The bytes that a writer draws at random come from a source with one byte for each offset of the ciphertext. So an
/// object can be made again from its own bytes. The chunks' data also come from this source, or are encrypted from a
/// plaintext. With a synthetic IV, the source gives the data's plaintext, since no tag can be found for a ciphertext.
struct OracleSealer: Sendable {
    /// The object as a reader would find it.
    let object: OracleObject
    /// The source of the bytes that a writer draws at random.
    let drawn: any ByteSource
    private let plaintextByteCount: UInt64
    private let alternative: UInt64?
    /// The bytes after the chunks.
    let trailer: Patch

    /// The max length of a chunk with a tag, which is hashed in one piece.
    private static let maxChunkByteCount: Int128 = 16 << 20

    /// Bytes at an offset of the ciphertext.
    struct Patch {
        let offset: UInt64
        let bytes: [UInt8]
    }

    /// Computes the header, and the positions of the chunks.
    ///
    /// - Parameters:
    ///   - strategy: The format, and values for its parameters.
    ///   - key: The key.
    ///   - plaintextByteCount: The plaintext's length.
    ///   - drawn: The source of the bytes that a writer draws at random.
    ///   - alternative: The number that selects a field's content if it may have several. Without it, the field keeps
    ///     the content in `drawn` if that is one of them.
    ///   - endsWithNothing: True to add an empty last chunk after a full one.
    /// - Throws: `DecryptionError.unsupported` for a description that does not define each field; the errors of
    ///   parameters and key; `.unalignedPlaintext`, `.invalidParameter` for a length that the format cannot hold.
    init(
        _ strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64, drawn: any ByteSource,
        alternative: UInt64? = nil, endsWithNothing: Bool = false
    ) throws(DecryptionError) {
        let format = strategy.format
        (self.plaintextByteCount, self.drawn, self.alternative) = (plaintextByteCount, drawn, alternative)
        var fields = Fields(
            known: OracleEvaluator(names: strategy.values, format: format.name), derived: format.derived[...],
            alternative: alternative)
        fields.known.names["key"] = .bytes(ByteString(key.withUnsafeBytes { Array($0) }))
        try OracleObject.check(key, format, fields.known)
        var end: UInt64 = 0
        for field in format.header {
            let count: Int128
            if !field.isOpen {
                count = try fields.known.number(field.byteCount)
            } else if let usual = field.usual, alternative != nil {
                count = Int128(try fields.known.bytes(usual).count)
            } else if let repetition = field.repetition, alternative == nil {
                count = try OracleObject.repeated(repetition, from: end, drawn, fields.known)
            } else if let prefix = field.nextLinePrefix, alternative == nil {
                count = try OracleObject.lines(from: end, before: prefix.array, drawn)
            } else {
                throw .unsupported("a new object of \(format.name), whose header has fields of unknown content")
            }
            guard (0...1 << 20).contains(count) else {
                throw .headerRejected(expected: "at most 1 MiB of \"\(field.name)\"")
            }
            fields.known.names[field.name + ".at"] = .integer(Int128(end))
            try fields.add(field, drawn: try Oracle.bytes(Int(count), at: end, of: drawn))
            end += UInt64(count)
        }
        fields.known.names["headerEnd"] = .integer(Int128(end))
        try fields.settle()
        let lengths = try OracleSizes(format, fields.known, trailer: format.lastChunk.map { _ in 0 })
        guard var sizes = lengths else {
            throw .unsupported("a new object of \(format.name), whose chunk lengths are not told")
        }
        var (chunkCount, size) = try sizes.written(ofPlaintext: plaintextByteCount)
        if endsWithNothing { (chunkCount, size) = (chunkCount + 1, size + sizes.inner.front + sizes.inner.behind) }
        if format.lastChunk != nil {
            let trailer = try Self.trailerByteCount(
                format, fields.known, from: size, of: drawn, alternative: alternative)
            sizes = sizes.with(trailer: trailer)
            size += sizes.trailer
        }
        let chunkByteCount =
            sizes.tag(isLast: false) == nil && sizes.codes.isEmpty ? 0 : min(sizes.full, Int128(plaintextByteCount))
        guard chunkByteCount <= Self.maxChunkByteCount, sizes.start <= UInt64(Self.maxChunkByteCount) else {
            throw .unsupported("a new object of \(format.name) with a chunk of \(chunkByteCount) bytes")
        }
        fields.known.names["size"] = .integer(Int128(size))
        fields.known.names["count"] = .integer(Int128(chunkCount))
        try fields.settle()
        guard fields.isComplete else {
            throw .unsupported("a new object of \(format.name), whose header depends on itself")
        }
        let header = format.header.flatMap { fields.known.names[$0.name]?.bytes?.array ?? [] }
        object = OracleObject(
            format, header: header, sizes: sizes, chunkCount: chunkCount, size: size, names: fields.known.names)
        var trailer = Fields(known: fields.known, alternative: alternative)
        trailer.known.names[Format.Rules.lengthName] = .integer(Int128(plaintextByteCount))
        let start = size - min(size, sizes.trailer)
        var place = start
        for field in format.trailerFields where size > 0 {
            let count = Int(try trailer.known.number(field.byteCount))
            try trailer.add(field, drawn: try Oracle.bytes(count, at: place, of: drawn))
            place += UInt64(count)
        }
        guard trailer.isComplete else {
            throw .unsupported("a new object of \(format.name), whose trailer depends on itself")
        }
        self.trailer = Patch(
            offset: start, bytes: format.trailerFields.flatMap { trailer.known.names[$0.name]?.bytes?.array ?? [] })
    }

    /// Returns the ciphertext with drawn data.
    ///
    /// - Throws: The errors of ``stored(_:)``.
    func source() throws(DecryptionError) -> any ByteSource { try stored(OracleSource(self)) }

    /// Returns the object as it is stored, given its bytes with contiguous chunks.
    ///
    /// - Throws: `DecryptionError.unsupported` for chunks that no table can describe, or the errors of expressions.
    func stored(_ whole: any ByteSource) throws(DecryptionError) -> any ByteSource {
        try OracleTable(writing: object)?.stored(of: whole) ?? whole
    }

    /// Returns the length of a trailer from an offset on, which its fields determine.
    private static func trailerByteCount(
        _ format: Format, _ known: OracleEvaluator, from start: UInt64, of drawn: any ByteSource, alternative: UInt64?
    ) throws(DecryptionError) -> UInt64 {
        var lengths = Fields(known: known, alternative: alternative)
        var place = start
        for field in format.trailerFields {
            let count = try lengths.known.number(field.byteCount)
            guard (0...1 << 20).contains(count) else { throw .headerRejected(expected: "at most 1 MiB of a trailer") }
            try lengths.add(field, drawn: try Oracle.bytes(Int(count), at: place, of: drawn))
            place += UInt64(count)
        }
        return place - start
    }

    /// The bytes before the chunks, including those that were not drawn.
    var header: Patch {
        Patch(offset: 0, bytes: Array(object.header.prefix(Int(min(object.sizes.start, object.size)))))
    }

    /// A chunk to be written.
    struct Chunk {
        let isLast: Bool
        let stored: Range<UInt64>
        let data: Range<UInt64>
        /// The number of plaintext bytes in its data, without padding.
        let byteCount: UInt64
        let known: OracleEvaluator
    }

    /// Computes a chunk's position and parts.
    ///
    /// - Throws: `DecryptionError.unsupported` for parts that depend on themselves, or the errors of expressions.
    func chunk(_ index: UInt64) throws(DecryptionError) -> Chunk {
        let (sizes, isLast) = (object.sizes, index + 1 == object.chunkCount)
        let start = sizes.plaintextStart(ofChunk: index)
        let end = isLast ? plaintextByteCount : sizes.plaintextStart(ofChunk: index + 1)
        let dataByteCount = end - start + (sizes.isPadded ? 16 - (end - start) % 16 : 0)
        let stored = sizes.storedStart(ofChunk: index)
        let dataStart = stored + sizes.front(isLast: isLast)
        let data = dataStart..<dataStart + dataByteCount
        let range = stored..<data.upperBound + sizes.behind(isLast: isLast)
        var fields = Fields(
            known: object.known(
                ofChunk: index, dataByteCount: dataByteCount, storedByteCount: UInt64(range.count)),
            alternative: alternative)
        // Codes of the data are computed after these.
        for (field, place) in sizes.fields(isLast: isLast)
        where !field.content.contains(where: \.expression.usesData) {
            let bytes = try Oracle.bytes(
                place.byteCount, at: sizes.start(of: place, in: range, isLast: isLast), of: drawn)
            try fields.add(field, drawn: bytes)
        }
        guard fields.isComplete else {
            throw .unsupported("a new chunk of \(object.format.name), whose parts depend on themselves")
        }
        return Chunk(
            isLast: isLast, stored: range, data: data, byteCount: end - start, known: fields.known)
    }

    /// Says whether chunks have bytes other than the drawn ones, if their data are drawn.
    var hasPatches: Bool {
        object.sizes.isPadded || object.sizes.tag(isLast: true) != nil
            || object.sizes.fields(isLast: true).contains { !$0.field.content.isEmpty }
    }

    /// Returns the bytes of a chunk that are not drawn if its data are: parts with a content, its tag, and its last
    /// block if it is padded.
    ///
    /// - Throws: The errors of a chunk's parts.
    func patches(ofChunk index: UInt64) throws(DecryptionError) -> [Patch] {
        let chunk = try chunk(index)
        let hasTag = object.sizes.tag(isLast: chunk.isLast) != nil || !object.sizes.codes.isEmpty
        guard object.sizes.isPadded || hasTag else { return try parts(chunk, data: []) }
        var patches: [Patch] = []
        var data = hasTag ? try Oracle.bytes(chunk.data.count, at: chunk.data.lowerBound, of: drawn) : []
        let sealing = try object.cipher(chunk.known)
        if object.sizes.isPadded {
            let block = chunk.data.upperBound - 16
            var bytes = try Oracle.bytes(Int(chunk.byteCount % 16), at: block, of: drawn)
            bytes += [UInt8](repeating: UInt8(16 - bytes.count), count: 16 - bytes.count)
            let previous =
                block == chunk.data.lowerBound ? sealing.nonce : try Oracle.bytes(16, at: block - 16, of: drawn)
            bytes = sealing.cipher.encrypt(bytes, nonce: previous)
            if hasTag { data.replaceSubrange((data.count - 16)..., with: bytes) }
            patches.append(Patch(offset: block, bytes: bytes))
        }
        var tag = sealing.cipher.hasSyntheticIV ? [] : sealing.tag(data)
        if sealing.cipher.hasSyntheticIV {
            (data, tag) = sealing.seal(data)
            patches.append(Patch(offset: chunk.data.lowerBound, bytes: data))
        }
        patches += try parts(chunk, data: data)
        if let place = object.sizes.tag(isLast: chunk.isLast) { patches.append(self.tag(tag, place, chunk)) }
        return patches
    }

    /// Returns the parts with a content, for a chunk with these data.
    private func parts(_ chunk: Chunk, data: [UInt8]) throws(DecryptionError) -> [Patch] {
        var patches: [Patch] = []
        for (field, place) in object.sizes.fields(isLast: chunk.isLast) {
            guard let content = field.content.first else { continue }
            var bytes = chunk.known.names[field.name]?.bytes?.array ?? []
            if content.expression.usesData {
                var known = chunk.known
                known.names[CodeExpression.dataName] = .bytes(ByteString(data))
                bytes = try known.bytes(content)
            }
            let start = object.sizes.start(of: place, in: chunk.stored, isLast: chunk.isLast)
            patches.append(Patch(offset: start, bytes: bytes))
        }
        return patches
    }

    private func tag(_ tag: [UInt8], _ place: OracleSizes.Place, _ chunk: Chunk) -> Patch {
        Patch(offset: object.sizes.start(of: place, in: chunk.stored, isLast: chunk.isLast), bytes: tag)
    }

    /// Returns the whole object with a plaintext.
    ///
    /// - Throws: The errors of a chunk's parts.
    func sealed(_ plaintext: [UInt8]) throws(DecryptionError) -> [UInt8] {
        var bytes = try Oracle.bytes(Int(object.size), at: 0, of: drawn)
        func put(_ patch: Patch) {
            bytes.replaceSubrange(Int(patch.offset)..<Int(patch.offset) + patch.bytes.count, with: patch.bytes)
        }
        put(header)
        put(trailer)
        for index in 0..<object.chunkCount {
            let chunk = try chunk(index)
            let start = Int(object.sizes.plaintextStart(ofChunk: index))
            var data = Array(plaintext[start..<start + Int(chunk.byteCount)])
            data += [UInt8](repeating: UInt8(chunk.data.count - data.count), count: chunk.data.count - data.count)
            let sealing = try object.cipher(chunk.known)
            let sealed = sealing.seal(data)
            try parts(chunk, data: sealed.ciphertext).forEach(put)
            put(Patch(offset: chunk.data.lowerBound, bytes: sealed.ciphertext))
            if let place = object.sizes.tag(isLast: chunk.isLast) { put(tag(sealed.tag, place, chunk)) }
        }
        return bytes
    }
}

/// The fields of a header or a chunk. A writer fills them in once it knows the values on which they depend.
private struct Fields {
    var known: OracleEvaluator
    var derived: ArraySlice<Format.Derived> = []
    let alternative: UInt64?
    private var waiting: [(field: Format.Field, drawn: [UInt8])] = []
    /// Encrypted fields whose plaintext is known, except for the parts that follow from other names.
    private var opened: [(field: Format.Field, sealed: Format.Field.Sealed)] = []

    init(known: OracleEvaluator, derived: ArraySlice<Format.Derived> = [], alternative: UInt64?) {
        (self.known, self.derived, self.alternative) = (known, derived, alternative)
    }

    var isComplete: Bool { waiting.isEmpty && opened.isEmpty && derived.isEmpty }

    /// Adds a field. A field of any content gets the drawn bytes.
    mutating func add(_ field: Format.Field, drawn: [UInt8]) throws(DecryptionError) {
        if let usual = field.usual, alternative != nil {
            let bytes = try known.bytes(usual)
            guard bytes.count == drawn.count else {
                throw .unsupported("\(bytes.count) bytes of \"\(field.name)\": expected \(drawn.count)")
            }
            known.names[field.name] = .bytes(ByteString(bytes))
        } else if field.content.isEmpty, field.sealed == nil {
            known.names[field.name] = .bytes(ByteString(drawn))
        } else {
            waiting.append((field, drawn))
        }
        try settle()
    }

    private func isKnown(_ field: Format.Field) -> Bool {
        (field.content + (field.sealed?.formulas ?? [])).allSatisfy(known.knows)
    }

    /// Computes everything that follows from the known values.
    mutating func settle() throws(DecryptionError) {
        while true {
            if let next = derived.first, known.knows(next.formula) {
                known.names[next.name] = try known.value(next.formula)
                derived.removeFirst()
            } else if let index = opened.firstIndex(where: { $0.sealed.holds.allSatisfy(isKnown) }) {
                let (field, sealed) = opened.remove(at: index)
                for field in sealed.holds {
                    guard let content = field.content.first else { continue }
                    known.names[field.name] = .bytes(ByteString(try known.bytes(content)))
                }
                known.names[field.name] = .bytes(ByteString(try known.sealedBytes(sealed)))
            } else if let index = waiting.firstIndex(where: { isKnown($0.field) }) {
                let (field, drawn) = waiting.remove(at: index)
                if let sealed = field.sealed {
                    // The drawn bytes are the ciphertext.
                    let held = try OracleSealed(sealed, known).opened(drawn, known).fields
                    for (field, bytes) in zip(sealed.holds, held.map(\.bytes)) where field.content.isEmpty {
                        known.names[field.name] = .bytes(ByteString(bytes))
                    }
                    opened.append((field, sealed))
                    continue
                }
                var contents: [[UInt8]] = []
                for content in field.content { contents.append(try known.bytes(content)) }
                let number = alternative.map { Int($0 % UInt64(contents.count)) } ?? contents.firstIndex(of: drawn)
                let chosen = contents[number ?? 0]
                guard chosen.count == drawn.count else {
                    throw .unsupported(
                        "\(chosen.count) bytes of \"\(field.name)\" in \(known.format): expected \(drawn.count)")
                }
                known.names[field.name] = .bytes(ByteString(chosen))
            } else {
                return
            }
        }
    }
}

/// The ciphertext of an object whose data are drawn like everything else. It keeps the latest patches.
final class OracleSource: ByteSource {
    let byteCount: UInt64
    private let sealer: OracleSealer
    private let patches = Mutex<[UInt64: [OracleSealer.Patch]]>([:])
    private static let maxKeptCount = 4096

    init(_ sealer: OracleSealer) {
        self.sealer = sealer
        self.byteCount = sealer.object.size
    }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let rest = buffers.prefix(Int(min(UInt64(buffers.byteCount), byteCount - offset)))
        try rest.forEach { (start, buffer) throws(DecryptionError) in try fill(buffer, from: offset + UInt64(start)) }
        return rest.byteCount
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) throws(DecryptionError) {
        guard let start = buffer.baseAddress else { return }
        try Oracle.fetch(buffer.count, at: offset, of: sealer.drawn, into: start)
        let end = offset + UInt64(buffer.count)
        func put(_ patch: OracleSealer.Patch) {
            let range = offset..<end
            let place = (patch.offset..<patch.offset + UInt64(patch.bytes.count)).clamped(to: range)
            for position in place { buffer[Int(position - offset)] = patch.bytes[Int(position - patch.offset)] }
        }
        put(sealer.header)
        put(sealer.trailer)
        let (object, sizes) = (sealer.object, sealer.object.sizes)
        guard sealer.hasPatches, object.chunkCount > 0 else { return }
        var index = object.chunkCount == 1 ? 0 : min(sizes.chunk(atStored: offset), object.chunkCount - 1)
        while index < object.chunkCount, sizes.storedStart(ofChunk: index) < end {
            try patches(ofChunk: index).forEach(put)
            index += 1
        }
    }

    private func patches(ofChunk index: UInt64) throws(DecryptionError) -> [OracleSealer.Patch] {
        if let known = patches.withLock({ $0[index] }) { return known }
        let made = try sealer.patches(ofChunk: index)
        patches.withLock { patches in
            if patches.count >= Self.maxKeptCount { patches.removeAll() }
            patches[index] = made
        }
        return made
    }
}
