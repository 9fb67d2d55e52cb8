/// Facts that follow from a description without an object, for analysis and for comparing formats.
package struct FormatFacts: Sendable {
    /// Named stored bytes.
    package struct Part: Hashable, Sendable {
        package let name: String
        /// The offset from the start, or, if negative, from the end; `nil` if it depends on a header.
        package let offset: Int?
        package let byteCount: Int?
        /// True if a reader checks the bytes.
        package let isChecked: Bool
    }

    /// The cipher; `nil` if it depends on the object.
    package let cipher: Cipher?
    /// The fields of the header.
    package let header: [Part]
    /// The parts of a chunk in stored order; the data has the length `nil`.
    package let chunk: [Part]
    /// The plaintext length of a full chunk; `nil` if the file is one chunk, or the length depends on the object.
    package let chunkByteCount: UInt64?
    /// True if the file is one chunk.
    package let isWhole: Bool
    /// The max number of chunks, if limited.
    package let maxChunkCount: UInt64?
    /// The max length of the plaintext, if limited below 2⁶⁴.
    package let maxPlaintextByteCount: UInt64?

    /// True if a tag detects a change of a chunk.
    package let isTagged: Bool
    /// True if a reader detects a chunk in another chunk's place.
    package let isIndexBound: Bool
    /// True if a reader detects a chunk of another object.
    package let isObjectBound: Bool
    /// True if a reader detects that an object was cut between two chunks, if a chunk is left.
    package let isEndBound: Bool
    /// True if a reader takes an object without any chunk for an empty plaintext.
    package let canBeCutToNothing: Bool
    /// True if a reader takes a full chunk of zeros for zeros, even if an attacker wrote it.
    package let hasHoles: Bool
    /// Two chunks of an object with the same key and nonce; `nil` if there are none.
    package let chunksWithOneNonce: (UInt64, UInt64)?
    /// An encrypted field that shares key and nonce with another field of the object, or with a chunk; `nil` if there
    /// is none.
    package let fieldWithUsedNonce: String?
    /// True if objects with the same key and parameters have the same nonces.
    package let sharesNonces: Bool
    /// The error with which every object fails; `nil` if there is none, or it depends on the object.
    package let readFault: DecryptionError?
    /// True if equal chunks of an object look different, since their keys or nonces differ.
    package let hasOwnNonces: Bool
    /// True if equal objects look different, since their keys or nonces depend on values that are new in each.
    package let isFresh: Bool

    /// Stored bytes without any check: they have no required value, and no tag depends on them.
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
        hasHoles = format.hole != nil
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
            // Users choose an input that belongs to the object, such as an IV, anew each time.
            let inputs = format.inputs.filter { if case .bytes = $0.kind { true } else { false } }.map(\.name)
            sharesNonces =
                first.chunksWithOneNonce == nil && first.sharesNonces(with: second)
                && format.rules.boundNames.isDisjoint(with: inputs) || shareFieldNonces
            hasOwnNonces = first.hasOwnNonces
            let nonceNames = format.rules.names(
                usedBy: format.key.expression.names.union(format.nonce.expression.names))
            isFresh = !first.hasNonces(of: second) || nonceNames.contains(Format.Input.ivName)
        } else {
            // If no object can be made here, the names that the description uses decide.
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

    /// Returns the bindings of two objects with one key, as a writer would make them; empty if the format cannot be
    /// written here.
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

    /// The number of chunks of the sample objects.
    static let chunkCount: UInt64 = 3

    /// Returns the key and nonce of each encrypted field of an object with known names.
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
        // A header without bytes of its own is part of the first chunk.
        var fields = hasHeader ? format.header : []
        if isTagged { fields += format.parts }
        fields += format.trailerFields
        // A change of a field that is encrypted without a tag changes its content.
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
    /// Returns the facts, which are computed once.
    ///
    /// - Throws: As ``validate()``.
    package func facts() throws(DecryptionError) -> FormatFacts {
        let shape = try shape()
        if let known = shape.facts.withLock({ $0 }) { return known }
        let facts = try FormatFacts(self)
        shape.facts.withLock { $0 = facts }
        return facts
    }

    /// The strategy with one iteration per password hash, for trials.
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
                throw .unsupported(
                    "a key of \(key.byteCount) bytes for \(shape.cipher.rawValue): "
                        + "expected \(shape.cipher.keyByteCounts.listed)")
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

    /// Returns the names that a chunk's tag depends on: for a cipher with tags, its inputs; for other ciphers, the
    /// messages of the data's codes. Parts with required values are compared.
    func noticedNames(_ cipher: Cipher) -> Set<String> {
        if cipher.isAuthenticated { return chunkNames }
        return Set(parts.flatMap(\.content).flatMap(\.expression.names))
    }

    /// These names, and those that they depend on.
    ///
    /// A change of a stored part is detected only if the nonce or the associated data contains the part, or if it is
    /// checked.
    var boundNames: Set<String> { names(usedBy: chunkNames) }

    /// Returns names, and those that they depend on.
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
    /// A strategy of a format with all defaults, and samples for inputs without one.
    package init(sampling format: Format) {
        self.init(format, Dictionary(format.inputs.map { ($0.name, $0.sample) }) { $1 })
    }
}
