extension Format {
    /// Parses descriptions: a mapping of names to formats. A description with variants gives a format for each of them.
    ///
    /// - Throws: `DescriptionError` with line and column.
    /// - Source: docs/formats.md, "Members".
    package static func read(_ text: [UInt8]) throws(DescriptionError) -> [Format] {
        let document = try YAMLNode(text).members("a name, and behind it a description")
        guard !document.isEmpty else {
            throw DescriptionError(DescriptionPlace(line: 1, column: 1), "nothing: expected a name and a description")
        }
        var formats: [Format] = []
        for (name, place, node) in document {
            try checkName(name, at: place)
            var reader = try FormatReader(name: name, place: place, node, text: text)
            formats += try reader.formats()
        }
        return formats
    }

    fileprivate static func checkName(_ name: String, at place: DescriptionPlace) throws(DescriptionError) {
        let allowed: (UInt8) -> Bool = { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        }
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(allowed) else {
            throw DescriptionError(
                place, "the name \"\(name.prefix(80))\": expected a to z, 0 to 9 and hyphens, at most 64")
        }
    }
}

/// Parses one description.
struct FormatReader {
    private let name: String
    private let place: DescriptionPlace
    private let text: [UInt8]
    let members: [String: YAMLNode]
    var scope = ExpressionScope()

    private static let known = [
        "summary", "source", "pitfalls", "inputs", "variants", "emptyObject", "functions", "header", "derive", "check",
        "start", "trailer", "cipher", "chunk", "firstChunk", "lastChunk", "layout", "dataStart", "key", "nonce", "aad",
        "padding", "empty",
        "emptyLast",
        "fullLast", "multipleOf", "maxChunks", "hole", "rejectNonce", "openChecksLast", "whole",
    ]

    init(name: String, place: DescriptionPlace, _ node: YAMLNode, text: [UInt8]) throws(DescriptionError) {
        (self.name, self.place, self.text) = (name, place, text)
        self.members = try node.members("the members of a description", of: Self.known)
    }

