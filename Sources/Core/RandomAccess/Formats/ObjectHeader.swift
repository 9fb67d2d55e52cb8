/// The known names of an object: the inputs, the fields of its header, and values derived from them.
struct ObjectHeader {
    /// All names with their values.
    private(set) var names: [String: Value]
    let format: Format
    /// The number of bytes up to the end of the last field.
    private(set) var byteCount = 0
    /// The places of the fields.
    private(set) var fields: [(name: String, range: Range<Int>)] = []

    private init(_ strategy: Strategy, _ key: SecretKey) {
        format = strategy.format
        names = strategy.values
        names["key"] = .bytes(ByteString(key))
    }

    /// Reads and checks the header of an object: first the fields that need no derived values, then derived values and
    /// encrypted fields, then the other fields and checks.
    ///
    /// - Parameters:
    ///   - source: The object.
    ///   - strategy: The format, and its parameters.
    ///   - key: The key.
    ///   - backend: The library that decrypts encrypted fields. Without one, their content counts as zeros, and nothing
    ///     that depends on it is checked.
    /// - Throws: `DecryptionError.truncatedCiphertext`, `.io`; the description's error for a wrong field or a failed
    ///   check, in most cases `.headerRejected`.
    init(
        reading source: any ByteSource, _ strategy: Strategy, key: SecretKey, backend: (any CipherBackend)?
    ) throws(DecryptionError) {
        self.init(strategy, key)
        do throws(DecryptionError) {
            try read(source, backend)
        } catch {
            throw format.header.isEmpty ? error : error.ofHeader
        }
    }

    private mutating func read(
        _ source: any ByteSource, _ backend: (any CipherBackend)?
    ) throws(DecryptionError) {
        names["size"] = .integer(Int128(source.byteCount))
        // Fetches fields of known lengths in one go.
        var waiting: [(field: Format.Field, range: Range<Int>)] = []
        for field in format.header {
            if !field.byteCount.isKnown(names) {
                let fetched = waiting.map(\.field)
                try fetch(&waiting, from: source)
                // Checked first, so that a length is not taken from another format's header.
                try check(fetched.filter(isEarly), source.byteCount)
            }
            if let prefix = field.nextLinePrefix {
                let count = try field.linesByteCount(at: byteCount, of: source, prefix: prefix)
                names[Format.Field.lengthName(of: field.name)] = .integer(Int128(count))
            }
            if let repetition = field.repetition {
                let count = try field.repeatedByteCount(repetition, at: byteCount, of: source, names, in: format.name)
                names[Format.Field.lengthName(of: field.name)] = .integer(Int128(count))
            }
            let count = try field.count(names, after: byteCount, in: format.name)
            names[field.name + ".at"] = .integer(Int128(byteCount))
            waiting.append((field, byteCount..<byteCount + count))
            fields.append((field.name, byteCount..<byteCount + count))
            byteCount += count
        }
        try fetch(&waiting, from: source)
        names["headerEnd"] = .integer(Int128(byteCount))
        let early = format.header.filter(isEarly)
        try check(early, source.byteCount)
        try derive(backend, source.byteCount)
        if backend == nil, format.header.contains(where: { $0.sealed != nil }) { return }
        try check(format.rules.allHeaderFields.filter { !early.contains($0) }, source.byteCount)
        for check in format.checks where check.error != .invalidKey && check.error != .invalidRequest {
            guard try check.holds(names, in: format.name) else {
                throw check.error.refusal(check.expected, byteCount: source.byteCount)
            }
        }
    }

    /// Returns whether all allowed contents of a field can be evaluated.
    private func isEarly(_ field: Format.Field) -> Bool { field.content.allSatisfy { $0.isKnown(names) } }

    private mutating func fetch(
        _ waiting: inout [(field: Format.Field, range: Range<Int>)], from source: any ByteSource
    ) throws(DecryptionError) {
        guard let start = waiting.first?.range.lowerBound, let end = waiting.last?.range.upperBound else { return }
        guard UInt64(end) <= source.byteCount else {
            throw .truncatedCiphertext(byteCount: source.byteCount, expected: "at least \(end), a header")
        }
        let bytes = try ByteString(count: end - start) { buffer throws(DecryptionError) in
            try source.fetch(at: UInt64(start), into: buffer)
        }
        for (field, range) in waiting {
            names[field.name] = .bytes(bytes.slice(range.lowerBound - start..<range.upperBound - start))
        }
        waiting = []
    }

