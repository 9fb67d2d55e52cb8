/// Facts that follow from a description without an object: for who looks at it, or compares formats.
package struct FormatFacts: Sendable {
    /// Stored bytes that have a name.
    package struct Part: Hashable, Sendable {
        package let name: String
        /// Counted from the start, or, if negative, from the end; `nil` as long as a header is to be seen first.
        package let offset: Int?
        package let byteCount: Int?
        /// Says whether the bytes are checked.
        package let isChecked: Bool
    }

    /// The cipher; `nil` if only an object tells.
    package let cipher: Cipher?
    /// The fields of the header.
    package let header: [Part]
    /// The parts of a chunk in stored order; the data has the length `nil`.
    package let chunk: [Part]
    /// The bytes of a full chunk's plaintext; `nil` if the file is one chunk, or an object has to be seen.
    package let chunkByteCount: UInt64?
    /// Says whether the file is one chunk.
    package let isWhole: Bool
    /// The max number of chunks, if there is one.
    package let maxChunkCount: UInt64?
    /// The max length of the plaintext, if there is one below 2⁶⁴.
    package let maxPlaintextByteCount: UInt64?

    /// Says whether a change of a chunk is noticed, by a tag.
    package let isTagged: Bool
    /// Says whether a chunk in another one's place is noticed.
    package let isIndexBound: Bool
    /// Says whether a chunk of another object is noticed.
    package let isObjectBound: Bool
    /// Says whether an object that was cut between two chunks is noticed, if a chunk is left.
    package let isEndBound: Bool
    /// Says whether an object of which no chunk is left is read as an empty plaintext.
    package let canBeCutToNothing: Bool
    /// Says whether a full chunk of zeros is read as zeros, whoever wrote it.
    package let hasHoles: Bool
    /// Two chunks of an object that have one key and nonce; `nil` if there are none.
    package let chunksWithOneNonce: (UInt64, UInt64)?
    /// An encrypted field whose key and nonce another one of the object has, or a chunk; `nil` if there is none.
    package let fieldWithUsedNonce: String?
    /// Says whether objects with the same key and parameters have the same nonces.
    package let sharesNonces: Bool
    /// The error with which no object can be read, whatever it holds; `nil` if there is none, or only an object tells.
    package let readFault: DecryptionError?
    /// Says whether equal chunks of an object look different, since their keys or nonces are not the same.
    package let hasOwnNonces: Bool
    /// Says whether equal objects look different, since their keys or nonces follow from what is new in each.
    package let isFresh: Bool

    /// Stored bytes that nothing checks: neither what they must be, nor a tag that depends on them.
    package let unchecked: [String]

    fileprivate init(_ strategy: Strategy) throws(DecryptionError) {
        let (format, shape) = (strategy.format, try strategy.shape())
        let usual = shape.usual
        cipher = shape.knownCipher
        isWhole = format.chunk == nil
        chunkByteCount = strategy.chunkByteCount
        maxChunkCount = usual.flatMap { $0.geometry.maxChunkCount == .max ? nil : $0.geometry.maxChunkCount }
        maxPlaintextByteCount = usual.map(\.geometry).flatMap { geometry in
            let product = geometry.maxChunkCount.multipliedReportingOverflow(by: geometry.chunkByteCount)
            guard geometry.maxChunkCount < .max, !product.overflow else { return nil }
            let missing = geometry.missingByteCount + (format.isLastNeverFull ? 1 : 0)
            return product.partialValue - min(product.partialValue, missing)
        }
        header = format.header.map { field in
            let range = shape.fields.first { $0.name == field.name }?.range
            return Part(
                name: field.name, offset: range?.lowerBound, byteCount: range?.count,
                isChecked: !field.content.isEmpty || field.hasTag)
        }
        chunk = format.layout.map { part in
            let range = usual?.parts.first { $0.part == part }?.range
            switch part {
            case .data: return Part(name: "data", offset: nil, byteCount: nil, isChecked: false)
            case .tag(let byteCount):
                return Part(name: "tag", offset: range?.lowerBound, byteCount: byteCount, isChecked: true)
            case .field(let field):
                return Part(
                    name: field.name, offset: range?.lowerBound, byteCount: range?.count,
                    isChecked: !field.content.isEmpty)
            }
        }
        isTagged =
            usual?.isAuthenticated ?? format.layout.contains { if case .tag = $0 { true } else { $0.isCode } }
        hasHoles = format.hasHoles
        canBeCutToNothing =
            format.isEmptyObjectEmpty || format.emptyPlaintext == .nothing && !format.rules.isTrailerBound
        unchecked = Self.unchecked(strategy, isTagged: isTagged)
        let (objects, fields, readFault) = Self.objects(strategy.withoutPasswordWork)
        self.readFault = readFault
        fieldWithUsedNonce = fields.first.flatMap { fields in
            fields.indices.first { index in
                fields[..<index].contains { $0.collides(with: fields[index]) }
                    || objects.first?.uses(fields[index].key, fields[index].nonce, chunkCount: SealedNonce.chunkCount)
                        ?? false
            }.map { fields[$0].name }
        }
        let shareFieldNonces =
            fields.count > 1 && fields[0].contains { one in fields[1].contains { $0.collides(with: one) } }
        if let first = objects.first, let second = objects.last {
            isIndexBound = isTagged && first.isIndexBound
            isEndBound = isTagged && (first.isEndBound || format.rules.isTrailerBound)
            isObjectBound = isTagged && first.isBound(against: second)
            chunksWithOneNonce = first.chunksWithOneNonce
            // Of an input that is one of the object, such as an IV, users take another one each time.
            let inputs = format.inputs.filter { if case .bytes = $0.kind { true } else { false } }.map(\.name)
            sharesNonces =
                first.chunksWithOneNonce == nil && first.sharesNonces(with: second)
                && format.rules.boundNames.isDisjoint(with: inputs) || shareFieldNonces
            hasOwnNonces = first.hasOwnNonces
            let nonceNames = format.rules.names(
                usedBy: format.key.expression.names.union(format.nonce.expression.names))
            isFresh = !first.hasNonces(of: second) || nonceNames.contains(Format.Input.ivName)
        } else {
            // Of what cannot be made here, by the names that the description uses.
            let used = format.rules.boundNames
            let fields = Set(format.header.filter(\.content.isEmpty).map(\.name))
            isIndexBound = isTagged && (isWhole || !used.isDisjoint(with: ["i", "at"]))
            isEndBound =
                isTagged
                && (isWhole || format.isLastNeverFull || format.rules.isTrailerBound
                    || !used.isDisjoint(with: ["last", "count", "size"]))
            isObjectBound = isTagged && !used.isDisjoint(with: fields)
            (chunksWithOneNonce, sharesNonces) = (nil, shareFieldNonces)
            hasOwnNonces = isWhole || !used.isDisjoint(with: ["i", "at"])
            isFresh = !used.isDisjoint(with: fields.union([Format.Input.ivName]))
        }
    }

    /// The bindings of two objects with one key, as a writer would make them; none of a format that is not written
    /// here.
    private static func objects(
        _ strategy: Strategy
    ) -> (chunks: [ChunkBindings], fields: [[SealedNonce]], fault: DecryptionError?) {
        let keyByteCount = strategy.format.keyByteCounts?.first ?? 32
        var objects: [ChunkBindings] = []
        var fields: [[SealedNonce]] = []
        for seed in [1, 2] as [UInt8] {
            do throws(DecryptionError) {
                let key = try SecretKey(
                    material: (0..<max(1, keyByteCount)).map { UInt8(truncatingIfNeeded: 7 * $0 + 3) })
                let header = try ObjectHeader(writing: strategy, key: key, backend: nil) { count in
                    (0..<count).map { UInt8(truncatingIfNeeded: $0) &* 31 &+ seed &* 101 }
                }
                let shape = try strategy.shape().shape(of: header)
                do throws(DecryptionError) {
                    try header.checkReadable(shape, key: key)
                } catch {
                    return ([], [], error)
                }
                fields.append(
                    SealedNonce.all(of: strategy.format, header.names(chunkCount: SealedNonce.chunkCount)))
                objects.append(try ChunkBindings(strategy.format, shape, header.names))
            } catch {
                return ([], fields, nil)
            }
        }
        return (objects, fields, nil)
    }
}