    mutating func formats() throws(DescriptionError) -> [Format] {
        var inputs: [Format.Input] = []
        var keyByteCounts: [Int]?
        guard let inputsNode = members["inputs"] else {
            throw DescriptionError(place, "no \"inputs\": expected \"key\" at least")
        }
        var hasKey = false
        for (name, place, node) in try inputsNode.members("names, and what they are") {
            try declare(name, .integer, at: place)
            if name == "key" {
                keyByteCounts = try Self.keyByteCounts(node)
                hasKey = true
                scope.kinds[name] = .bytes
                continue
            }
            let input = try Self.input(name, node)
            inputs.append(input)
            if case .integer = input.kind { continue }
            scope.kinds[name] = .bytes
        }
        guard hasKey else { throw inputsNode.error("an input \"key\", the lengths of the key in bytes") }
        try readFunctions()
        let header = try readHeader()
        scope.kinds["headerEnd"] = .integer
        scope.kinds["size"] = .integer
        var derived: [Format.Derived] = []
        for node in try members["derive"]?.elements("a list of names and expressions") ?? [] {
            for (name, place, value) in try node.members("a name and an expression") {
                let formula = try formula(value)
                try declare(name, formula.kind, at: place)
                derived.append(.init(name: name, formula: formula))
            }
        }
        let fields = try header.map { field throws(DescriptionError) in try self.field(field) }
        let layout = try readLayout()
        let trailer = try readTrailer(behind: layout)
        let checks = try readChecks(inputs: inputs)
        var chunkScope = self
        for name in ["i", "last", "count"] + ChunkNumbers.Name.allCases.map(\.rawValue) {
            chunkScope.scope.kinds[name] = .integer
        }
        for part in layout {
            guard case .field(let field) = part else { continue }
            chunkScope.scope.kinds[field.name] = .bytes
        }
        func required(_ member: String) throws(DescriptionError) -> YAMLNode {
            guard let node = members[member] else { throw DescriptionError(place, "no \"\(member)\": expected one") }
            return node
        }
        let lastChunk = try readLastChunk(layout, trailer.byteCount)
        var tableScope = self
        tableScope.scope.kinds["count"] = .integer
        let dataStart = try tableScope.integer("dataStart")
        let nonce = try chunkScope.formula(required("nonce"), as: .bytes)
        var associatedData: Formula?
        if let node = members["aad"] { associatedData = try chunkScope.formula(node, as: .bytes) }
        let key = try chunkScope.formula(required("key"), as: .bytes)
        var rejectedNonce: Formula?
        if let node = members["rejectNonce"] { rejectedNonce = try chunkScope.formula(node, as: .integer) }
        var hole: Formula?
        if let node = members["hole"] {
            let isZero = if case .scalar("zero", _) = node.content { true } else { false }
            hole = isZero ? Formula(.integer(1), .integer, at: node.place) : try chunkScope.formula(node, as: .integer)
        }
        let whole = try readWhole(layout, chunks: chunkScope)
        let pitfalls = try readPitfalls()
        let isWhole = if case .scalar("whole", _) = try required("chunk").content { true } else { false }
        if isWhole, let node = members["firstChunk"] { throw node.error("none, since the file is one chunk") }
        let cipher = try word(required("cipher"), of: Cipher.allCases.map(\.rawValue))
        var padding: Formula?
        if let node = members["padding"] { padding = try word(node, of: Padding.allCases.map(\.rawValue)) }
        let isLastNeverFull = try flag("fullLast", "never")
        // If the last chunk is never full, it is empty behind full ones.
        let emptyLast = try members["emptyLast"]?.word(Format.EmptyLast.self) ?? (isLastNeverFull ? .allowed : .never)
        if isLastNeverFull, emptyLast != .allowed, let node = members["emptyLast"] {
            throw node.error("\"allowed\", since a last chunk that is never full is empty behind full ones")
        }
        func make(_ name: String, _ inputs: [Format.Input], _ keyByteCounts: [Int]?) throws(DescriptionError) -> Format
        {
            let rules = Format.Rules(
                keyByteCounts: keyByteCounts, inputs: inputs,
                isEmptyObjectEmpty: try flag("emptyObject", "isEmptyPlaintext"), header: fields, derived: derived,
                checks: checks, start: try integer("start"), trailer: trailer.byteCount, trailerFields: trailer.fields,
                cipher: cipher,
                chunk: isWhole ? nil : try integer("chunk"), firstChunk: try integer("firstChunk"),
                lastChunk: lastChunk, layout: layout, dataStart: dataStart,
                key: key, nonce: nonce, associatedData: associatedData, padding: padding,
                emptyPlaintext: try members["empty"]?.word(Format.EmptyPlaintext.self) ?? .chunk,
                emptyLast: emptyLast, isLastNeverFull: isLastNeverFull, unit: try integer("multipleOf"),
                maxChunkCount: try integer("maxChunks"), hole: hole,
                rejectedNonce: rejectedNonce, checksLast: try members["openChecksLast"]?.flag() ?? true,
                whole: whole)
            try rules.checkSealed()
            try rules.checkSecrets()
            try rules.checkWork()
            return Format(
                name: name, summary: try members["summary"]?.text("a text") ?? "",
                source: try members["source"]?.text("a text") ?? "", pitfalls: pitfalls, text: text, rules: rules)
        }
        guard let variants = members["variants"] else { return [try make(name, inputs, keyByteCounts)] }
        var formats: [Format] = []
        for (name, place, node) in try variants.members("names, and the inputs that they fix") {
            var (ownInputs, ownKeyByteCounts) = (inputs, keyByteCounts)
            for (input, inputPlace, value) in try node.members("inputs and their values") {
                if input == "key" {
                    ownKeyByteCounts = try Self.keyByteCounts(value)
                    continue
                }
                guard let index = ownInputs.firstIndex(where: { $0.name == input }) else {
                    throw DescriptionError(
                        inputPlace, "unknown input \"\(input)\"\(Nearest.hint(input, in: inputs.map(\.name)))")
                }
                if case .mapping = value.content {
                    let members = try value.members("a value, or a default", of: ["default"])
                    guard let node = members["default"] else { throw value.error("\"default\"") }
                    ownInputs[index] = try ownInputs[index].withDefault(node)
                } else {
                    ownInputs[index] = try ownInputs[index].withDefault(value, isFixed: true)
                }
            }
            try Format.checkName(name, at: place)
            formats.append(try make(name, ownInputs, ownKeyByteCounts))
        }
        return formats
    }

