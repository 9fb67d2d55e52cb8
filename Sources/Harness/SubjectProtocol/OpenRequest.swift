import ByteSources
package import RandomAccess
package import Support
import SystemPackage

extension Strategy {
    /// The strategy's members in an `open` request. Source: PROTOCOL.md, "open".
    package var protocolMembers: [String: JSONValue] { protocolMembers(isNamed: format.isNamedInProtocol) }

    /// Returns the strategy's members in a request to a subject that lists some strategies. They include the
    /// description unless the name is listed.
    package func protocolMembers(listed strategies: [String]) -> [String: JSONValue] {
        protocolMembers(isNamed: format.isNamedInProtocol && strategies.contains(name))
    }

    private func protocolMembers(isNamed: Bool) -> [String: JSONValue] {
        var parameters: [String: JSONValue] = [:]
        for input in format.inputs { parameters[input.name] = self[input.name].map(input.member) }
        if isNamed { return parameters.merging(["strategy": .string(name)]) { $1 } }
        return [
            "strategy": .string(name), "description": .string(String(decoding: format.text, as: UTF8.self)),
            "parameters": .object(parameters),
        ]
    }
}

extension Format {
    /// The name that a subject lists if it reads descriptions. Source: PROTOCOL.md, "open".
    package static let describedName = "described"

    /// Says whether the protocol knows the format by its name. For any other format, a request includes the
    /// description.
    fileprivate var isNamedInProtocol: Bool { !isDescribed }

    /// Says whether a subject that lists some strategies can open objects of the format.
    package func isOffered(by strategies: [String]) -> Bool {
        isNamedInProtocol && strategies.contains(name) || strategies.contains(Self.describedName)
    }

    /// Returns the format of a request.
    fileprivate static func asked(_ request: JSONValue) throws(DecryptionError) -> Format {
        guard let name = request["strategy"]?.string else {
            throw .missing("strategy", "the name of a strategy")
        }
        guard let description = request["description"] else { return try named(name) }
        guard let format = description.string.flatMap({ try? named(name, in: Array($0.utf8)) }) else {
            throw .missing(
                "description", "a description of \(name.prefix(64)), as docs/formats.md has it")
        }
        return format
    }
}

extension Format.Input {
    /// Returns a value as a member of a request: a number, hexadecimal digits, or a word.
    fileprivate func member(_ value: Value) -> JSONValue {
        switch (kind, value) {
        case (_, .integer(let number)): .integer(UInt64(clamping: number))
        case (.text, .bytes(let bytes)): .string(bytes.text ?? "")
        case (_, .bytes(let bytes)): .string(Hexadecimal.encode(bytes.array))
        }
    }

    /// Reads a member of a request; `nil` for one of another type. ``Strategy/validate()`` checks the value itself.
    package func value(member: JSONValue) -> Value? {
        switch kind {
        case .integer:
            member.integer.flatMap { $0 <= OpenParameters.largestInteger ? .integer(Int128($0)) : nil }
        case .bytes: member.string.flatMap { Hexadecimal.decode($0) }.map { .bytes(ByteString($0)) }
        case .text: member.string.map(Value.text)
        }
    }
}

/// The parameters of an `open` request, checked in the protocol's order: request, strategy, key, IV.
package struct OpenParameters: Sendable {
    /// The strategy of the ciphertext.
    package let strategy: Strategy
    /// The key.
    package let key: SecretKey

    /// Reads the members of a request.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for members that are missing, of the wrong type or impossible;
    ///   `.unsupported` for an unknown strategy; `.invalidKey`; `.invalidIV`.
    package init(_ request: JSONValue) throws(DecryptionError) {
        let format = try Format.asked(request)
        guard let keyBytes = request["key"]?.string.flatMap({ Hexadecimal.decode($0) }) else {
            throw .missing("key", "lower-case hexadecimal digits, an even number of them")
        }
        var values: [String: Value] = [:]
        // Inputs of a description may have the names of other members.
        let parameters = request["description"] == nil ? request : request["parameters"] ?? [:]
        for input in format.inputs {
            guard let value = parameters[input.name].flatMap(input.value(member:)) else {
                throw .missing(input.name, input.expectation)
            }
            values[input.name] = value
        }
        let strategy = Strategy(format, values)
        // Impossible parameters make the request invalid, and are reported before the key and the IV.
        try (format.ivInput.map { strategy.replacing($0.name, with: $0.sampleIV) } ?? strategy).validate()
        self.key =
            format.hasIV && format.isNamedInProtocol ? try SecretKey(keyBytes) : try SecretKey(material: keyBytes)
        try strategy.validate()
        self.strategy = strategy
        try strategy.check(key)
    }

    /// The max integer in messages: all are below 2⁵³, so that every language can hold them.
    static let largestInteger: UInt64 = 1 << 53 - 1
}

extension DecryptionError {
    /// Returns the error of a request in which a member is missing, or has another value than expected.
    package static func missing(_ member: String, _ expected: String) -> DecryptionError {
        .invalidParameter(name: "member", value: "\"\(member)\"", expected: expected)
    }
}