/// The key and the nonce of an encrypted field.
private struct SealedNonce {
    let name: String
    let key: ByteString
    let nonce: ByteString

    /// The chunks of the objects that are looked at.
    static let chunkCount: UInt64 = 3

    /// Those of an object whose names are known.
    static func all(of format: Format, _ names: [String: Value]) -> [SealedNonce] {
        var names = names
        names[Format.Rules.lengthName] = .integer(100)
        return (format.header + format.trailerFields).compactMap { field in
            guard let sealed = field.sealed, let key = try? sealed.key.bytes(names, in: format.name),
                let nonce = try? sealed.nonce.bytes(names, in: format.name)
            else { return nil }
            return SealedNonce(name: field.name, key: key, nonce: nonce)
        }
    }

    func collides(with other: SealedNonce) -> Bool { key == other.key && nonce == other.nonce }
}

extension FormatFacts {
    private static func unchecked(_ strategy: Strategy, isTagged: Bool) -> [String] {
        let format = strategy.format
        let hasHeader = strategy.geometry?.headerByteCount != 0
        var names = Set(
            (format.checks.flatMap { [$0.condition, $0.requirement].compactMap(\.self) }
                + (format.rules.allHeaderFields + format.trailerFields).flatMap(\.content)
                + (format.header + format.trailerFields).filter(\.hasTag).flatMap { $0.sealed?.formulas ?? [] })
                .flatMap(\.expression.names))
        if isTagged { names.formUnion(format.rules.noticedNames(strategy.cipher).union(format.rules.shapeNames)) }
        let used = format.rules.names(usedBy: names)
        // Without bytes of its own, a header is a look at the first chunk.
        var fields = hasHeader ? format.header : []
        if isTagged { fields += format.parts }
        fields += format.trailerFields
        // A change of what is encrypted without a tag changes what it holds.
        fields += fields.filter { !$0.hasTag }.flatMap { $0.sealed?.holds ?? [] }
        var unchecked = fields.filter { $0.content.isEmpty && !$0.hasTag && !used.contains($0.name) }.map(\.name)
        if let start = format.start, hasHeader, start.expression != .name("headerEnd") {
            unchecked.append("up to the start")
        }
        if format.trailer != nil, format.trailerFields.isEmpty { unchecked.append("the trailer") }
        return unchecked
    }
}

