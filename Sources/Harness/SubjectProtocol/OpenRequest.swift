package import RandomAccess
package import Support

extension Strategy {
    /// The strategy's members in an `open` request. Source: PROTOCOL.md, "open".
    package var protocolMembers: [String: JSONValue] { StrategyParameters(self).members }
}

/// The parameters of an `open` request, checked in the protocol's order: request, strategy, key, IV.
package struct OpenParameters: Sendable {
    /// How the ciphertext is laid out.
    package let strategy: Strategy
    /// The key.
    package let key: SecretKey

    /// Reads the members of a request.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for members that are missing, of the wrong type or impossible;
    ///   `.unsupported` for an unknown strategy; `.invalidKey`; `.invalidIV`.
    package init(_ request: JSONValue) throws(DecryptionError) {
        guard let name = request["strategy"]?.string else {
            throw Self.missing("strategy", "the name of a strategy")
        }
        guard Strategy.names.contains(name) else {
            throw .unsupported("strategy \"\(name)\": expected one of \(Strategy.names.joined(separator: ", "))")
        }
        guard let keyBytes = request["key"]?.string.flatMap({ Hexadecimal.decode($0) }) else {
            throw Self.missing("key", StrategyParameters.expectation(of: .iv))
        }
        let parameters = try StrategyParameters(name: name, request)
        // Impossible lengths of chunks are an invalid request, and come before key and IV.
        try parameters.validateBeforeKey()
        let isChunkFormat = StrategyParameters.parameters(of: name)?.contains(.iv) == false
        self.key = isChunkFormat ? try SecretKey(material: keyBytes) : try SecretKey(keyBytes)
        self.strategy = try parameters.strategy()
        try strategy.chunkFormat?.check(key)
    }

    /// Integers in messages stay below 2⁵³, so that every language can hold them.
    static let largestInteger: UInt64 = 1 << 53 - 1

    private static func missing(_ member: String, _ expected: String) -> DecryptionError {
        .invalidParameter(name: "member", value: "\"\(member)\"", expected: expected)
    }
}

/// The parameters of an `open` request for `hls-aes128`, as far as they can be checked without reading the playlist.
///
/// - Source: PROTOCOL.md, "open".
package struct PlaylistRequest: Sendable {
    /// The strategy's name.
    package static let strategyName = "hls-aes128"

    /// Where resources come from.
    package enum Resources: Sendable {
        /// Files of a folder, which URIs are relative to.
        case folder(path: String)
        /// What the harness serves, by URI as written.
        case served([String: any ByteSource])
        /// What only this program asks of itself.
        case described
    }

    /// The playlist's text.
    package let text: String
    /// Keys by URI as written, of any length.
    package let keys: [String: [UInt8]]
    /// Where resources come from.
    package let resources: Resources
    /// The member `source`.
    package let description: JSONValue

    /// Whether a request is for the strategy.
    static func isAsked(by request: JSONValue) -> Bool { request["strategy"]?.string == strategyName }

    /// Reads the members of a request; what it serves is asked for over `pipe`.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for members that are missing or of the wrong type.
    init(_ request: JSONValue, pipe: PipeEnd) throws(DecryptionError) {
        guard let text = request["playlist"]?.string else { throw Self.missing("playlist", "a text") }
        guard case .object(let members)? = request["keys"] else { throw Self.missing("keys", "an object") }
        var keys: [String: [UInt8]] = [:]
        for (uri, digits) in members {
            guard let digits = digits.string, let bytes = Hexadecimal.decode(digits) else {
                throw Self.missing("keys", "lower-case hexadecimal digits for each URI, an even number of them")
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
                throw missing("source", "an object with byteCounts or the path of a folder")
            }
            return .folder(path: path)
        }
        guard case .object(let byteCounts) = served else { throw missing("byteCounts", "an object") }
        var sources: [String: any ByteSource] = [:]
        let turn = ServedTurn()
        for (uri, byteCount) in byteCounts {
            guard let byteCount = byteCount.integer, byteCount <= OpenParameters.largestInteger else {
                throw missing("byteCounts", "an integer below 2^53 for each URI")
            }
            sources[uri] = ServedSource(byteCount: byteCount, pipe: pipe, uri: uri, turn: turn)
        }
        return .served(sources)
    }

    private static func missing(_ member: String, _ expected: String) -> DecryptionError {
        .invalidParameter(name: "member", value: "\"\(member)\"", expected: expected)
    }
}

extension Strategy {
    /// What the segments of a measured playlist are, one behind the other in one file: chunks of CBC whose IVs count
    /// from 0, as media sequence numbers do. Source: RFC 8216, section 5.2.
    package static func segments(of byteCount: UInt64) -> Strategy {
        .cbcChunked(
            chunkByteCount: byteCount, iv: Block(bigEndianValue: 0), ivRule: .sequence, padding: .pkcs7)
    }
}
