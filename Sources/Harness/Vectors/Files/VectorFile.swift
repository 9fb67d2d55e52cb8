import ByteSources
import Glibc
import RandomAccess
import SubjectProtocol
package import Support
import SystemPackage

/// A file of vectors: in this project's schema (`data/schemas/vectors.json`), Wycheproof's JSON, or NIST's `.rsp`.
package struct VectorFile: Sendable {
    /// The version of this project's schema.
    package static let schemaVersion: UInt64 = 1

    /// The origin of the vectors.
    package let source: String
    /// The groups, in the file's order.
    package internal(set) var groups: [VectorGroup]
    /// The cases that no reader supports.
    package internal(set) var unsupported: [UnsupportedVector]

    /// Reads a file, and finds its kind from its contents.
    ///
    /// - Throws: `VectorFileError` if the file is missing, cannot be read, has something that its format does not know,
    ///   or contains no case.
    package init(path: String) throws(VectorFileError) {
        let bytes: [UInt8]
        do throws(DecryptionError) {
            bytes = try FileDescriptor.contents(of: FilePath(path))
        } catch .io(_, ENOENT, _) {
            throw VectorFileError(
                kind: .missing, file: path, pointer: "", reason: "no such file: expected a vector file")
        } catch {
            throw VectorFileError(
                kind: error.isMissingInput ? .missing : .unreadable, file: path, pointer: "",
                reason: "\(error): expected a vector file")
        }
        try self.init(bytes, path: path)
    }

    /// Reads the contents of a file; `path` is used in messages and identifiers.
    ///
    /// - Throws: `VectorFileError`.
    package init(_ bytes: [UInt8], path: String) throws(VectorFileError) {
        func malformed(_ pointer: String, _ reason: String) -> VectorFileError {
            VectorFileError(kind: .malformed, file: path, pointer: pointer, reason: reason)
        }
        let whitespace = Array(" \t\r\n".utf8)
        guard let first = bytes.first(where: { !whitespace.contains($0) }) else {
            throw malformed("", "nothing but white space: expected vectors")
        }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") && !ResponseFile.hasSections(bytes) else {
            let file = try ResponseFile(bytes, path: path)
            self.init(source: file.source, groups: file.groups, unsupported: file.unsupported)
            try requireCase(malformed("", "no case in it: expected at least one COUNT"))
            return
        }
        let value = try rethrowing(
            as: { (error: JSONParser.Mismatch) in
                malformed("", "no JSON in line \(error.line): expected \(error.expected)")
            }, try JSONParser.parse(bytes))
        let root = JSONCursor(value: value, file: path, pointer: "")
        if value["testGroups"] != nil, value["algorithm"] != nil {
            self = try WycheproofFile(root).vectors
            try requireCase(malformed("/testGroups", "no case in it: expected at least one test"))
        } else {
            try self.init(schema: root)
        }
    }

    init(source: String, groups: [VectorGroup], unsupported: [UnsupportedVector]) {
        self.source = source
        self.groups = groups
        self.unsupported = unsupported
    }

    private func requireCase(_ error: VectorFileError) throws(VectorFileError) {
        if groups.isEmpty, unsupported.isEmpty { throw error }
    }
}

