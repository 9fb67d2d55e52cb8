package import RandomAccess
package import Support

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
