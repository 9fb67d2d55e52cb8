import ByteSources
import Glibc
package import RandomAccess
import Support
import SystemPackage

/// Objects that a format's own tool made, and the expected results of reads.
///
/// - Source: data/interop, one folder for each format.
package struct InteropIndex: Sendable {
    /// The name of the index in each folder.
    package static let fileName = "index.json"

    /// The format's name in the index.
    package let format: String
    /// The tool that made the objects, with its version.
    package let tool: String
    /// The objects.
    package let objects: [InteropObject]

    /// Reads the index of a folder, and the files that it names.
    ///
    /// - Throws: `VectorFileError` for a file that is missing, cannot be read, or does not match the index.
    package init(folder: String) throws(VectorFileError) {
        let path = FilePath(folder).appending(Self.fileName)
        let bytes = try Self.contents(of: path)
        let value = try rethrowing(
            as: { (error: JSONParser.Mismatch) in
                VectorFileError(
                    kind: .malformed, file: path.string, pointer: "",
                    reason: "no JSON in line \(error.line): expected \(error.expected)")
            }, try JSONParser.parse(bytes))
        let root = JSONCursor(value: value, file: path.string, pointer: "")
        format = try root.member("format").string()
        let tool = try root.member("tool")
        self.tool = "\(try tool.member("name").string()) \(try tool.member("version").string())"
        let described = try root.optionalMember("description").map { member throws(VectorFileError) in
            try Self.formats(member, folder: FilePath(folder))
        }
        var objects: [InteropObject] = []
        var names: Set<String> = []
        for element in try root.member("files").elements() {
            let object = try InteropObject(
                element, format: format, formats: described ?? Format.known, folder: FilePath(folder))
            guard names.insert(object.name).inserted else {
                throw element.error("\"\(object.name)\" for the second time: expected each file once")
            }
            objects.append(object)
        }
        self.objects = objects
    }

    /// Returns the formats of a description in an index's folder.
    private static func formats(_ member: JSONCursor, folder: FilePath) throws(VectorFileError) -> [Format] {
        guard let component = FilePath.Component(try member.string()), component.kind == .regular else {
            throw member.unexpected("the name of a file in the index's folder")
        }
        let text = try contents(of: folder.appending(component))
        do throws(DescriptionError) {
            return try Format.read(text)
        } catch {
            throw member.error("\(component.string), \(error)")
        }
    }

    /// Returns the folders with an index: the folder itself, or those in it.
    ///
    /// - Throws: `VectorFileError` if there is none.
    package static func folders(in folder: String) throws(VectorFileError) -> [String] {
        func hasIndex(_ path: FilePath) -> Bool { access(path.appending(fileName).string, F_OK) == 0 }
        let path = FilePath(folder)
        if hasIndex(path) { return [folder] }
        var names: [String] = []
        if let stream = opendir(folder) {
            defer { closedir(stream) }
            while let entry = readdir(stream) {
                names.append(
                    withUnsafeBytes(of: &entry.pointee.d_name) {
                        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                    })
            }
        }
        let found = names.filter { !$0.hasPrefix(".") }.sorted().map { path.appending($0) }.filter(hasIndex)
        guard !found.isEmpty else {
            throw VectorFileError(
                kind: .missing, file: folder, pointer: "",
                reason: "no \(fileName) in it or in its folders: expected one at least")
        }
        return found.map(\.string)
    }

    fileprivate static func contents(of path: FilePath) throws(VectorFileError) -> [UInt8] {
        do throws(DecryptionError) {
            return try FileDescriptor.contents(of: path)
        } catch .io(_, ENOENT, _) {
            throw VectorFileError(
                kind: .missing, file: path.string, pointer: "", reason: "no such file: expected one of the index")
        } catch {
            throw VectorFileError(
                kind: error.isMissingInput ? .missing : .unreadable, file: path.string, pointer: "",
                reason: "\(error): expected a file")
        }
    }
}

