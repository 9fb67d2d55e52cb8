import ByteSources
package import RandomAccess
import SubjectProtocol
package import Support

/// Writes groups as a file of this project's schema, one line per test. The same groups always give the same bytes.
package struct VectorWriter: Sendable {
    /// The longest expected plaintext that a test lists; longer ones are given by their digests.
    static let longestListedByteCount = 64

    /// The source of groups that name no source.
    static let defaultSource = "generated"

    private var text = ""

    /// Returns the text of a class's file.
    ///
    /// - Throws: `DecryptionError` if an expected plaintext cannot be computed.
    package static func text(of vectors: VectorClass) throws(DecryptionError) -> String {
        var writer = VectorWriter()
        try writer.write(vectors)
        return writer.text
    }

    /// Returns the content of a file with some groups.
    ///
    /// - Throws: `DecryptionError` if an expected plaintext cannot be computed.
    package static func json(of groups: [VectorGroup], source: String) throws(DecryptionError) -> JSONValue {
        var list: [JSONValue] = []
        for group in groups {
            var writer = VectorWriter()
            try writer.write(group)
            list.append(JSONValue.parse(Array(writer.text.utf8)) ?? .null)
        }
        return ["schema": .integer(VectorFile.schemaVersion), "source": .string(source), "groups": .array(list)]
    }

    /// Returns the SHA-256 of a class's file in hex.
    ///
    /// - Throws: `DecryptionError` if an expected plaintext cannot be computed.
    package static func sha256(of vectors: VectorClass) throws(DecryptionError) -> String {
        Hexadecimal.encode(SHAFunction.sha256.hash(Array(try text(of: vectors).utf8)))
    }

    private mutating func write(_ vectors: VectorClass) throws(DecryptionError) {
        let groups = vectors.groups()
        var flags: Set<VectorFlag> = []
        var readCount = 0
        for group in groups {
            readCount += group.readCount
            flags.formUnion(group.flags)
            for read in group.reads { flags.formUnion(read.flags) }
        }
        text += "{\n  \"schema\": \(VectorFile.schemaVersion),\n"
        text += "  \"source\": \(quoted("Chunkwise, " + vectors.summary)),\n"
        text += "  \"generator\": \"chunkwise vectors generate\",\n"
        text += "  \"schemaFile\": \"data/schemas/vectors.json\",\n"
        let rules = VectorRules.lines(for: groups).map { "    \(quoted($0))" }
        text += "  \"rules\": [\n" + rules.joined(separator: ",\n") + "],\n"
        text += "  \"counts\": {\"groups\": \(groups.count), \"reads\": \(readCount), "
        text += "\"vectors\": \(groups.count + readCount)},\n"
        text += "  \"flags\": {\n"
        text += flags.sorted { $0.rawValue < $1.rawValue }.map { flag in
            "    \"\(flag.rawValue)\": {\"bug\": \(quoted(flag.explanation)), \"source\": \(quoted(flag.source))}"
        }.joined(separator: ",\n")
        text += "\n  },\n  \"groups\": [\n"
        for (index, group) in groups.enumerated() {
            try write(group)
            text += index + 1 < groups.count ? ",\n" : "\n"
        }
        text += "  ]\n}\n"
    }

    private mutating func write(_ group: VectorGroup) throws(DecryptionError) {
        text += "{\"id\":\(quoted(group.id)),"
        if group.source != Self.defaultSource { text += "\"source\":\(quoted(group.source))," }
        text += "\"flags\":\(list(group.flags)),\n "
        if let playlist = group.playlist {
            text += Self.members(of: playlist)
        } else {
            text += group.film.map(Self.members(of:)) ?? parameters(of: group.strategy)
            text += ",\"key\":\"\(group.key.withUnsafeBytes { Hexadecimal.encode($0) })\",\n"
        }
        if group.windowByteCounts != [.max] {
            let windows = group.windowByteCounts.map { $0 == .max ? "\"whole\"" : String($0) }
            text += " \"windowByteCounts\":[\(windows.joined(separator: ","))],\n"
        }
        if let name = group.interleaving { text += " \"interleaving\":\(quoted(name)),\n" }
        if group.threadCount > 1 { text += " \"threadCount\":\(group.threadCount),\n" }
        if group.supply != .any { text += " \"supply\":\"\(group.supply.rawValue)\",\n" }
        switch group.rule {
        case .generated(let object):
            text += " \"object\":{\"plaintextByteCount\":\(object.plaintextByteCount),\"seed\":\(object.seed)},\n"
        case .repeated(let object):
            text += " \"object\":{\"plaintextByteCount\":\(object.plaintextByteCount),\"byte\":\(object.byte)},\n"
        case .edited(let object, let edits):
            text += " \"object\":{\"plaintextByteCount\":\(object.plaintextByteCount),\"seed\":\(object.seed),"
            text += "\"edits\":\(Self.text(edits))}"
            if case .opens = group.opening { text += ",\n" }
        case .monteCarlo(let firstBlock):
            text += " \"object\":{\"monteCarlo\":\"\(Hexadecimal.encode(firstBlock.bytes))\"},\n"
        case nil where group.playlist != nil: break
        case nil:
            let bytes = try group.ciphertext.bytes()
            text += " \"ciphertext\":\"\(Hexadecimal.encode(bytes))\""
        }
        if case .fails(let name) = group.opening {
            text += ",\"error\":\"\(name.rawValue)\"}"
            return
        }
        if group.rule == nil {
            let plaintext = try group.plaintext.bytes(0..<group.plaintext.byteCount)
            text += ",\n \"plaintext\":\"\(Hexadecimal.encode(plaintext))\",\n"
        }
        var lines: [String] = []
        for pattern in group.patterns {
            lines.append("   " + (try line(pattern, in: group)))
        }
        text += " \"reads\":[\n" + lines.joined(separator: ",\n") + "]}"
    }

    private func line(_ pattern: ReadPattern, in group: VectorGroup) throws(DecryptionError) -> String {
        var members: [String]
        let flags: [VectorFlag]
        switch pattern {
        case .single(let read):
            // Many JSON parsers cannot hold larger numbers, so they are written as strings.
            let offset = read.offset < 1 << 53 ? String(read.offset) : "\"\(read.offset)\""
            members = ["\"offset\":\(offset)", "\"count\":\(read.count)"]
            members.append(try expectation(of: read, in: group))
            flags = read.flags
        case .product(let offsets, let counts, let toEnd, let itsFlags):
            members = ["\"offsets\":[\(offsets.map(Self.range).joined(separator: ","))]"]
            if !counts.isEmpty { members.append("\"counts\":[\(counts.map(Self.range).joined(separator: ","))]") }
            if !toEnd.isEmpty { members.append("\"toEnd\":[\(toEnd.map(String.init).joined(separator: ","))]") }
            flags = itsFlags
        case .exhaustive(let past, let itsFlags):
            members = ["\"exhaustive\":\(past)"]
            flags = itsFlags
        }
        if flags != group.flags { members.append("\"flags\":\(list(flags))") }
        if group.rule != nil, !pattern.isSingle {
            let digests = try pattern.reads(of: group.plaintext.byteCount).map { (read) throws(DecryptionError) in
                try Self.digest(of: read, plaintext: group.plaintext)
            }
            members.append("\"digests\":\"\(digests.joined())\"")
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// Returns the first eight bytes of the SHA-256 of a read's plaintext; zeros if the read is an error.
    static func digest(of read: RangeRead, plaintext: GroupPlaintext) throws(DecryptionError) -> String {
        guard let byteCount = read.expected.byteCount else { return "0000000000000000" }
        let digest = try plaintext.sha256(of: read.offset..<read.offset + UInt64(byteCount))
        return Hexadecimal.encode(digest.prefix(8))
    }

    private func expectation(of read: RangeRead, in group: VectorGroup) throws(DecryptionError) -> String {
        if case .error(let name) = read.expected { return "\"error\":\"\(name.rawValue)\"" }
        let range = read.offset..<read.offset + UInt64(read.expected.byteCount ?? 0)
        guard range.count <= Self.longestListedByteCount else {
            return "\"sha256\":\"\(Hexadecimal.encode(try group.plaintext.sha256(of: range)))\""
        }
        return "\"plaintext\":\"\(Hexadecimal.encode(try group.plaintext.bytes(range)))\""
    }

    /// Returns the members that a request of the subject protocol has.
    private func parameters(of strategy: Strategy) -> String {
        let members = strategy.protocolMembers
        return (["strategy"] + strategy.format.inputs.map(\.name)).compactMap { name in
            members[name].map { "\"\(name)\":\($0.text)" }
        }.joined(separator: ",")
    }

    /// Returns the members for a film.
    private static func members(of film: FilmObject) -> String {
        "\"strategy\":\"\(FilmObject.strategyName)\""
            + (film.samples.map { ",\"samples\":\(JSONValue.string($0).text)" } ?? "")
    }

    /// Returns the members for a playlist, its keys and its resources.
    private static func members(of playlist: PlaylistObject) -> String {
        func object(_ members: [String: [UInt8]]) -> String {
            members.sorted { $0.key < $1.key }.map { uri, bytes in
                "\(JSONValue.string(uri).text):\"\(Hexadecimal.encode(bytes))\""
            }.joined(separator: ",")
        }
        return "\"strategy\":\"\(PlaylistObject.strategyName)\",\"playlist\":"
            + "\(JSONValue.string(playlist.text).text),\n \"keys\":{\(object(playlist.keys))},\n "
            + "\"resources\":{\(object(playlist.resources))}"
    }

    private static func text(_ edits: CiphertextEdits) -> String {
        let pieces = edits.pieces.map { piece in
            let ends = "\(piece.range.lowerBound),\(piece.range.upperBound)"
            return switch piece.origin {
            case .object: "[\(ends)]"
            case .another(let seed): "[\(ends),\(seed)]"
            case .zeros: "[\(piece.range.count)]"
            }
        }
        let flips = edits.flips.isEmpty ? "" : ",\"flips\":[\(edits.flips.map(String.init).joined(separator: ","))]"
        return "{\"pieces\":[\(pieces.joined(separator: ","))]\(flips)}"
    }

    private static func range(_ range: ClosedRange<some FixedWidthInteger>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "[\(range.lowerBound),\(range.upperBound)]"
    }

    private func list(_ flags: [VectorFlag]) -> String {
        "[\(flags.map { "\"\($0.rawValue)\"" }.joined(separator: ","))]"
    }

    private func quoted(_ text: String) -> String { JSONValue.string(text).text }
}

