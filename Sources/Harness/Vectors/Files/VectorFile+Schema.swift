internal import ByteSources
internal import RandomAccess
internal import Support

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
