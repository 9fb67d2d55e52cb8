/// The fields behind an object's chunks.
struct ObjectTrailer {
    private let format: Format
    private var names: [String: Value]

    /// The trailer of an object with known chunks.
    ///
    /// - Parameters:
    ///   - format: The format.
    ///   - names: The known names of the object.
    ///   - chunkCount: The number of its chunks.
    ///   - plaintextByteCount: The length of its plaintext.
    init(_ format: Format, _ names: [String: Value], chunkCount: UInt64, plaintextByteCount: UInt64) {
        (self.format, self.names) = (format, names)
        self.names["count"] = .integer(Int128(chunkCount))
        self.names[Format.Rules.lengthName] = .integer(Int128(plaintextByteCount))
    }

    /// Checks the trailer of an object.
    ///
    /// - Parameters:
    ///   - source: The object.
    ///   - offset: The start of the trailer.
    ///   - backend: The library that decrypts encrypted fields.
    /// - Throws: `DecryptionError.io`; the description's error for a field with the wrong content.
    func check(_ source: any ByteSource, at offset: UInt64, backend: any CipherBackend) throws(DecryptionError) {
        let byteCount = source.byteCount
        var names = names
        // Checks the lengths before it allocates memory.
        let places = try format.rules.trailerPlaces(of: source, at: offset, names, in: format.name)
        let end = places.last?.upperBound ?? 0
        let bytes = try ByteString(count: end) { buffer throws(DecryptionError) in
            try source.fetch(at: offset, into: buffer)
        }
        for (field, place) in zip(format.trailerFields, places) { names[field.name] = .bytes(bytes.slice(place)) }
        for field in format.trailerFields {
            guard let bytes = names[field.name]?.bytes else { continue }
            var isRight = try field.accepts(bytes, names, in: format.name)
            if let sealed = field.sealed {
                let held = try sealed.open(bytes, names, backend: backend, in: format.name)
                for (name, bytes) in held ?? [] { names[name] = .bytes(bytes) }
                isRight = held != nil
                for field in sealed.holds {
                    guard isRight, let bytes = names[field.name]?.bytes else { continue }
                    isRight = try field.accepts(bytes, names, in: format.name)
                }
            }
            guard isRight else {
                throw field.error.refusal(
                    "\"\(field.name)\" behind the chunks, as \(format.name) has it", byteCount: byteCount)
            }
        }
    }

    /// Returns the trailer of a new object.
    ///
    /// - Parameters:
    ///   - backend: The library that encrypts encrypted fields.
    ///   - random: Returns a number of random bytes.
    /// - Returns: The trailer's bytes.
    /// - Throws: `DecryptionError.unsupported` for a field that the description does not determine.
    func bytes(backend: any CipherBackend, random: (Int) -> [UInt8]) throws(DecryptionError) -> [UInt8] {
        var (names, bytes) = (names, [UInt8]())
        for field in format.trailerFields.flatMap({ ($0.sealed?.holds ?? []) + [$0] }) {
            let value: ByteString
            if let sealed = field.sealed {
                value = try sealed.seal(names, backend: backend, in: format.name)
            } else if let content = field.written {
                value = try content.bytes(names, in: format.name)
                try content.check(value, count: field.count(names, after: 0, in: format.name), in: format.name)
            } else {
                value = .drawn(try field.count(names, after: 0, in: format.name), random)
            }
            names[field.name] = .bytes(value)
        }
        for field in format.trailerFields { bytes += names[field.name]?.bytes?.array ?? [] }
        return bytes
    }
}