extension ReadPattern {
    var isSingle: Bool { if case .single = self { true } else { false } }
}

extension RangeRead.Expectation {
    /// The number of bytes to deliver, or `nil` for an error.
    var byteCount: Int? {
        switch self {
        case .bytes(let bytes): bytes.count
        case .plaintext(let byteCount): byteCount
        case .error: nil
        }
    }
}

/// The first line in which two texts differ.
package struct FirstDifference: Hashable, Sendable, CustomStringConvertible {
    /// The line's number, from 1.
    package let line: Int
    /// The line that was found; `nil` if the text has ended.
    package let found: String?
    /// The line that was expected; `nil` if the text has ended.
    package let expected: String?

    /// Compares two texts; `nil` if they are equal.
    package init?(found: String, expected: String) {
        guard Array(found.utf8) != Array(expected.utf8) else { return nil }
        let left = found.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { String($0) ?? "" }
        let right = expected.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { String($0) ?? "" }
        let shared = min(left.count, right.count)
        let index = (0..<shared).first { left[$0] != right[$0] } ?? shared
        self.line = index + 1
        self.found = index < left.count ? left[index] : nil
        self.expected = index < right.count ? right[index] : nil
    }

    /// The line number, and both texts around the first difference.
    package var description: String {
        let (found, expected) = (Array((found ?? "").utf8), Array((expected ?? "").utf8))
        let shared = zip(found, expected).prefix { $0 == $1 }.count
        func excerpt(_ line: [UInt8]) -> String {
            String(decoding: line.dropFirst(max(0, shared - 20)).prefix(60), as: UTF8.self)
        }
        return "line \(line): found \(self.found == nil ? "the end" : "\"\(excerpt(found))\""), "
            + "expected \(self.expected == nil ? "the end" : "\"\(excerpt(expected))\"")"
    }
}