/// An object of an index.
package struct InteropObject: Sendable {
    /// The file's name in its folder.
    package let name: String
    /// The ways to read the object, all with the same result; empty if its format is not known here.
    package let readings: [Reading]
    /// The reason that there is no way to read it.
    package let gap: String?
    /// False if its chunk lengths are a list, which no request tells.
    package let isTold: Bool
    /// The name of the format.
    package let format: String
    package let key: SecretKey
    package let ciphertext: [UInt8]
    package let plaintextByteCount: Int
    package let plaintextDigest: [UInt8]
    /// The plaintext, if the index says how to generate it.
    package let plaintext: [UInt8]?
    /// The bytes of some ranges of the tool's plaintext.
    package let ranges: [Range]

    /// A way to read an object.
    package enum Reading: Sendable {
        /// A format with the object's parameters.
        case strategy(Strategy)
        /// A list of pieces.
        case pieces([PiecePlace])
        /// A film.
        case film(FilmObject)
    }

    /// The format and the object's parameters; `nil` if no known description has them.
    package var strategy: Strategy? {
        if case .strategy(let strategy)? = readings.first { strategy } else { nil }
    }

    /// A read and its result.
    package struct Range: Sendable {
        package let offset: Int
        package let count: Int
        package let delivered: Int
        /// At least one of `bytes` and `digest` is given.
        package let bytes: [UInt8]?
        package let digest: [UInt8]?
    }

    /// The max length of an object.
    fileprivate static let maxByteCount = 64 << 20

    init(_ cursor: JSONCursor, format: String, formats: [Format], folder: FilePath) throws(VectorFileError) {
        let file = try cursor.member("file")
        name = try file.string()
        guard let component = FilePath.Component(name), component.kind == .regular else {
            throw file.unexpected("the name of a file in the index's folder")
        }
        let stored = try InteropIndex.contents(of: folder.appending(component))
        try cursor.expect("byteCount", stored.count)
        let digest = try cursor.member("sha256")
        guard try digest.bytes() == SHAFunction.sha256.hash(stored) else {
            throw digest.error("not the digest of \(name): expected the file as its tool made it")
        }
        let keyMember = try cursor.member("key")
        let keyBytes = try keyMember.bytes()
        key = try keyMember.check { try SecretKey(material: keyBytes) }
        let parameters = try cursor.member("parameters")
        ciphertext = try parameters.metadata(in: folder) + stored
        if let pieces = try cursor.pieces(parameters) {
            (self.format, readings, gap, isTold) = (format, pieces, nil, true)
        } else {
            let found = try parameters.strategy(
                format, folder: folder.lastComponent?.string ?? "", keyByteCount: keyBytes.count, of: formats)
            self.format = found.strategy?.format.name ?? format
            (readings, gap) = (found.strategy.map { [.strategy($0)] } ?? [], found.gap)
            isTold = found.strategy.map { formats.contains($0.format) } ?? true
        }
        let byteCount = try cursor.member("plaintextByteCount").integer(in: 0...Self.maxByteCount)
        plaintextByteCount = byteCount
        let plaintextDigest = try cursor.member("plaintextSHA256")
        self.plaintextDigest = try plaintextDigest.bytes()
        if let generated = try cursor.optionalMember("plaintext") {
            guard try generated.member("generator").string() == "shake256" else {
                throw try generated.member("generator").unexpected("shake256")
            }
            let bytes = SHAKE256.bytes(of: try generated.member("seed").bytes(), count: byteCount)
            guard SHAFunction.sha256.hash(bytes) == self.plaintextDigest else {
                throw plaintextDigest.error("not the digest of what the seed makes: expected the plaintext's")
            }
            plaintext = bytes
        } else {
            plaintext = nil
        }
        var ranges: [Range] = []
        for element in try cursor.member("ranges").elements() {
            let offset = try element.member("offset").integer(in: 0...byteCount)
            let count = try element.member("count").integer(in: 0...Self.maxByteCount)
            let delivered = min(count, byteCount - offset)
            try element.expect("delivered", delivered)
            let bytes = try element.optionalMember("hex")?.bytes()
            let digest = try bytes == nil ? element.member("sha256").bytes() : nil
            guard bytes.map({ $0.count == delivered }) ?? true else {
                throw try element.member("hex").error("\(bytes?.count ?? 0) bytes: expected \(delivered)")
            }
            ranges.append(Range(offset: offset, count: count, delivered: delivered, bytes: bytes, digest: digest))
        }
        self.ranges = ranges
    }
}

extension JSONCursor {
    /// The words before the name of the file with an object's metadata, in the parameter `note`.
    private static let metadataNote = "metadata stream: "

    /// Returns the contents of the file with an object's metadata, which stands in front of its data; empty if an
    /// object has no such file.
    fileprivate func metadata(in folder: FilePath) throws(VectorFileError) -> [UInt8] {
        guard let note = try optionalMember("note"), try note.string().hasPrefix(Self.metadataNote) else { return [] }
        let name = try note.string().dropFirst(Self.metadataNote.count)
        guard let component = FilePath.Component(String(name)), component.kind == .regular else {
            throw note.unexpected("the name of a file in the index's folder")
        }
        return try InteropIndex.contents(of: folder.appending(component))
    }

    /// Returns the readings of an object that is a list of pieces, which is a film with its samples, or parts in CTR;
    /// `nil` for any other object.
    fileprivate func pieces(_ parameters: JSONCursor) throws(VectorFileError) -> [InteropObject.Reading]? {
        if let samples = try optionalMember("samples") {
            guard case .object(var members) = parameters.value else { throw parameters.unexpected("an object") }
            members["samples"] = samples.value
            let list = JSONValue.object(members)
            _ = try samples.check { try ProtectedExtents(list: list) }
            return [.film(FilmObject(samples: list.text)), .film(FilmObject(samples: nil))]
        }
        guard let counts = try parameters.optionalMember("partByteCounts") else { return nil }
        var (places, start): ([PiecePlace], UInt64) = ([], 0)
        let ivs = try parameters.member("partIVs").elements()
        let parts = try counts.elements()
        guard parts.count == ivs.count else { throw counts.unexpected("as many as IVs, \(ivs.count)") }
        for (count, iv) in zip(parts, ivs) {
            let end = start + UInt64(try count.integer(in: 0...InteropObject.maxByteCount))
            let bytes = try iv.bytes()
            let strategy = try iv.check { try Strategy("ctr", ["iv": .bytes(bytes)]) }
            places.append(PiecePlace(start..<end, strategy))
            start = end
        }
        return [.pieces(places)]
    }

