package import RandomAccess
package import Support

/// A strategy as it is written down: its name, and the parameters that go with it.
///
/// The one place that knows which strategy has which parameters; requests, cells, plans and the command line share it.
package struct StrategyParameters: Hashable, Sendable {
    /// A parameter by its name in a request, in the order of vector files. Source: PROTOCOL.md, "open".
    package enum Parameter: String, CaseIterable, Hashable, Sendable {
        case iv, padding, chunkByteCount, ivRule, context, associatedData, segmentByteCount, derivedKeyByteCount
    }

    /// The strategy's name.
    package var name: String
    /// The IV, or the initial counter block; of any length until the strategy is made.
    package var iv: [UInt8]?
    package var padding: Padding?
    package var ivRule: IVRule?
    package var chunkByteCount: UInt64?
    /// What a Cobblestone object is bound to.
    package var context: [UInt8]?
    /// What a Tink object is bound to.
    package var associatedData: [UInt8]?
    /// The ciphertext bytes of a Tink segment.
    package var segmentByteCount: UInt64?
    package var derivedKeyByteCount: Int?

    /// Names a strategy of which no parameter is known yet.
    package init(name: String) {
        self.name = name
    }

    /// The parameters of a strategy in the order in which they are checked; `nil` for a name that is none.
    package static func parameters(of name: String) -> [Parameter]? {
        switch name {
        case "cbc-continuous": [.iv, .padding]
        case "cbc-chunked": [.iv, .padding, .ivRule, .chunkByteCount]
        case "ctr": [.iv]
        case "cobblestone-128", "cobblestone-256": [.context]
        case "tink-aes-gcm-hkdf": [.associatedData, .segmentByteCount, .derivedKeyByteCount]
        default: nil
        }
    }

    /// The parameters of a strategy.
    package init(_ strategy: Strategy) {
        self.init(name: strategy.name)
        switch strategy {
        case .cbcContinuous(let iv, let padding): (self.iv, self.padding) = (iv.bytes, padding)
        case .cbcChunked(let chunkByteCount, let iv, let ivRule, let padding):
            (self.iv, self.padding, self.ivRule) = (iv.bytes, padding, ivRule)
            self.chunkByteCount = chunkByteCount
        case .ctr(let iv): self.iv = iv.bytes
        case .chunked(.cobblestone(_, let context)): self.context = context
        case .chunked(.tinkAESGCMHKDF(let associatedData, let segmentByteCount, let derivedKeyByteCount)):
            self.associatedData = associatedData
            self.segmentByteCount = segmentByteCount
            self.derivedKeyByteCount = derivedKeyByteCount
        }
    }

    /// Makes the strategy; what it has no use for is passed over.
    ///
    /// - Throws: `DecryptionError.unsupported` for an unknown name, `.invalidParameter` for a parameter that is missing
    ///   or impossible, `.invalidIV`.
    package func strategy() throws(DecryptionError) -> Strategy {
        let made = try strategy(iv: Self.parameters(of: name)?.contains(.iv) == true ? Block(required(iv, .iv)) : nil)
        try made.validate()
        return made
    }

    /// Checks everything but the IV's length, which comes after the key's.
    func validateBeforeKey() throws(DecryptionError) {
        try strategy(iv: Block(bigEndianValue: 0)).validate()
    }

    private func strategy(iv: Block?) throws(DecryptionError) -> Strategy {
        let iv = iv ?? Block(bigEndianValue: 0)
        switch name {
        case "cbc-continuous": return .cbcContinuous(iv: iv, padding: try required(padding, .padding))
        case "cbc-chunked":
            let (padding, ivRule) = (try required(padding, .padding), try required(ivRule, .ivRule))
            return .cbcChunked(
                chunkByteCount: try required(chunkByteCount, .chunkByteCount), iv: iv, ivRule: ivRule, padding: padding)
        case "ctr": return .ctr(iv: iv)
        case "cobblestone-128", "cobblestone-256":
            return .chunked(
                .cobblestone(
                    keyByteCount: name == "cobblestone-256" ? 32 : 16, context: try required(context, .context)))
        case "tink-aes-gcm-hkdf":
            let associatedData = try required(associatedData, .associatedData)
            return .chunked(
                .tinkAESGCMHKDF(
                    associatedData: associatedData,
                    segmentByteCount: try required(segmentByteCount, .segmentByteCount),
                    derivedKeyByteCount: try required(derivedKeyByteCount, .derivedKeyByteCount)))
        default:
            throw .unsupported("strategy \"\(name)\": expected one of \(Strategy.names.joined(separator: ", "))")
        }
    }

    private func required<Value>(_ value: Value?, _ parameter: Parameter) throws(DecryptionError) -> Value {
        guard let value else { throw Self.missing(parameter) }
        return value
    }

    private static func missing(_ parameter: Parameter) -> DecryptionError {
        .invalidParameter(name: "member", value: "\"\(parameter.rawValue)\"", expected: expectation(of: parameter))
    }

    /// What a parameter is, in words.
    package static func expectation(of parameter: Parameter) -> String {
        switch parameter {
        case .iv, .context, .associatedData: "lower-case hexadecimal digits, an even number of them"
        case .padding: Padding.allCases.map(\.rawValue).joined(separator: " or ")
        case .ivRule: IVRule.allCases.map(\.rawValue).joined(separator: " or ")
        case .chunkByteCount: "a positive multiple of 16"
        case .segmentByteCount: "4096 or 1048576"
        case .derivedKeyByteCount: "16 or 32"
        }
    }
}

