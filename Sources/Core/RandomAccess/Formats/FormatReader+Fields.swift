/// The fields of headers, trailers and chunks, and the checks.
extension FormatReader {
    /// A field with a known name and length, whose content may use names that are declared later.
    struct Draft {
        let name: String
        let byteCount: Formula
        var nextLinePrefix: ByteString?
        var repetition: Format.Field.Repetition?
        let content: [YAMLNode]
        var usual: YAMLNode?
        var sealed: SealedDraft?
        let error: Format.ObjectError
    }

    /// An encrypted field's plaintext and encryption, before all names are declared.
    struct SealedDraft {
        let cipher: Formula
        let key: YAMLNode
        let nonce: YAMLNode
        let associatedData: YAMLNode?
        let holds: [(draft: Draft, place: DescriptionPlace)]
    }

    mutating func readHeader() throws(DescriptionError) -> [Draft] {
        var drafts: [Draft] = []
        for node in try members["header"]?.elements("a list of fields") ?? [] {
            for (name, place, value) in try node.members("a field: its name and length") {
                let draft = try draft(name, value)
                try declare(draft, at: place)
                scope.kinds[name + ".at"] = .integer
                drafts.append(draft)
            }
        }
        return drafts
    }

    /// Declares a field, and the fields encrypted in it.
    private mutating func declare(_ draft: Draft, at place: DescriptionPlace) throws(DescriptionError) {
        try declare(draft.name, .bytes, at: place)
        for held in draft.sealed?.holds ?? [] { try declare(held.draft.name, .bytes, at: held.place) }
    }

    /// Reads the bytes behind the chunks: a number of them, or fields.
    func readTrailer(
        behind layout: [Format.Part]
    ) throws(DescriptionError) -> (byteCount: Formula?, fields: [Format.Field]) {
        guard let node = members["trailer"], case .sequence(let elements) = node.content else {
            return (try integer("trailer"), [])
        }
        var trailer = self
        for name in ["count", Format.Rules.lengthName] { trailer.scope.kinds[name] = .integer }
        for case .field(let part) in layout { trailer.scope.kinds[part.name] = .bytes }
        // Lengths depend on values known before the chunks, and on earlier trailer fields.
        var (drafts, lengths) = ([Draft](), self)
        for node in elements {
            for (name, place, value) in try node.members("a field: its name and length") {
                let draft = try lengths.draft(name, value)
                guard draft.nextLinePrefix == nil, draft.repetition == nil else {
                    throw value.error("a length: lines and \"repeat\" stand in headers only")
                }
                try trailer.declare(draft, at: place)
                lengths.scope.kinds[name] = .bytes
                drafts.append(draft)
            }
        }
        for case .field(let part) in layout { trailer.scope.kinds[part.name] = nil }
        let sum = Formula(.sum(drafts.map(\.byteCount.expression)), .integer, at: node.place)
        let isKnown = sum.expression.names.isDisjoint(with: drafts.map(\.name))
        guard isKnown || members["lastChunk"] != nil else {
            throw node.error("lengths that are known before the chunks are, or \"lastChunk\"")
        }
        return (isKnown ? sum : nil, try drafts.map { draft throws(DescriptionError) in try trailer.field(draft) })
    }

    /// Reads the plaintext length of the last chunk, as a formula of the parts in front of its data.
    func readLastChunk(_ layout: [Format.Part], _ trailer: Formula?) throws(DescriptionError) -> Formula? {
        guard let node = members["lastChunk"] else { return nil }
        guard trailer == nil, members["trailer"] != nil else {
            throw node.error("a trailer whose lengths its own fields tell")
        }
        guard try members["empty"]?.word(Format.EmptyPlaintext.self) ?? .chunk == .chunk else {
            throw node.error("no \"empty: nothing\", since the last chunk tells the end")
        }
        var last = self
        var hasContent = false
        for case .field(let part) in layout.prefix(while: { $0 != .data }) {
            last.scope.kinds[part.name] = .bytes
            hasContent = hasContent || !part.content.isEmpty
        }
        guard hasContent else { throw node.error("a part in front of the data that must be something") }
        return try last.formula(node, as: .integer)
    }

