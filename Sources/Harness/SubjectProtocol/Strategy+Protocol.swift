package import RandomAccess
package import Support

extension Strategy {
    /// The strategy's members in an `open` request. Source: PROTOCOL.md, "open".
    package var protocolMembers: [String: JSONValue] {
        var members: [String: JSONValue] = ["strategy": .string(name)]
        switch self {
        case .cbcContinuous(let iv, let padding):
            members["iv"] = .string(Hexadecimal.encode(iv.bytes))
            members["padding"] = .string(padding.rawValue)
        case .cbcChunked(let chunkByteCount, let iv, let ivRule, let padding):
            members["iv"] = .string(Hexadecimal.encode(iv.bytes))
            members["padding"] = .string(padding.rawValue)
            members["chunkByteCount"] = .integer(chunkByteCount)
            members["ivRule"] = .string(ivRule.rawValue)
        case .ctr(let iv):
            members["iv"] = .string(Hexadecimal.encode(iv.bytes))
        case .chunked(.cobblestone(_, let context)):
            members["context"] = .string(Hexadecimal.encode(context))
        case .chunked(.tinkAESGCMHKDF(let associatedData, let segmentByteCount, let derivedKeyByteCount)):
            members["associatedData"] = .string(Hexadecimal.encode(associatedData))
            members["segmentByteCount"] = .integer(segmentByteCount)
            members["derivedKeyByteCount"] = .integer(UInt64(derivedKeyByteCount))
        }
        return members
    }
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
        let keyBytes = try Self.bytes("key", of: request)
        if let format = try Self.chunkFormat(name, request) {
            let strategy = Strategy.chunked(format)
            try strategy.validate()
            self.key = try SecretKey(material: keyBytes)
            self.strategy = strategy
            try format.check(key)
            return
        }
        let ivBytes = try Self.bytes("iv", of: request)
        let padding: Padding? = name == "ctr" ? nil : try Self.choice("padding", of: request)
        let ivRule: IVRule? = name == "cbc-chunked" ? try Self.choice("ivRule", of: request) : nil
        var chunkByteCount: UInt64?
        if name == "cbc-chunked" {
            guard let count = request["chunkByteCount"]?.integer, count <= Self.largestInteger else {
                throw Self.missing("chunkByteCount", "a positive multiple of 16")
            }
            chunkByteCount = count
        }
        // Impossible chunk lengths are an invalid request, and come before key and IV.
        let zero = Block(bigEndianValue: 0)
        try Self.strategy(padding, ivRule, chunkByteCount, iv: zero).validate()
        self.key = try SecretKey(keyBytes)
        self.strategy = Self.strategy(padding, ivRule, chunkByteCount, iv: try Block(ivBytes))
    }

    /// The format of authenticated chunks of this name, or `nil` if it is that of another strategy.
    private static func chunkFormat(_ name: String, _ request: JSONValue) throws(DecryptionError) -> ChunkFormat? {
        switch name {
        case "cobblestone-128", "cobblestone-256":
            return .cobblestone(
                keyByteCount: name == "cobblestone-256" ? 32 : 16, context: try bytes("context", of: request))
        case "tink-aes-gcm-hkdf":
            let associatedData = try bytes("associatedData", of: request)
            guard let segmentByteCount = request["segmentByteCount"]?.integer else {
                throw missing("segmentByteCount", "4096 or 1048576")
            }
            guard let derivedKeyByteCount = request["derivedKeyByteCount"]?.integer.flatMap(Int.init(exactly:)) else {
                throw missing("derivedKeyByteCount", "16 or 32")
            }
            return .tinkAESGCMHKDF(
                associatedData: associatedData, segmentByteCount: segmentByteCount,
                derivedKeyByteCount: derivedKeyByteCount)
        default: return nil
        }
    }

    /// Integers in messages stay below 2⁵³, so that every language can hold them.
    static let largestInteger: UInt64 = 1 << 53 - 1

    private static func strategy(
        _ padding: Padding?, _ ivRule: IVRule?, _ chunkByteCount: UInt64?, iv: Block
    ) -> Strategy {
        guard let padding else { return .ctr(iv: iv) }
        guard let ivRule, let chunkByteCount else { return .cbcContinuous(iv: iv, padding: padding) }
        return .cbcChunked(chunkByteCount: chunkByteCount, iv: iv, ivRule: ivRule, padding: padding)
    }

    private static func bytes(_ member: String, of request: JSONValue) throws(DecryptionError) -> [UInt8] {
        guard let text = request[member]?.string, let bytes = Hexadecimal.decode(text) else {
            throw missing(member, "lower-case hexadecimal digits, an even number of them")
        }
        return bytes
    }

    private static func choice<Value: RawRepresentable & CaseIterable>(
        _ member: String, of request: JSONValue
    ) throws(DecryptionError) -> Value where Value.RawValue == String {
        let names = Value.allCases.map(\.rawValue).joined(separator: " or ")
        guard let text = request[member]?.string, let value = Value(rawValue: text) else {
            throw missing(member, names)
        }
        return value
    }

    private static func missing(_ member: String, _ expected: String) -> DecryptionError {
        .invalidParameter(name: "member", value: "\"\(member)\"", expected: expected)
    }
}