extension Format.Rules {
    /// Returns the places of the trailer's fields, relative to its start; lengths may depend on earlier fields.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source ends earlier, `.headerRejected` for more than 1
    ///   MiB, `.io`.
    func trailerPlaces(
        of source: any ByteSource, at offset: UInt64, _ names: [String: Value], in format: String
    ) throws(DecryptionError) -> [Range<Int>] {
        let used = Set(trailerFields.flatMap(\.byteCount.expression.names))
        var (names, end) = (names, 0)
        return try trailerFields.map { field throws(DecryptionError) in
            let start = end
            let count = try field.count(names, after: start, in: format)
            end += count
            guard UInt64(end) <= source.byteCount - min(offset, source.byteCount) else {
                throw .truncatedCiphertext(
                    byteCount: source.byteCount, expected: "\"\(field.name)\" behind the chunks")
            }
            if used.contains(field.name) {
                names[field.name] = .bytes(
                    try ByteString(count: count) { buffer throws(DecryptionError) in
                        try source.fetch(at: offset + UInt64(start), into: buffer)
                    })
            }
            return start..<end
        }
    }
}

extension ChunkShape {
    /// The max length in bytes of a trailer whose own fields determine its length.
    private static let maxTrailerByteCount: UInt64 = 1 << 20

    /// Returns the shape with the length of the trailer, if only the last chunk determines it. It starts at the
    /// position without a trailer, and goes back chunk by chunk until a chunk's parts have the values of a last chunk.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if there is no such chunk, or the trailer does not end with the
    ///   object; `.authenticationFailed` if the chunk would have more plaintext than a chunk can hold; `.io`.
    func measured(_ source: any ByteSource, _ header: ObjectHeader) throws(DecryptionError) -> ChunkShape {
        let format = header.format
        guard let lastChunk = format.lastChunk else { return self }
        let size = source.byteCount
        func refusal(_ expected: String) -> DecryptionError {
            .truncatedCiphertext(byteCount: size, expected: expected)
        }
        guard !geometry.end.isPadded else { throw .unsupported("\"lastChunk\" of padded chunks, in \(format.name)") }
        let (all, least) = (size - min(size, geometry.headerByteCount), geometry.lastOverheadByteCount)
        guard all >= least, size >= geometry.headerByteCount else { throw refusal("a header and a last chunk") }
        let front = parts.filter { $0.lastRange.lowerBound >= 0 }
        let frontByteCount = UInt64(front.last?.lastRange.upperBound ?? 0)
        var window = SourceWindow(source)
        var index = min(geometry.chunkIndex(atStored: all - least), max(1, geometry.maxChunkCount) - 1)
        while true {
            let place = geometry.ciphertextStart(ofChunk: index)
            let capacity = geometry.chunkByteCount - (index == 0 ? geometry.missingByteCount : 0)
            let rest = size - place - least
            guard rest <= Self.maxTrailerByteCount || rest - Self.maxTrailerByteCount <= capacity else { break }
            let bytes = try window.bytes(place..<place + frontByteCount, isForward: false)
            var names = header.names
            names["last"] = .integer(1)
            names[ChunkNumbers.Name.index.rawValue] = .integer(Int128(index))
            names[ChunkNumbers.Name.offset.rawValue] = .integer(Int128(geometry.plaintextStart(ofChunk: index)))
            var fields: [(field: Format.Field, bytes: ByteString)] = []
            for part in front {
                guard case .field(let field) = part.part else { continue }
                fields.append((field, bytes.slice(part.lastRange)))
                names[field.name] = .bytes(bytes.slice(part.lastRange))
            }
            var isLast = true
            for (field, bytes) in fields where isLast && field.content.allSatisfy({ $0.isKnown(names) }) {
                isLast = try field.accepts(bytes, names, in: format.name)
            }
            if isLast {
                let count = try lastChunk.integer(names, in: format.name)
                guard (0...Int128(capacity)).contains(count) else { throw .authenticationFailed(chunk: index) }
                guard UInt64(count) <= rest else { throw refusal("the rest of the last chunk") }
                let end = size - (rest - UInt64(count))
                let places = try format.rules.trailerPlaces(of: source, at: end, header.names, in: format.name)
                guard end + UInt64(places.last?.upperBound ?? 0) == size else {
                    throw refusal("nothing behind the trailer")
                }
                return behind(trailerByteCount: size - end)
            }
            guard index > 0 else { break }
            index -= 1
        }
        throw refusal("a last chunk, and at most \(Self.maxTrailerByteCount) bytes behind it")
    }
}