    private func draft(_ name: String, _ node: YAMLNode) throws(DescriptionError) -> Draft {
        guard case .mapping = node.content else {
            return Draft(
                name: name, byteCount: try formula(node, as: .integer), content: [], error: .authenticationFailed)
        }
        let members = try node.members(
            "a length, or members",
            of: [
                "bytes", "is", "oneOf", "usually", "error", "linesBefore", "repeat", "holds", "cipher", "key", "nonce",
                "aad",
            ])
        if let repetition = members["repeat"] { return try repeatedDraft(name, repetition, members, node) }
        if let holds = members["holds"] { return try sealedDraft(name, holds, members, node) }
        if let other = ["cipher", "key", "nonce", "aad"].first(where: { members[$0] != nil }) {
            throw node.error("\"holds\" beside \"\(other)\"")
        }
        if let prefix = members["linesBefore"] {
            guard Set(members.keys).isSubset(of: ["linesBefore", "usually"]) else {
                throw node.error("\"linesBefore\" alone, or with \"usually\"")
            }
            guard let bytes = try formula(prefix, as: .bytes).expression.literal?.bytes,
                (1...64).contains(bytes.count), !bytes.array.contains(LineSearch.lineFeed)
            else { throw prefix.error("what the next line begins with: 1 to 64 bytes, such as \"'--- '\"") }
            return Draft(
                name: name, byteCount: Format.Field.unknownByteCount(of: name, at: prefix.place), nextLinePrefix: bytes,
                content: [], usual: members["usually"], error: .authenticationFailed)
        }
        guard let byteCount = members["bytes"] else { throw node.error("\"bytes\", a length") }
        guard ["is", "oneOf", "usually"].filter({ members[$0] != nil }).count <= 1 else {
            throw node.error("\"is\", \"oneOf\" or \"usually\"")
        }
        let content = try members["oneOf"]?.elements("a list of expressions") ?? members["is"].map { [$0] } ?? []
        return Draft(
            name: name, byteCount: try formula(byteCount, as: .integer), content: content, usual: members["usually"],
            error: try fieldError(members["error"]))
    }

    /// Returns the draft of repeated fields, of which only the lengths matter.
    private func repeatedDraft(
        _ name: String, _ repetition: YAMLNode, _ members: [String: YAMLNode], _ node: YAMLNode
    ) throws(DescriptionError) -> Draft {
        guard Set(members.keys).isSubset(of: ["repeat", "usually"]) else {
            throw node.error("\"repeat\" alone, or with \"usually\"")
        }
        let own = try repetition.members("\"times\" and \"fields\"", of: ["times", "fields"])
        guard let times = own["times"], let fields = own["fields"] else {
            throw repetition.error("\"times\" and \"fields\"")
        }
        var (inner, parts) = (self, [Format.Field.Repetition.Part]())
        for element in try fields.elements("a list of names and lengths") {
            for (name, place, value) in try element.members("a name and a length") {
                parts.append(.init(name: name, byteCount: try inner.formula(value, as: .integer)))
                try inner.declare(name, .bytes, at: place)
            }
        }
        return Draft(
            name: name, byteCount: Format.Field.unknownByteCount(of: name, at: repetition.place),
            repetition: .init(times: try formula(times, as: .integer), fields: parts), content: [],
            usual: members["usually"], error: .authenticationFailed)
    }