    /// Computes derived values, and opens each encrypted field as soon as the values for it are known.
    private mutating func derive(
        _ backend: (any CipherBackend)?, _ byteCount: UInt64
    ) throws(DecryptionError) {
        var sealed = format.header.filter { $0.sealed != nil }
        var derived = format.derived[...]
        while true {
            if let index = sealed.firstIndex(where: { $0.sealed?.isKnown(names) == true }) {
                let field = sealed.remove(at: index)
                guard let bytes = names[field.name]?.bytes,
                    let held = try field.sealed?.open(bytes, names, backend: backend, in: format.name)
                else { throw field.refusal(in: format.name, byteCount: byteCount) }
                for (name, bytes) in held { names[name] = .bytes(bytes) }
                guard backend == nil else { continue }
                for held in field.sealed?.holds ?? [] {
                    guard let content = held.content.first, content.isKnown(names) else { continue }
                    names[held.name] = .bytes(try content.bytes(names, in: format.name))
                }
            } else if let next = derived.popFirst() {
                names[next.name] = try next.formula.value(names, in: format.name)
            } else {
                return
            }
        }
    }

    private func check(_ fields: [Format.Field], _ byteCount: UInt64) throws(DecryptionError) {
        for field in fields {
            guard case .bytes(let bytes) = names[field.name] else { continue }
            guard try field.accepts(bytes, names, in: format.name) else {
                throw field.refusal(in: format.name, byteCount: byteCount)
            }
        }
    }

    /// Makes the header of a new object: fields with required values, and random ones.
    ///
    /// - Parameters:
    ///   - strategy: The format, and its parameters.
    ///   - key: The key.
    ///   - backend: The library that encrypts encrypted fields; without one, they are random.
    ///   - random: Returns a number of random bytes.
    /// - Throws: `DecryptionError.unsupported` for a description that does not determine each field.
    init(
        writing strategy: Strategy, key: SecretKey, backend: (any CipherBackend)?, random: (Int) -> [UInt8]
    ) throws(DecryptionError) {
        self.init(strategy, key)
        var derived = format.derived[...]
        for field in format.header {
            var value: ByteString?
            if let written = field.written, written.isKnown(names) {
                value = try written.bytes(names, in: format.name)
            }
            if let value, field.isOpen {
                names[Format.Field.lengthName(of: field.name)] = .integer(Int128(value.count))
            }
            guard field.byteCount.isKnown(names) else {
                throw .unsupported(
                    "a new object of \(format.name): the length of \"\(field.name)\" depends on the header")
            }
            let count: Int
            do throws(DecryptionError) {
                count = try field.count(names, after: byteCount, in: format.name)
            } catch {
                guard !field.byteCount.expression.names.isDisjoint(with: fields.map(\.name)) else { throw error }
                throw .unsupported(
                    "a new object of \(format.name): the length of \"\(field.name)\" follows from bytes that are drawn "
                        + "at random: expected \"usually\" for them")
            }
            names[field.name + ".at"] = .integer(Int128(byteCount))
            fields.append((field.name, byteCount..<byteCount + count))
            byteCount += count
            if let value, let written = field.written {
                // Lengths behind it may depend on it.
                try written.check(value, count: count, in: format.name)
                names[field.name] = .bytes(value)
            } else if field.written == nil, field.sealed == nil || backend == nil {
                names[field.name] = .bytes(ByteString(random(count)))
            }
            for held in field.sealed?.holds ?? [] where held.content.isEmpty {
                names[held.name] = .bytes(.drawn(try held.count(names, after: 0, in: format.name), random))
            }
        }
        names["headerEnd"] = .integer(Int128(byteCount))
        var open = format.rules.allHeaderFields.filter { names[$0.name] == nil }
        while !open.isEmpty || !derived.isEmpty {
            let before = open.count + derived.count
            while let first = derived.first, first.formula.isKnown(names) {
                names[first.name] = try first.formula.value(names, in: format.name)
                derived.removeFirst()
            }
            for field in open {
                if let sealed = field.sealed, let backend {
                    guard sealed.isKnown(names), sealed.holds.allSatisfy({ names[$0.name] != nil }) else { continue }
                    names[field.name] = .bytes(try sealed.seal(names, backend: backend, in: format.name))
                    continue
                }
                guard let content = field.written, content.isKnown(names) else { continue }
                let bytes = try content.bytes(names, in: format.name)
                try content.check(bytes, count: field.count(names, after: 0, in: format.name), in: format.name)
                names[field.name] = .bytes(bytes)
            }
            open.removeAll { names[$0.name] != nil }
            guard open.count + derived.count < before else {
                let unknown = Set(
                    open.compactMap(\.written).flatMap(\.expression.names) + derived.flatMap(\.formula.expression.names)
                )
                .subtracting(names.keys).subtracting(open.map(\.name)).subtracting(derived.map(\.name))
                throw .unsupported(
                    unknown.isEmpty
                        ? "a new object of \(format.name): its header depends on itself"
                        : "a new object of \(format.name): a writer does not know "
                            + "\(unknown.sorted().joined(separator: ", "))"
                )
            }
        }
        try checkWritten()
    }