extension VectorFile {
    /// Reads a file of this project's schema.
    init(schema root: JSONCursor) throws(VectorFileError) {
        let version = try root.member("schema")
        guard case .integer(Self.schemaVersion) = version.value else {
            throw version.unexpected("\(Self.schemaVersion), the schema that this program reads")
        }
        try root.allow([
            "schema", "source", "generator", "schemaFile", "rules", "counts", "flags", "descriptions", "groups",
            "comment",
        ])
        let source = try root.member("source").string()
        if let flags = try root.optionalMember("flags") {
            for flag in try flags.members() { _ = try flag.name.choice(of: VectorFlag.self) }
        }
        let described = try root.optionalMember("descriptions").map { (member) throws(VectorFileError) in
            let text = Array(try member.string().utf8)
            return try member.check { () throws(DescriptionError) in try Format.read(text) }
        }
        var groups: [VectorGroup] = []
        var ids: Set<String> = []
        for element in try root.member("groups").elements() {
            let group = try VectorGroup(element, fileSource: source, described: described ?? [])
            guard ids.insert(group.id).inserted else {
                throw try element.member("id").error("\"\(group.id)\" stands here twice: expected one group of a name")
            }
            groups.append(group)
        }
        if let counts = try root.optionalMember("counts") {
            try counts.expect("groups", groups.count)
            try counts.expect("reads", groups.reduce(0) { $0 + $1.readCount })
            try counts.expect("vectors", groups.reduce(0) { $0 + $1.vectorCount })
        }
        self.init(source: source, groups: groups, unsupported: [])
    }
}

extension VectorGroup {
    /// The members of every group, of objects, of playlists, and of films.
    private static let members: Set = ["id", "source", "flags", "comment", "strategy", "plaintext", "error", "reads"]
    private static let objectMembers = Set(Format.known.flatMap { $0.inputs.map(\.name) }).union([
        "key", "ciphertext", "object", "windowByteCounts", "interleaving", "threadCount", "supply",
    ])
    private static let playlistMembers: Set = ["playlist", "keys", "resources"]
    private static let filmMembers: Set = ["samples", "key", "ciphertext"]

    /// Reads a group. `described` are the formats that the file itself describes.
    fileprivate init(_ cursor: JSONCursor, fileSource: String, described: [Format]) throws(VectorFileError) {
        let strategyName = try cursor.member("strategy").value
        let isPlaylist = strategyName == .string(PlaylistObject.strategyName)
        let isFilm = strategyName == .string(FilmObject.strategyName)
        let objectMembers = Self.objectMembers.union(described.flatMap { $0.inputs.map(\.name) })
        try cursor.allow(
            Self.members.union(isPlaylist ? Self.playlistMembers : isFilm ? Self.filmMembers : objectMembers))
        let id = try cursor.member("id").string()
        let source = try cursor.optionalMember("source")?.string() ?? fileSource
        let flags = try cursor.member("flags").flags()
        let error = try cursor.optionalMember("error")?.choice(of: ErrorName.self)
        for name in isPlaylist || isFilm ? ["reads", "plaintext"] : ["reads"] where error != nil {
            if let other = try cursor.optionalMember(name) {
                throw other.error("beside \"error\": expected none of an object that does not open")
            }
        }
        func patterns(of plaintext: GroupPlaintext) throws(VectorFileError) -> [ReadPattern] {
            var patterns: [ReadPattern] = []
            guard error == nil else { return patterns }
            for read in try cursor.member("reads").elements() {
                patterns.append(try read.pattern(of: plaintext, groupFlags: flags))
            }
            return patterns
        }
        if isPlaylist {
            let playlist = PlaylistObject(
                text: try cursor.member("playlist").string(),
                resources: try cursor.member("resources").bytesByName(),
                keys: try cursor.member("keys").bytesByName())
            let plaintext = GroupPlaintext(error == nil ? try cursor.member("plaintext").bytes() : [])
            self.init(
                id: id, source: source, flags: flags, playlist: playlist, plaintext: plaintext, error: error,
                patterns: try patterns(of: plaintext))
            return
        }
        let keyMember = try cursor.member("key")
        let keyBytes = try keyMember.bytes()
        if isFilm {
            let plaintext = error == nil ? try cursor.member("plaintext").bytes() : []
            self.init(
                id: id, source: source, flags: flags,
                film: FilmObject(samples: try cursor.optionalMember("samples")?.string()),
                key: try keyMember.check { () throws(DecryptionError) in try SecretKey(keyBytes) },
                ciphertext: try cursor.member("ciphertext").bytes(), plaintext: plaintext, error: error,
                patterns: try patterns(of: GroupPlaintext(plaintext)))
            return
        }
        let strategy = try Strategy(cursor, described: described)
        // A format that derives its keys checks the key's length itself.
        let key = try keyMember.check { () throws(DecryptionError) in
            strategy.isStreaming ? try SecretKey(keyBytes) : try SecretKey(material: keyBytes)
        }
        let object = try VectorObject(cursor, strategy: strategy, key: key, opens: error == nil)
        self.init(
            id: id, source: source, flags: flags, strategy: strategy, key: key, ciphertext: object.ciphertext,
            plaintext: error == nil ? object.plaintext : GroupPlaintext([]), error: error,
            windowByteCounts: try Self.windows(cursor), rule: object.rule,
            interleaving: try cursor.optionalMember("interleaving")?.string(),
            threadCount: try cursor.optionalMember("threadCount")?.integer(in: 1...64) ?? 1,
            patterns: try patterns(of: object.plaintext))
        if let supply = try cursor.optionalMember("supply") { self.supply = try supply.choice(of: SourceSupply.self) }
    }

