/// The places of an object that can be damaged, each with what its format promises: whether a change is noticed.
///
/// Worked out from the description, without a backend: what nonce, associated data and key depend on is bound to the
/// chunks, and so is a part that must be something.
package struct ObjectMap: Sendable {
    /// Some bytes, with a name.
    package struct Place: Hashable, Sendable {
        package let name: String
        package let range: Range<Int>
        /// Says whether each change of them is noticed by who reads all of the object.
        package let isBound: Bool
    }

    /// `nil` of an object that does not tell it, since it has no bytes.
    package let cipher: Cipher?
    /// The lengths of the keys and nonces of chunks.
    package let keyByteCount: Int?
    package let nonceByteCount: Int
    /// The fields of the header.
    package let header: [Place]
    package let headerByteCount: Int
    /// The stored bytes of each chunk.
    package let chunks: [Range<Int>]
    /// The fields behind the chunks.
    package let trailer: [Place]
    /// The stored bytes of a full chunk.
    package let storedChunkByteCount: Int
    /// Says whether the tags of chunks show that they are at another place.
    package let isIndexBound: Bool
    /// Says whether an object that ends with another chunk is noticed, if it still has one.
    package let isEndBound: Bool
    /// Says whether an object without chunks is an empty plaintext.
    package let canBeEmpty: Bool
    /// Says whether a chunk of zeros stands for zeros.
    package let hasHoles: Bool
    /// The hash function of the code over a chunk's data, if there is one.
    package let hmac: HashFunction?
    private let parts: [ChunkShape.StoredPart]
    private let bound: Set<String>
    private let isTagged: Bool

    /// Reads the header of an object, and maps it.
    package init(
        of source: any ByteSource, strategy: Strategy, key: SecretKey
    ) throws(DecryptionError) {
        let format = strategy.format
        let formatShape = try strategy.shape()
        hasHoles = format.hasHoles
        canBeEmpty = format.isEmptyObjectEmpty || format.emptyPlaintext == .nothing
        if source.byteCount == 0, format.isEmptyObjectEmpty {
            (cipher, keyByteCount, nonceByteCount, header, headerByteCount) = (formatShape.known?.cipher, nil, 0, [], 0)
            (chunks, trailer, storedChunkByteCount, parts) = ([], [], 0, [])
            (isIndexBound, isEndBound, isTagged, hmac, bound) = (false, false, false, nil, [])
            return
        }
        let header = try ObjectHeader(reading: source, strategy, key: key, backend: nil)
        let shape = try formatShape.shape(of: header).measured(source, header)
        let (geometry, cipher) = (shape.geometry, shape.cipher)
        let count = try geometry.chunkCount(ofCiphertext: source.byteCount)
        let (objectKey, rules) = try header.chunks(shape, count: count)
        let bindings = try ChunkBindings(format, shape, header.names)
        if case .fixed(let key) = objectKey { keyByteCount = key.byteCount } else { keyByteCount = nil }
        nonceByteCount = rules.nonce.maxByteCount
        self.cipher = cipher
        parts = shape.parts
        hmac = shape.hmac
        isTagged = shape.isAuthenticated && count > 0
        let isTagged = isTagged
        bound = format.rules.names(usedBy: format.rules.noticedNames(cipher))
        isIndexBound = isTagged && bindings.isIndexBound
        isEndBound = isTagged && bindings.isEndBound
        let bound = bound
        self.header = zip(format.header, header.fields).map { field, place in
            // Of a field that is only compared with others, the first alternative is no promise.
            Place(
                name: place.name, range: place.range,
                isBound: field.content.count == 1 || field.hasTag || isTagged && bound.contains(place.name))
        }
        headerByteCount = Int(geometry.headerByteCount)
        let plaintextByteCount = geometry.plaintextByteCount(ofCiphertext: source.byteCount, chunkCount: count)
        chunks = (0..<count).map { index in
            let range = geometry.chunk(
                index, plaintextByteCount: plaintextByteCount, ciphertextByteCount: source.byteCount
            ).ciphertext
            return Int(range.lowerBound)..<Int(range.upperBound)
        }
        let start = Int(source.byteCount - geometry.trailerByteCount)
        let places = try format.rules.trailerPlaces(of: source, at: UInt64(start), header.names, in: format.name)
        trailer = zip(format.trailerFields, places).map { field, place in
            Place(
                name: field.name, range: start + place.lowerBound..<start + place.upperBound,
                isBound: !field.content.isEmpty || field.hasTag)
        }
        storedChunkByteCount = Int(min(geometry.maxStoredChunkByteCount, source.byteCount))
    }

    /// The parts of a chunk: its data, its tag, and the description's own.
    package func places(inChunk index: Int) -> [Place] {
        let chunk = chunks[index]
        let ranges = parts.map { $0.range(isLast: index + 1 == chunks.count) }
        let front = ranges.filter { $0.lowerBound >= 0 }.map(\.upperBound).max() ?? 0
        let behind = ranges.map(\.lowerBound).min().map { -min($0, 0) } ?? 0
        var places: [Place] = []
        if front + behind < chunk.count {
            places.append(
                Place(
                    name: "data", range: chunk.lowerBound + front..<chunk.upperBound - behind, isBound: isTagged))
        }
        for (part, range) in zip(parts, ranges) {
            let range = range.place(in: chunk.count)
            let place = chunk.lowerBound + range.lowerBound..<chunk.lowerBound + range.upperBound
            guard case .field(let field) = part.part else {
                places.append(Place(name: "tag", range: place, isBound: isTagged))
                continue
            }
            let isBound = !field.content.isEmpty || isTagged && bound.contains(field.name)
            places.append(Place(name: field.name, range: place, isBound: isBound))
        }
        return places.filter { !$0.range.isEmpty }
    }
}