/// The parameters of an `open` request for an object that no strategy describes.
package enum ListRequest: Sendable {
    case playlist(PlaylistRequest)
    case film(FilmRequest)
}

/// The parameters of an `open` request for `hls-aes128`, as far as they can be checked without reading the playlist.
///
/// - Source: PROTOCOL.md, "open".
package struct PlaylistRequest: Sendable {
    /// The strategy's name.
    package static let strategyName = ListStrategy.playlist.rawValue

    /// The origin of a playlist's resources.
    package enum Resources: Sendable {
        /// Files of a folder, to which URIs are relative.
        case folder(path: String)
        /// The sources that the harness serves, by URI as written.
        case served([String: any ByteSource])
        /// A generated object, which only this program requests of itself.
        case described
    }

    /// The playlist's text.
    package let text: String
    /// Keys by URI as written, of any length.
    package let keys: [String: [UInt8]]
    /// The origin of the resources.
    package let resources: Resources
    /// The member `source`.
    package let description: JSONValue

    /// Reads the members of a request. Served resources are requested over `pipe`.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for members that are missing or of the wrong type.
    init(_ request: JSONValue, pipe: PipeEnd) throws(DecryptionError) {
        guard let text = request["playlist"]?.string else { throw .missing("playlist", "a text") }
        guard case .object(let members)? = request["keys"] else { throw .missing("keys", "an object") }
        var keys: [String: [UInt8]] = [:]
        for (uri, digits) in members {
            guard let digits = digits.string, let bytes = Hexadecimal.decode(digits) else {
                throw .missing("keys", "lower-case hexadecimal digits for each URI, an even number of them")
            }
            keys[uri] = bytes
        }
        self.text = text
        self.keys = keys
        self.description = request["source"] ?? .null
        self.resources = try Self.resources(description, pipe: pipe)
    }

    private static func resources(_ source: JSONValue, pipe: PipeEnd) throws(DecryptionError) -> Resources {
        guard let served = source["byteCounts"] else {
            if source["generated"] != nil { return .described }
            guard let path = source["path"]?.string, !path.isEmpty, !path.contains("\0") else {
                throw .missing("source", "an object with byteCounts or the path of a folder")
            }
            return .folder(path: path)
        }
        guard case .object(let byteCounts) = served else { throw .missing("byteCounts", "an object") }
        var sources: [String: any ByteSource] = [:]
        let turn = ServedTurn()
        for (uri, byteCount) in byteCounts {
            guard let byteCount = byteCount.integer, byteCount <= OpenParameters.largestInteger else {
                throw .missing("byteCounts", "an integer below 2^53 for each URI")
            }
            sources[uri] = ServedSource(byteCount: byteCount, pipe: pipe, uri: uri, turn: turn)
        }
        return .served(sources)
    }
}

/// The parameters of an `open` request for `film`, as far as they can be checked without reading the film.
///
/// - Source: PROTOCOL.md, "open".
package struct FilmRequest: Sendable {
    /// The list of samples; `nil` if the film's boxes tell.
    package let samples: String?
    /// The key, of any length.
    package let key: SecretKey
    /// The source that the harness serves; `nil` for a file.
    package let served: (any ByteSource)?
    /// The file's path.
    package let path: String

    /// Reads the members of a request, of which those of `source` were checked.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for members that are missing or of the wrong type.
    package init(_ request: JSONValue, pipe: PipeEnd) throws(DecryptionError) {
        samples = try request["samples"].map { (member) throws(DecryptionError) in
            guard let text = member.string else { throw .missing("samples", "a text") }
            return text
        }
        guard let bytes = request["key"]?.string.flatMap({ Hexadecimal.decode($0) }) else {
            throw .missing("key", "lower-case hexadecimal digits, an even number of them")
        }
        served = request["source"]?["byteCount"]?.integer.map { ServedSource(byteCount: $0, pipe: pipe) }
        path = request["source"]?["path"]?.string ?? ""
        guard served != nil || !path.isEmpty else { throw .missing("source", "a path or a byteCount") }
        do throws(DecryptionError) {
            key = try SecretKey(material: bytes)
        } catch {
            // What is wrong with the list is found first.
            if let samples { _ = try ProtectedExtents(list: Array(samples.utf8)) }
            throw error
        }
    }

    /// Opens the film: the source that the harness serves, or else the file.
    ///
    /// - Throws: `DecryptionError.io`.
    package func source() throws(DecryptionError) -> any ByteSource {
        if let served { return served }
        return try FileSource(path: FilePath(path))
    }
}

extension Strategy {
    /// Returns the strategy of a measured playlist's segments, which lie one after the other in one file.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for an impossible length.
    package static func segments(of byteCount: UInt64) throws(DecryptionError) -> Strategy {
        try Strategy(text: "\(PlaylistRequest.strategyName):segment=\(byteCount)")
    }
}