    /// Returns the strategy that an object's parameters describe. The format is the description that they name, or else
    /// the index's, or else the folder's. Of several variants that accept the parameters, it is the first of those
    /// whose defaults differ least. Members that are not inputs of the format, such as passwords, are ignored.
    ///
    /// - Returns: The strategy, or what is missing: a name, or a word or number that no variant accepts.
    fileprivate func strategy(
        _ index: String, folder: String, keyByteCount: Int, of formats: [Format]
    ) throws(VectorFileError) -> (strategy: Strategy?, gap: String?) {
        let names = [try optionalMember("description")?.string(), index, folder].compactMap { $0 }
        // Variants are named after the description.
        let named = names.lazy.map { name in
            formats.filter { $0.name == name } + formats.filter { $0.name.hasPrefix(name + "-") }
        }
        guard let candidates = named.first(where: { !$0.isEmpty }) else {
            return (nil, "no description \"\(names[0])\": expected a known format, or a file that the index names")
        }
        var gap: String?
        var closest: (strategy: Strategy, differenceCount: Int)?
        for format in candidates {
            guard format.keyByteCounts?.contains(keyByteCount) ?? true else {
                gap = gap ?? "a key of \(keyByteCount) bytes in \(format.name)"
                continue
            }
            let (values, missing) = try values(of: format)
            if let missing {
                gap = missing
                continue
            }
            guard let strategy = try listingChunks(Strategy(format, values)) else {
                return (nil, "chunks of more than two lengths and a shorter last one, in \(format.name)")
            }
            try check { try strategy.validate() }
            let count = format.inputs.count { $0.defaultValue != nil && $0.defaultValue != strategy[$0.name] }
            if count < closest?.differenceCount ?? .max { closest = (strategy, count) }
        }
        return (closest?.strategy, closest == nil ? gap : nil)
    }

    /// Returns a strategy for the chunk lengths that the parameters list, if they do; `nil` if they are too different.
    /// A description has a length of the first chunk, and one of all others but the last.
    private func listingChunks(_ strategy: Strategy) throws(VectorFileError) -> Strategy? {
        guard let name = strategy.format.chunkListName, let list = try optionalMember(name) else { return strategy }
        var counts: [Int] = []
        for element in try list.elements() { counts.append(try element.integer(in: 1...InteropObject.maxByteCount)) }
        guard let first = counts.first, let last = counts.dropFirst().last else { return strategy }
        let inner = Set(counts.dropFirst().dropLast())
        guard inner.count < 2, inner.allSatisfy({ $0 >= max(first, last) }) else { return nil }
        func formula(_ count: Int) -> Formula {
            Formula(.integer(Int128(count)), .integer, at: strategy.format.nonce.place)
        }
        return strategy.changing { rules in
            rules.firstChunk = formula(first)
            if let full = inner.first { rules.chunk = formula(full) }
        }
    }

    /// Returns the values of a format's inputs.
    ///
    /// - Returns: The values, and a description of a word or number that the format does not accept.
    /// - Throws: `VectorFileError` for bytes that no variant can accept.
    private func values(of format: Format) throws(VectorFileError) -> ([String: Value], missing: String?) {
        guard case .object(let members) = value else { throw unexpected("an object") }
        let lists = members.filter { name, value in
            if case .array(let elements) = value { elements.count > 1 && name != format.chunkListName } else { false }
        }
        if let list = lists.keys.min() {
            return ([:], "a list, \"\(list)\", in \(format.name)")
        }
        var values: [String: Value] = [:]
        for input in format.inputs {
            guard let member = try optionalMember(input.name) else { continue }
            let text: String
            switch member.value {
            case .integer(let number): text = "\(number)"
            case .bool(let flag): text = "\(flag)"
            default: text = try member.string()
            }
            if let value = input.value(text) {
                values[input.name] = value
                continue
            }
            if case .bytes = input.kind { throw member.unexpected(input.expectation) }
            return ([:], "\(input.name) \(text.prefix(80)) in \(format.name): expected \(input.expectation)")
        }
        return (values, nil)
    }
}

extension Format {
    /// The name of a list of all chunks' lengths: that of the input that is the chunk length, in the plural.
    fileprivate var chunkListName: String? {
        if case .name(let name)? = rules.chunk?.expression { name + "s" } else { nil }
    }
}