    /// Returns the draft of an encrypted field: its length is that of its content and its tag.
    private func sealedDraft(
        _ name: String, _ holds: YAMLNode, _ members: [String: YAMLNode], _ node: YAMLNode
    ) throws(DescriptionError) -> Draft {
        guard let cipher = members["cipher"], let key = members["key"], let nonce = members["nonce"],
            !["bytes", "is", "oneOf", "usually", "linesBefore"].contains(where: { members[$0] != nil })
        else { throw node.error("\"cipher\", \"key\" and \"nonce\" beside \"holds\", and no length or content") }
        var drafts: [(draft: Draft, place: DescriptionPlace)] = []
        for element in try holds.elements("a list of fields") {
            for (name, place, value) in try element.members("a field: its name and length") {
                let draft = try draft(name, value)
                guard draft.sealed == nil, draft.nextLinePrefix == nil, draft.repetition == nil, draft.usual == nil
                else {
                    throw value.error("a length, or \"bytes\" and \"is\"")
                }
                drafts.append((draft, place))
            }
        }
        let words = Cipher.allCases.filter { $0.isAuthenticated && !$0.hasSyntheticIV || $0 == .aesCTR }.map(\.rawValue)
        let formula = try word(cipher, of: words)
        guard let tag = formula.expression.tagByteCount else {
            throw cipher.error("one of \(words.joined(separator: ", ")), or a choice between them")
        }
        if let aad = members["aad"],
            let other = formula.expression.namedCiphers.first(where: { !$0.takesAssociatedData })
        {
            throw aad.error("none, since \(other.rawValue) takes none")
        }
        let sum = Expression.sum(drafts.map(\.draft.byteCount.expression) + [tag])
        return Draft(
            name: name, byteCount: Formula(sum, .integer, at: node.place), content: [],
            sealed: SealedDraft(cipher: formula, key: key, nonce: nonce, associatedData: members["aad"], holds: drafts),
            error: try fieldError(members["error"]))
    }

    /// Returns the error of a field; errors of checks without an object are not allowed.
    private func fieldError(_ node: YAMLNode?) throws(DescriptionError) -> Format.ObjectError {
        guard let node else { return .authenticationFailed }
        let error = try node.word(Format.ObjectError.self)
        guard error != .invalidRequest, error != .invalidKey else {
            throw node.error("the error of an object, such as invalidHeader")
        }
        return error
    }

    func field(_ draft: Draft) throws(DescriptionError) -> Format.Field {
        Format.Field(
            name: draft.name, byteCount: draft.byteCount, nextLinePrefix: draft.nextLinePrefix,
            repetition: draft.repetition,
            content: try draft.content.map { node throws(DescriptionError) in try formula(node, as: .bytes) },
            usual: try draft.usual.map { node throws(DescriptionError) in try formula(node, as: .bytes) },
            sealed: try draft.sealed.map { draft throws(DescriptionError) in
                Format.Field.Sealed(
                    cipher: draft.cipher, key: try formula(draft.key, as: .bytes),
                    nonce: try formula(draft.nonce, as: .bytes),
                    associatedData: try draft.associatedData.map { node throws(DescriptionError) in
                        try formula(node, as: .bytes)
                    },
                    holds: try draft.holds.map { held throws(DescriptionError) in try field(held.draft) })
            },
            error: draft.error)
    }

    mutating func readLayout() throws(DescriptionError) -> [Format.Part] {
        guard let node = members["layout"] else { return [.data] }
        var parts: [(part: Format.Part?, draft: Draft?)] = []
        var (chunkScope, trial, lengths) = (self, self, self)
        lengths.scope.kinds["last"] = .integer
        for name in ["i", "last", "count"] + ChunkNumbers.Name.allCases.map(\.rawValue) {
            chunkScope.scope.kinds[name] = .integer
        }
        for element in try node.elements("a list of parts, \"data\" among them") {
            if case .scalar("data", _) = element.content {
                guard !parts.contains(where: { $0.part == .data }) else { throw element.error("\"data\" once") }
                parts.append((.data, nil))
                continue
            }
            for (name, place, value) in try element.members("a part: its name and length, or \"data\"") {
                if name == "tag" {
                    guard !parts.contains(where: { if case .tag? = $0.part { true } else { false } }) else {
                        throw DescriptionError(place, "a second tag: expected one")
                    }
                    let byteCount = try value.integer("the tag's length")
                    guard byteCount <= 64 else { throw value.error("the tag's length, at most 64 bytes") }
                    parts.append((.tag(byteCount: byteCount), nil))
                    continue
                }
                let draft = try lengths.draft(name, value)
                guard draft.nextLinePrefix == nil, draft.sealed == nil, draft.repetition == nil, draft.usual == nil
                else {
                    throw value.error("a length: lines, \"repeat\", \"usually\" and \"holds\" stand in headers only")
                }
                try trial.declare(name, .bytes, at: place)
                chunkScope.scope.kinds[name] = .bytes
                parts.append((nil, draft))
            }
        }
        guard parts.contains(where: { $0.part == .data }) else { throw node.error("\"data\" among the parts") }
        chunkScope.scope.kinds[CodeExpression.dataName] = .bytes
        return try parts.map { part, draft throws(DescriptionError) in
            guard let draft else { return part ?? .data }
            let field = try chunkScope.field(draft)
            for content in field.content where content.expression.usesData {
                guard CodeExpression(content.expression) != nil, field.content.count == 1 else {
                    throw DescriptionError(content.place, "\(CodeExpression.expectation)")
                }
            }
            return .field(field)
        }
    }