extension Strategy {
    /// The facts, which are worked out once.
    ///
    /// - Throws: As ``validate()``.
    package func facts() throws(DecryptionError) -> FormatFacts {
        let shape = try shape()
        if let known = shape.facts.withLock({ $0 }) { return known }
        let facts = try FormatFacts(self)
        shape.facts.withLock { $0 = facts }
        return facts
    }

    /// The strategy whose password hashes take one step, for trials.
    fileprivate var withoutPasswordWork: Strategy {
        changing { rules in
            rules.derived = rules.derived.map { value in
                let formula = value.formula
                return .init(
                    name: value.name,
                    formula: Formula(formula.expression.withoutPasswordWork, formula.kind, at: formula.place))
            }
        }
    }
}

extension ObjectHeader {
    /// Refuses a format whose chunks no cipher could open.
    fileprivate func checkReadable(_ shape: ChunkShape, key: SecretKey) throws(DecryptionError) {
        var header = self
        header.assume(byteCount: 1 << 20)
        let (objectKey, _) = try header.chunks(shape, count: 2)
        switch objectKey {
        case .fixed(let key):
            guard shape.cipher.keyByteCounts.contains(key.byteCount) else {
                let expected = shape.cipher.keyByteCounts.map(String.init).joined(separator: " or ")
                throw .unsupported("a key of \(key.byteCount) bytes for \(shape.cipher.rawValue): expected \(expected)")
            }
        case .varying:
            guard !shape.isStreaming else {
                throw .unsupported("\(shape.cipher.rawValue) with a key for each chunk")
            }
        }
    }
}

extension Format.Rules {
    /// The names that a chunk's key, nonce, associated data and checked parts use.
    var chunkNames: Set<String> {
        let formulas = [key, nonce, associatedData].compactMap(\.self) + parts.flatMap(\.content)
        return Set(formulas.flatMap(\.expression.names))
    }

    /// The names that a chunk's tag depends on: of the cipher's, what it is opened with; of another one, what the codes
    /// of the data are of. Parts that must be something are compared.
    func noticedNames(_ cipher: Cipher) -> Set<String> {
        if cipher.isAuthenticated { return chunkNames }
        return Set(parts.flatMap(\.content).flatMap(\.expression.names))
    }

    /// The same names, and those that they follow from.
    ///
    /// A change of a stored part is noticed only if the nonce or the associated data has it, or if it is checked.
    var boundNames: Set<String> { names(usedBy: chunkNames) }

    /// Names, and those that they follow from.
    func names(usedBy names: Set<String>) -> Set<String> {
        var contents: [String: [Formula]] = [:]
        for field in allHeaderFields + parts + trailerFields { contents[field.name] = field.content }
        for field in header + trailerFields {
            guard let sealed = field.sealed else { continue }
            let own = Formula(.name(field.name), .bytes, at: sealed.key.place)
            for held in sealed.holds { contents[held.name] = held.content + sealed.formulas + [own] }
        }
        for value in derived { contents[value.name] = [value.formula] }
        var (used, waiting) = (names, Array(names))
        while let name = waiting.popLast() {
            for name in (contents[name] ?? []).flatMap(\.expression.names) where used.insert(name).inserted {
                waiting.append(name)
            }
        }
        return used
    }
}

extension Strategy {
    /// A strategy of a format with all defaults, and samples where there are none.
    package init(sampling format: Format) {
        self.init(format, Dictionary(format.inputs.map { ($0.name, $0.sample) }) { $1 })
    }
}