extension StrategyParameters {
    /// Reads the members of a request in the order of ``parameters(of:)``.
    ///
    /// - Throws: `DecryptionError.unsupported` for an unknown name, `.invalidParameter` for a member that is missing or
    ///   of another type.
    init(name: String, _ request: JSONValue) throws(DecryptionError) {
        self.init(name: name)
        for parameter in Self.parameters(of: name) ?? [] {
            let member = request[parameter.rawValue]
            var isRead = false
            switch parameter {
            case .iv: (iv, isRead) = Self.read(member?.string.flatMap { Hexadecimal.decode($0) })
            case .padding: (padding, isRead) = Self.read(member?.string.flatMap(Padding.init(rawValue:)))
            case .ivRule: (ivRule, isRead) = Self.read(member?.string.flatMap(IVRule.init(rawValue:)))
            case .chunkByteCount:
                let count = member?.integer.flatMap { $0 <= OpenParameters.largestInteger ? $0 : nil }
                (chunkByteCount, isRead) = Self.read(count)
            case .context: (context, isRead) = Self.read(member?.string.flatMap { Hexadecimal.decode($0) })
            case .associatedData:
                (associatedData, isRead) = Self.read(member?.string.flatMap { Hexadecimal.decode($0) })
            case .segmentByteCount: (segmentByteCount, isRead) = Self.read(member?.integer)
            case .derivedKeyByteCount:
                (derivedKeyByteCount, isRead) = Self.read(member?.integer.flatMap(Int.init(exactly:)))
            }
            guard isRead else { throw Self.missing(parameter) }
        }
    }

    private static func read<Value>(_ value: Value?) -> (Value?, Bool) { (value, value != nil) }

    /// The members of a request.
    package var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["strategy": .string(name)]
        func set(_ parameter: Parameter, _ value: JSONValue?) {
            if let value { members[parameter.rawValue] = value }
        }
        set(.iv, iv.map { .string(Hexadecimal.encode($0)) })
        set(.padding, padding.map { .string($0.rawValue) })
        set(.ivRule, ivRule.map { .string($0.rawValue) })
        set(.chunkByteCount, chunkByteCount.map(JSONValue.integer))
        set(.context, context.map { .string(Hexadecimal.encode($0)) })
        set(.associatedData, associatedData.map { .string(Hexadecimal.encode($0)) })
        set(.segmentByteCount, segmentByteCount.map(JSONValue.integer))
        set(.derivedKeyByteCount, derivedKeyByteCount.map { .integer(UInt64($0)) })
        return members
    }
}
