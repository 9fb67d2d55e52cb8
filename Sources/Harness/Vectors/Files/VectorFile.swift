import ByteSources
import Foundation
import FoundationEssentials
import RandomAccess
package import Support

#if canImport(FoundationEssentials)
#else
#endif

/// A file of vectors: in this project's schema (`data/schemas/vectors.json`), Wycheproof's JSON, or NIST's `.rsp`.
package struct VectorFile: Sendable {
    /// The version of this project's schema.
    package static let schemaVersion: UInt64 = 1

    /// Where the vectors are from.
    package let source: String
    /// The groups, in the file's order.
    package let groups: [VectorGroup]
    /// The cases that no reader can be put to.
    package let unsupported: [UnsupportedVector]

    /// Reads a file; which kind it is, its contents say.
    ///
    /// - Throws: `VectorFileError` if it is missing, cannot be read, or has something that its format does not know; a
    ///   file without a case is an error, too.
    package init(path: String) throws(VectorFileError) {
        var isFolder = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
            throw VectorFileError(
                kind: .unreadable, file: path, pointer: "", reason: "it is a directory: expected a vector file")
        }
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            throw VectorFileError(
                kind: .missing, file: path, pointer: "", reason: "no such file: expected a vector file")
        } catch {
            throw VectorFileError(kind: .unreadable, file: path, pointer: "", reason: "\(error)")
        }
        try self.init(Array(data), path: path)
    }

    /// Reads what a file holds; `path` is for messages and identifiers.
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
        let value: JSONValue
        do throws(JSONParser.Mismatch) {
            value = try JSONParser.parse(bytes)
        } catch {
            throw malformed("", "no JSON in line \(error.line): expected \(error.expected)")
        }
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
            "schema", "source", "generator", "schemaFile", "rules", "counts", "flags", "groups", "comment",
        ])
        let source = try root.member("source").string()
        if let flags = try root.optionalMember("flags") {
            for flag in try flags.members() { _ = try flag.name.choice(of: VectorFlag.self) }
        }
        var groups: [VectorGroup] = []
        var ids: Set<String> = []
        for place in try root.member("groups").elements() {
            let group = try VectorGroup(place, fileSource: source)
            guard ids.insert(group.id).inserted else {
                throw try place.member("id").error("\"\(group.id)\" stands here twice: expected one group of a name")
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
    fileprivate init(_ place: JSONCursor, fileSource: String) throws(VectorFileError) {
        if try place.member("strategy").value == .string(PlaylistObject.strategyName) {
            try self.init(playlist: place, fileSource: fileSource)
            return
        }
        try place.allow([
            "id", "source", "flags", "comment", "strategy", "iv", "padding", "chunkByteCount", "ivRule", "key",
            "ciphertext", "object", "plaintext", "error", "reads", "windowByteCounts", "interleaving", "threadCount",
            "supply", "context", "associatedData", "segmentByteCount", "derivedKeyByteCount",
        ])
        let keyPlace = try place.member("key")
        let keyBytes = try keyPlace.bytes()
        let strategy = try Strategy(place)
        // A format that derives its keys says itself what it takes.
        let key = try keyPlace.check { () throws(DecryptionError) in
            strategy.chunkFormat == nil ? try SecretKey(keyBytes) : try SecretKey(material: keyBytes)
        }
        try place.check { try strategy.validate() }
        let flags = try place.member("flags").flags()
        let id = try place.member("id").string()
        let source = try place.optionalMember("source")?.string() ?? fileSource
        if let failure = try place.optionalMember("error") {
            guard try place.optionalMember("reads") == nil else {
                throw place.error("both \"error\" and \"reads\": expected no reads of an object that does not open")
            }
            let object =
                try place.optionalMember("object") == nil
                ? nil : try VectorObject(place, strategy: strategy, key: key)
            let ciphertext: any ByteSource
            if let object {
                ciphertext = object.ciphertext
            } else {
                ciphertext = MemorySource(try place.member("ciphertext").bytes())
            }
            self.init(
                id: id, source: source, flags: flags, strategy: strategy, key: key, ciphertext: ciphertext,
                plaintext: GroupPlaintext([]), opening: .fails(try failure.choice(of: ErrorName.self)),
                rule: object?.rule, reads: [])
            return
        }
        let object = try VectorObject(place, strategy: strategy, key: key)
        var patterns: [ReadPattern] = []
        for read in try place.member("reads").elements() {
            patterns.append(try read.pattern(of: object.plaintext, groupFlags: flags))
        }
        self.init(
            id: id, source: source, flags: flags, strategy: strategy, key: key, ciphertext: object.ciphertext,
            plaintext: object.plaintext, windowByteCounts: try Self.windows(place), rule: object.rule,
            interleaving: try place.optionalMember("interleaving")?.string(),
            threadCount: try place.optionalMember("threadCount")?.integer(in: 1...64) ?? 1, patterns: patterns)
        if let supply = try place.optionalMember("supply") { self.supply = try supply.choice(of: SourceSupply.self) }
    }

    private static func windows(_ place: JSONCursor) throws(VectorFileError) -> [Int] {
        guard let windows = try place.optionalMember("windowByteCounts") else { return [.max] }
        var byteCounts: [Int] = []
        for window in try windows.elements() {
            byteCounts.append(window.value == .string("whole") ? .max : try window.integer(in: 1...1 << 52))
        }
        return byteCounts
    }
}

extension Strategy {
    /// The members have the names that PROTOCOL.md gives them.
    fileprivate init(_ place: JSONCursor) throws(VectorFileError) {
        let name = try place.member("strategy")
        if let format = try ChunkFormat(place, name: try name.string()) {
            self = .chunked(format)
            return
        }
        let ivPlace = try place.member("iv")
        let ivBytes = try ivPlace.bytes()
        let iv = try ivPlace.check { try Block(ivBytes) }
        switch try name.string() {
        case "ctr":
            self = .ctr(iv: iv)
        case "cbc-continuous":
            self = .cbcContinuous(iv: iv, padding: try place.member("padding").choice(of: Padding.self))
        case "cbc-chunked":
            self = .cbcChunked(
                chunkByteCount: try place.member("chunkByteCount").integer(UInt64.self), iv: iv,
                ivRule: try place.member("ivRule").choice(of: IVRule.self),
                padding: try place.member("padding").choice(of: Padding.self))
        default:
            let names = Strategy.names + [PlaylistObject.strategyName]
            throw name.unexpected("one of \(names.joined(separator: ", "))")
        }
    }
}

extension ChunkFormat {
    /// A format of authenticated chunks, or `nil` if the name is that of another strategy.
    fileprivate init?(_ place: JSONCursor, name: String) throws(VectorFileError) {
        switch name {
        case "cobblestone-128", "cobblestone-256":
            self = .cobblestone(
                keyByteCount: name == "cobblestone-256" ? 32 : 16, context: try place.member("context").bytes())
        case "tink-aes-gcm-hkdf":
            self = .tinkAESGCMHKDF(
                associatedData: try place.member("associatedData").bytes(),
                segmentByteCount: try place.member("segmentByteCount").integer(UInt64.self),
                derivedKeyByteCount: try place.member("derivedKeyByteCount").integer(in: 1...64))
        default: return nil
        }
    }
}

extension VectorGroup {
    /// Reads a group of the strategy `hls-aes128`.
    init(playlist place: JSONCursor, fileSource: String) throws(VectorFileError) {
        try place.allow([
            "id", "source", "flags", "comment", "strategy", "playlist", "keys", "resources", "plaintext", "error",
            "reads",
        ])
        let playlist = PlaylistObject(
            text: try place.member("playlist").string(), resources: try place.member("resources").bytesByName(),
            keys: try place.member("keys").bytesByName())
        let id = try place.member("id").string()
        let source = try place.optionalMember("source")?.string() ?? fileSource
        let flags = try place.member("flags").flags()
        if let failure = try place.optionalMember("error") {
            for name in ["reads", "plaintext"] {
                if let other = try place.optionalMember(name) {
                    throw other.error("beside \"error\": expected none of an object that does not open")
                }
            }
            self.init(
                id: id, source: source, flags: flags, playlist: playlist,
                opening: .fails(try failure.choice(of: ErrorName.self)), plaintext: [], patterns: [])
            return
        }
        let bytes = try place.member("plaintext").bytes()
        let plaintext = GroupPlaintext(bytes)
        var patterns: [ReadPattern] = []
        for read in try place.member("reads").elements() {
            patterns.append(try read.pattern(of: plaintext, groupFlags: flags))
        }
        self.init(
            id: id, source: source, flags: flags, playlist: playlist,
            opening: .opens(plaintextByteCount: plaintext.byteCount), plaintext: bytes, patterns: patterns)
    }
}

extension JSONCursor {
    /// An object's members as bytes in hex, by their names; there may be none.
    fileprivate func bytesByName() throws(VectorFileError) -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for (name, value) in try members() { found[try name.string()] = try value.bytes() }
        return found
    }
}

/// A vector file that cannot be used: which one, where in it, and what was expected.
package struct VectorFileError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// Whether the file is missing, unreadable or wrong.
    package enum Kind: Hashable, Sendable {
        /// There is no such file.
        case missing
        /// It cannot be read.
        case unreadable
        /// Its contents are not what the schema says.
        case malformed
    }

    /// What is the matter.
    package let kind: Kind
    /// The file's path, as it was given.
    package let file: String
    /// Where in the file: a JSON pointer (RFC 6901); empty for the whole of it.
    package let pointer: String
    /// What was found and what was expected.
    package let reason: String

    /// File, place, reason.
    package var description: String {
        pointer.isEmpty ? "\(file): \(reason)" : "\(file), at \(pointer): \(reason)"
    }

    /// What a command ends with that this error stops.
    package var exitStatus: ExitStatus { kind == .malformed ? .badData : .missingInput }
}

/// A case of a file that no reader of this project can be put to, such as one of another cipher mode.
package struct UnsupportedVector: Hashable, Sendable {
    /// The case's identifier.
    package let id: String
    /// What is missing.
    package let reason: String
}
