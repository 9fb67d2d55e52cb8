/// The places of an object that can be damaged. For each, it says whether the format promises that a reader detects a
/// change.
///
/// It is derived from the description, without a backend. Everything on which nonce, associated data and key depend is
/// bound to the chunks, and so is a part with a required value.
package struct ObjectMap: Sendable {
    /// Some bytes, with a name.
    package struct Place: Hashable, Sendable {
        package let name: String
        package let range: Range<Int>
        /// True if a reader of the whole object detects every change of these bytes.
        package let isBound: Bool
    }

    /// The cipher; `nil` if the object has no bytes and so does not determine it.
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
    /// The hash function of the code over a chunk's data, if any.
    package let hmac: HashFunction?
    private let parts: [ChunkShape.StoredPart]
    private let bound: Set<String>
    private let isTagged: Bool

    /// Maps an object, given its header.
    package init(
        of source: any ByteSource, strategy: Strategy, key: SecretKey
    ) throws(DecryptionError) {
        let format = strategy.format
        let formatShape = try strategy.shape()
        if source.byteCount == 0, format.isEmptyObjectEmpty {
            (cipher, keyByteCount, nonceByteCount, header, headerByteCount) = (formatShape.known?.cipher, nil, 0, [], 0)
            (chunks, trailer, parts, isTagged, hmac, bound) = ([], [], [], false, nil, [])
            return
        }
        let header = try ObjectHeader(reading: source, strategy, key: key, backend: nil)
        let shape = try formatShape.shape(of: header).measured(source, header)
        let (geometry, cipher) = (shape.geometry, shape.cipher)
        let count = try geometry.chunkCount(ofCiphertext: source.byteCount)
        let (objectKey, rules) = try header.chunks(shape, count: count)
        if case .fixed(let key) = objectKey { keyByteCount = key.byteCount } else { keyByteCount = nil }
        nonceByteCount = rules.nonce.maxByteCount
        self.cipher = cipher
        parts = shape.parts
        hmac = shape.hmac
        isTagged = shape.isAuthenticated && count > 0
        let isTagged = isTagged
        bound = format.rules.names(usedBy: format.rules.noticedNames(cipher))
        let bound = bound
        self.header = zip(format.header, header.fields).map { field, place in
            // A field with several allowed values promises nothing about its first one.
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
    }

    /// Returns the parts of a chunk: its data, its tag, and the description's other parts.
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