    /// Returns the header as a reader sees it, for a new object whose header is part of its first chunk.
    ///
    /// - Throws: `DecryptionError.unsupported` if the chunk is too short for it, or a reader would refuse it.
    func asRead(from chunk: UnsafeRawBufferPointer) throws(DecryptionError) -> ObjectHeader {
        guard chunk.count >= byteCount else {
            throw .unsupported("a new object of \(format.name) whose first chunk is shorter than its header")
        }
        var header = self
        for (name, range) in fields { header.names[name] = .bytes(ByteString(chunk[range])) }
        for derived in format.derived {
            header.names[derived.name] = try derived.formula.value(header.names, in: format.name)
        }
        for field in format.header where field.content.allSatisfy({ $0.isKnown(header.names) }) {
            guard case .bytes(let bytes)? = header.names[field.name] else { continue }
            guard try field.accepts(bytes, header.names, in: format.name) else {
                throw .unsupported(
                    "a new object of \(format.name), whose first chunk does not begin with \"\(field.name)\" as its "
                        + "header"
                )
            }
        }
        try header.checkWritten()
        return header
    }

    /// Refuses a header that a reader would refuse, as far as the known names show.
    private func checkWritten() throws(DecryptionError) {
        for (field, (name, range)) in zip(format.header, fields) {
            guard let prefix = field.nextLinePrefix else { continue }
            var search = LineSearch(prefix: prefix)
            guard search.find(in: bytes.dropFirst(range.lowerBound)) == range.count else {
                throw .unsupported("a new object of \(format.name): \"\(name)\" does not end where its lines do")
            }
        }
        for check in format.checks where check.error != .invalidKey && check.error != .invalidRequest {
            let formulas = [check.condition, check.requirement].compactMap(\.self)
            guard formulas.allSatisfy({ $0.isKnown(names) }) else { continue }
            guard try check.holds(names, in: format.name) else {
                throw .unsupported(
                    "a new object of \(format.name), whose header is drawn at random and refused: expected "
                        + "\(check.expected)"
                )
            }
        }
    }

    /// Sets a length for the object, because a writer does not know the real one.
    mutating func assume(byteCount: UInt64) { names["size"] = .integer(Int128(byteCount)) }

    /// The header's bytes.
    var bytes: [UInt8] {
        fields.flatMap { field -> [UInt8] in
            guard case .bytes(let bytes) = names[field.name] else { return [] }
            return bytes.array
        }
    }

    /// Returns the names together with the number of chunks.
    func names(chunkCount: UInt64) -> [String: Value] {
        names.merging(["count": .integer(Int128(chunkCount))]) { $1 }
    }
}