    func readWhole(
        _ layout: [Format.Part], chunks: FormatReader
    ) throws(DescriptionError) -> Format.WholeCheck? {
        guard let node = members["whole"] else { return nil }
        let members = try node.members("\"fold\" and \"that\"", of: ["when", "fold", "that"])
        guard let fold = members["fold"], let that = members["that"] else {
            throw node.error("\"fold\" and \"that\", expressions")
        }
        var (folded, all) = (chunks, self)
        if layout.contains(where: { if case .tag = $0 { true } else { false } }) {
            folded.scope.kinds["tag"] = .bytes
        }
        for name in ["fold", "gap"] {
            guard scope.kinds[name] == nil else { throw node.error("no other \"\(name)\" in the description") }
            all.scope.kinds[name] = .bytes
        }
        all.scope.kinds["count"] = .integer
        return Format.WholeCheck(
            condition: try members["when"].map { node throws(DescriptionError) in try formula(node, as: .integer) },
            fold: try folded.formula(fold, as: .bytes), requirement: try all.formula(that, as: .integer))
    }

    func readPitfalls() throws(DescriptionError) -> [Format.Pitfall] {
        try members["pitfalls"]?.elements("a list of pitfalls").map { node throws(DescriptionError) in
            let members = try node.members("a pitfall", of: ["fault", "result", "seen"])
            func text(_ name: String) throws(DescriptionError) -> String {
                guard let member = members[name] else { throw node.error("\"\(name)\", a text") }
                return try member.text("a text")
            }
            return try Format.Pitfall(fault: text("fault"), result: text("result"), seen: text("seen"))
        } ?? []
    }

    func readChecks(inputs: [Format.Input]) throws(DescriptionError) -> [Format.Check] {
        try members["check"]?.elements("a list of checks").map { node throws(DescriptionError) in
            let members = try node.members("\"that\", and others", of: ["when", "that", "error", "expected"])
            guard let that = members["that"] else { throw node.error("\"that\", an expression") }
            let check = Format.Check(
                condition: try members["when"].map { node throws(DescriptionError) in try formula(node, as: .integer) },
                requirement: try formula(that, as: .integer),
                error: try members["error"]?.word(Format.ObjectError.self) ?? .authenticationFailed,
                words: try members["expected"]?.text("a text"))
            // These checks run before there is an object.
            var known = Set(inputs.map(\.name))
            if check.error == .invalidKey { known.insert("key") }
            guard check.error == .invalidKey || check.error == .invalidRequest else { return check }
            for formula in [check.condition, check.requirement].compactMap(\.self) {
                guard let name = formula.expression.names.subtracting(known).min() else { continue }
                let expected = check.error == .invalidKey ? "inputs and the key" : "inputs"
                throw DescriptionError(
                    formula.place,
                    "\"\(name)\" in a check with the error \(check.error.rawValue): expected \(expected) only")
            }
            return check
        } ?? []
    }
}
