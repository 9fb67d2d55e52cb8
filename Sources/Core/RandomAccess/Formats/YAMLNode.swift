internal import CYAML

/// A node of a YAML document, with its place. libyaml parses the document.
///
/// The length, the depth and the number of nodes are bounded. Anchors, aliases and tags are not allowed, since
/// descriptions and plans do not need them.
package struct YAMLNode {
    package enum Content {
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }
    package let content: Content
    package let place: DescriptionPlace

    private static let maxDepth = 16

    /// Parses a text that holds one document.
    ///
    /// - Throws: `DescriptionError` for text that is not YAML, or that exceeds the limits.
    package init(_ text: [UInt8], maxByteCount: Int = 1 << 16, maxNodeCount: Int = 4096) throws(DescriptionError) {
        guard text.count <= maxByteCount else {
            throw DescriptionError(
                DescriptionPlace(line: 1, column: 1), "\(text.count) bytes: expected at most \(maxByteCount)")
        }
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else {
            throw DescriptionError(DescriptionPlace(line: 1, column: 1), "no memory: expected some")
        }
        defer { yaml_parser_delete(parser) }
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, text.count))
        defer { copy.deallocate() }
        _ = copy.initialize(from: text)
        yaml_parser_set_input_string(parser, copy.baseAddress, text.count)
        var events = Events(parser: parser, maxNodeCount: maxNodeCount)
        try events.expect(YAML_STREAM_START_EVENT, "a document")
        try events.expect(YAML_DOCUMENT_START_EVENT, "a document")
        self = try events.node(depth: 0)
        try events.expect(YAML_DOCUMENT_END_EVENT, "one document")
        try events.expect(YAML_STREAM_END_EVENT, "one document")
    }

    private init(_ content: Content, at place: DescriptionPlace) {
        (self.content, self.place) = (content, place)
    }

    private struct Events {
        let parser: UnsafeMutablePointer<yaml_parser_t>
        let maxNodeCount: Int
        var count = 0

        private mutating func next() throws(DescriptionError) -> yaml_event_t {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else {
                let mark = parser.pointee.problem_mark
                let problem = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
                throw DescriptionError(
                    DescriptionPlace(line: mark.line + 1, column: mark.column + 1),
                    "\(problem): expected YAML, with quotes around a text that has ': ' or ' #' in it")
            }
            return event
        }

        mutating func expect(_ type: yaml_event_type_t, _ expected: String) throws(DescriptionError) {
            var event = try next()
            defer { yaml_event_delete(&event) }
            guard event.type == type else {
                let found = event.type == YAML_STREAM_END_EVENT ? "nothing" : "something else"
                throw DescriptionError(Self.place(event), "\(found): expected \(expected)")
            }
        }

        private static func place(_ event: yaml_event_t) -> DescriptionPlace {
            DescriptionPlace(line: event.start_mark.line + 1, column: event.start_mark.column + 1)
        }

        /// True for a value with an anchor or a tag.
        private static func isMarked(_ event: yaml_event_t) -> Bool {
            switch event.type {
            case YAML_SCALAR_EVENT: event.data.scalar.anchor != nil || event.data.scalar.tag != nil
            case YAML_SEQUENCE_START_EVENT:
                event.data.sequence_start.anchor != nil || event.data.sequence_start.tag != nil
            case YAML_MAPPING_START_EVENT:
                event.data.mapping_start.anchor != nil || event.data.mapping_start.tag != nil
            default: false
            }
        }

        mutating func node(depth: Int) throws(DescriptionError) -> YAMLNode {
            guard let node = try nodeOrEnd(depth: depth) else {
                throw DescriptionError(DescriptionPlace(line: 1, column: 1), "nothing: expected a description")
            }
            return node
        }

        /// Returns the next node; `nil` at the end of a sequence or mapping.
        private mutating func nodeOrEnd(depth: Int) throws(DescriptionError) -> YAMLNode? {
            var event = try next()
            defer { yaml_event_delete(&event) }
            let place = Self.place(event)
            count += 1
            guard depth <= maxDepth, count <= maxNodeCount else {
                throw DescriptionError(place, "too much: expected at most \(maxNodeCount) values, \(maxDepth) deep")
            }
            guard !Self.isMarked(event) else {
                throw DescriptionError(place, "an anchor or a tag: expected the value alone")
            }
            switch event.type {
            case YAML_SCALAR_EVENT:
                let scalar = event.data.scalar
                let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
                let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
                // The text begins behind the quotation mark.
                var start = DescriptionPlace(line: place.line, column: place.column + (isPlain ? 0 : 1))
                start.isExact = event.end_mark.line == event.start_mark.line
                return YAMLNode(.scalar(String(decoding: bytes, as: UTF8.self), isPlain: isPlain), at: start)
            case YAML_SEQUENCE_START_EVENT:
                var elements: [YAMLNode] = []
                while let element = try nodeOrEnd(depth: depth + 1) { elements.append(element) }
                return YAMLNode(.sequence(elements), at: place)
            case YAML_MAPPING_START_EVENT:
                var members: [(YAMLNode, YAMLNode)] = []
                while let key = try nodeOrEnd(depth: depth + 1) {
                    members.append((key, try node(depth: depth + 1)))
                }
                return YAMLNode(.mapping(members), at: place)
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return nil
            case YAML_ALIAS_EVENT: throw DescriptionError(place, "an alias: expected the value itself")
            default: throw DescriptionError(place, "the end: expected a value")
            }
        }
    }
}