    mutating func declare(
        _ name: String, _ kind: Expression.Kind, at place: DescriptionPlace
    ) throws(DescriptionError) {
        guard Self.isName(name) else {
            throw DescriptionError(place, "the name \"\(name)\": expected letters, digits and _, a letter first")
        }
        let reserved = ["i", "last", "count", Format.Rules.lengthName, "data", "headerEnd", "size", "b", "raw"]
        guard scope.kinds[name] == nil, !reserved.contains(name),
            !ChunkNumbers.Name.allCases.map(\.rawValue).contains(name), Expression.Function(rawValue: name) == nil
        else {
            let isReserved = scope.kinds[name] == nil
            throw DescriptionError(
                place,
                "the name \"\(name)\" is \(isReserved ? "one of the language" : "there already"): expected another one")
        }
        scope.kinds[name] = kind
    }

    private static func isName(_ name: String) -> Bool {
        let isLetter: (UInt8) -> Bool = {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) || $0 == UInt8(ascii: "_")
        }
        return (1...64).contains(name.utf8.count) && name.utf8.first.map(isLetter) == true
            && name.utf8.allSatisfy { isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    // MARK: Expressions

    func formula(
        _ node: YAMLNode, as kind: Expression.Kind? = nil
    ) throws(DescriptionError) -> Formula {
        try ExpressionParser.formula(node.text("an expression"), at: node.place, as: kind, in: scope)
    }

    func integer(_ member: String) throws(DescriptionError) -> Formula? {
        guard let node = members[member] else { return nil }
        return try formula(node, as: .integer)
    }

    /// Parses one of some words, or an expression whose value is one.
    func word(_ node: YAMLNode, of words: [String]) throws(DescriptionError) -> Formula {
        let text = try node.text("a word, or an expression")
        if words.contains(text) { return Formula(.bytes(ByteString(text.utf8)), .bytes, at: node.place) }
        func refusal() -> DescriptionError { node.error("one of \(words.joined(separator: ", ")), or an expression") }
        if !text.contains(where: { " '(".contains($0) }), scope.kinds[text] == nil { throw refusal() }
        let formula = try formula(node, as: .bytes)
        if let literal = formula.expression.literal?.bytes, !words.contains(literal.text ?? "") { throw refusal() }
        return formula
    }

    private func flag(_ member: String, _ word: String) throws(DescriptionError) -> Bool {
        guard let node = members[member] else { return false }
        guard case .scalar(word, _) = node.content else { throw node.error(word) }
        return true
    }

    private mutating func readFunctions() throws(DescriptionError) {
        for (head, place, node) in try members["functions"]?.members("names with parameters, and expressions") ?? [] {
            let text = try node.text("an expression")
            guard let open = head.firstIndex(of: "("), head.last == ")" else {
                throw DescriptionError(place, "the function \"\(head)\": expected name(parameter, …)")
            }
            let name = String(head[..<open])
            let list = head[head.index(after: open)...].dropLast()
            let parameters =
                list.allSatisfy({ $0 == " " })
                ? []
                : list.split(separator: ",", omittingEmptySubsequences: false).map { part in
                    String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
                }
            guard Self.isName(name), parameters.allSatisfy(Self.isName), Set(parameters).count == parameters.count,
                scope.functions[name] == nil, Expression.Function(rawValue: name) == nil
            else {
                throw DescriptionError(
                    place, "the function \"\(head)\": expected a new name, and parameters with names")
            }
            scope.functions[name] = .init(parameters: parameters, text: text, place: node.place)
        }
    }

    // MARK: Inputs

    /// Parses the lengths of a byte string: a number, a list of numbers, or `any`.
    private static func byteCounts(_ node: YAMLNode) throws(DescriptionError) -> [Int]? {
        let expected = "a length in bytes, a list of lengths, or \"any\""
        switch node.content {
        case .scalar("any", _): return nil
        case .scalar: return [try byteCount(node, 0...maxInputByteCount)]
        case .sequence(let elements) where !elements.isEmpty:
            return try elements.map { element throws(DescriptionError) in
                try byteCount(element, 0...maxInputByteCount)
            }
        case .sequence, .mapping: throw node.error(expected)
        }
    }

    private static let maxInputByteCount = 1 << 20
    private static let maxKeyByteCount = 1023

    private static func byteCount(_ node: YAMLNode, _ range: ClosedRange<Int>) throws(DescriptionError) -> Int {
        let expected = "a length from \(range.lowerBound) to \(range.upperBound) bytes"
        let count = try node.integer(expected)
        guard range.contains(count) else { throw node.error(expected) }
        return count
    }

    /// Parses the lengths of keys, which are not empty.
    private static func keyByteCounts(_ node: YAMLNode) throws(DescriptionError) -> [Int]? {
        let counts = try byteCounts(node)
        if let counts, !counts.allSatisfy((1...maxKeyByteCount).contains) {
            throw node.error("lengths from 1 to \(maxKeyByteCount) bytes")
        }
        return counts
    }

    private static func input(_ name: String, _ node: YAMLNode) throws(DescriptionError) -> Format.Input {
        guard case .mapping = node.content else {
            return Format.Input(name: name, kind: .bytes(try byteCounts(node)), defaultValue: nil)
        }
        let members = try node.members(
            "a length, or members", of: ["bytes", "text", "default", "oneOf", "min", "max", "multipleOf"])
        let list = try members["oneOf"]?.elements("a list of words or numbers")
        if list?.isEmpty == true { throw node.error("words or numbers in \"oneOf\"") }
        for name in ["bytes", "min", "max", "multipleOf"] where list != nil {
            if let other = members[name] { throw other.error("none beside \"oneOf\"") }
        }
        let numbers = list?.compactMap { try? UInt64($0.integer("a number")) } ?? []
        let isText = try members["text"]?.flag()
        let kind: Format.Input.Kind
        if isText != true, let minimum = numbers.min(), let maximum = numbers.max(), numbers.count == list?.count {
            kind = .integer(minimum...maximum, multipleOf: 1, oneOf: numbers)
        } else if isText ?? (list != nil) {
            kind = .text(
                try list?.map { element throws(DescriptionError) in try element.text("a word") } ?? [])
        } else if list != nil {
            throw node.error("numbers in \"oneOf\", or words without \"text: false\"")
        } else if let bytes = members["bytes"] {
            kind = .bytes(try byteCounts(bytes))
        } else {
            let minimum = try members["min"]?.integer("a number") ?? 0
            let maximum = try members["max"]?.integer("a number") ?? 1 << 62
            guard minimum <= maximum else { throw node.error("\"min\" not above \"max\"") }
            let unit = try members["multipleOf"]?.integer("a number") ?? 1
            guard unit > 0 else { throw node.error("\"multipleOf\" of 1 or more") }
            kind = .integer(UInt64(minimum)...UInt64(maximum), multipleOf: UInt64(unit))
        }
        let input = Format.Input(name: name, kind: kind, defaultValue: nil)
        return try members["default"].map { value throws(DescriptionError) in try input.withDefault(value) } ?? input
    }
}