    private static func windows(_ cursor: JSONCursor) throws(VectorFileError) -> [Int] {
        guard let windows = try cursor.optionalMember("windowByteCounts") else { return [.max] }
        var byteCounts: [Int] = []
        for window in try windows.elements() {
            byteCounts.append(window.value == .string("whole") ? .max : try window.integer(in: 1...1 << 52))
        }
        return byteCounts
    }
}

extension Strategy {
    /// Reads the same members as a request of the subject protocol has. Each has its own error.
    fileprivate init(_ cursor: JSONCursor, described: [Format]) throws(VectorFileError) {
        let name = try cursor.member("strategy")
        let text = try name.string()
        guard let format = (described + Format.known).first(where: { $0.name == text }) else {
            let names =
                described.map(\.name) + Format.names + [PlaylistObject.strategyName, FilmObject.strategyName]
            throw name.unexpected("one of \(names.joined(separator: ", "))")
        }
        var values: [String: Value] = [:]
        for input in format.inputs {
            let member = try cursor.member(input.name)
            guard let value = input.value(member: member.value) else { throw member.unexpected(input.expectation) }
            try member.check { try input.check(value) }
            values[input.name] = value
        }
        let strategy = Strategy(format, values)
        try cursor.check { try strategy.validate() }
        self = strategy
    }
}

extension JSONCursor {
    /// Returns an object's members as bytes in hex, by name; empty if the object is missing.
    fileprivate func bytesByName() throws(VectorFileError) -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for (name, value) in try members() { found[try name.string()] = try value.bytes() }
        return found
    }
}

/// An error in a vector file: the file, the location in it, and what was expected.
package struct VectorFileError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// The kind of error: the file is missing, unreadable or malformed.
    package enum Kind: Hashable, Sendable {
        /// The file does not exist, or cannot be opened.
        case missing
        /// The file could not be read.
        case unreadable
        /// The contents do not match the schema.
        case malformed
    }

    /// The kind of error.
    package let kind: Kind
    /// The file's path as it was given.
    package let file: String
    /// The location in the file: a JSON pointer (RFC 6901); empty for the whole file.
    package let pointer: String
    /// The value that was found, and what was expected.
    package let reason: String

    /// The file, the location and the reason.
    package var description: String {
        pointer.isEmpty ? "\(file): \(reason)" : "\(file), at \(pointer): \(reason)"
    }

    /// The exit status of a command that ends with this error.
    package var exitStatus: ExitStatus {
        switch kind {
        case .missing: .missingInput
        case .unreadable: .io
        case .malformed: .badData
        }
    }
}

/// A case of a file that no reader of this project supports, such as one of another cipher mode.
package struct UnsupportedVector: Hashable, Sendable {
    /// The case's identifier.
    package let id: String
    /// The feature that is missing.
    package let reason: String
}