// MARK: Members

extension YAMLNode {
    /// A description of the node for messages.
    var words: String {
        switch content {
        case .scalar(let text, _): "\"\(text.prefix(40))\""
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    func error(_ expected: String) -> DescriptionError { DescriptionError(place, "\(words): expected \(expected)") }

    /// Returns the text of a scalar.
    func text(_ expected: String) throws(DescriptionError) -> String {
        guard case .scalar(let text, _) = content else { throw error(expected) }
        return text
    }

    /// Returns the elements of a list.
    func elements(_ expected: String) throws(DescriptionError) -> [YAMLNode] {
        guard case .sequence(let elements) = content else { throw error(expected) }
        return elements
    }

    /// Returns the members of a mapping, in order; refuses a name that occurs twice.
    package func members(_ expected: String) throws(DescriptionError) -> [(
        name: String, place: DescriptionPlace, value: YAMLNode
    )] {
        guard case .mapping(let pairs) = content else { throw error(expected) }
        var members: [(name: String, place: DescriptionPlace, value: YAMLNode)] = []
        var names: Set<String> = []
        for (key, value) in pairs {
            let name = try key.text("a name")
            guard names.insert(name).inserted else {
                throw DescriptionError(key.place, "\"\(name)\" for the second time: expected each name once")
            }
            members.append((name, key.place, value))
        }
        return members
    }

    /// Returns the members of a mapping; refuses unknown names.
    func members(
        _ expected: String, of known: [String]
    ) throws(DescriptionError) -> [String: YAMLNode] {
        var members: [String: YAMLNode] = [:]
        for (name, place, value) in try self.members(expected) {
            guard known.contains(name) else {
                throw DescriptionError(place, "unknown member \"\(name)\"\(Nearest.hint(name, in: known))")
            }
            members[name] = value
        }
        return members
    }

    /// Returns a literal integer.
    func integer(_ expected: String) throws(DescriptionError) -> Int {
        guard case .scalar(let text, true) = content, let value = Int(text), value >= 0 else { throw error(expected) }
        return value
    }

    /// Returns one of some words.
    func word<Word: RawRepresentable & CaseIterable>(
        _ type: Word.Type
    ) throws(DescriptionError) -> Word where Word.RawValue == String {
        let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
        guard case .scalar(let text, _) = content, let word = Word(rawValue: text) else {
            throw error("one of \(known)")
        }
        return word
    }

    /// Returns `true` or `false`.
    func flag() throws(DescriptionError) -> Bool {
        guard case .scalar(let text, true) = content, let value = Bool(text) else { throw error("true or false") }
        return value
    }
}
