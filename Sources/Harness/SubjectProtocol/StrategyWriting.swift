public import RandomAccess
import Support

/// A strategy as people write it: `cbc-chunked:chunk=16MB,iv-rule=fixed`.
///
/// - Source: docs/formats.md.
extension Strategy: CustomStringConvertible {
    /// Reads the name of a known format, or of a playlist's segments, and behind a colon its parameters.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - iv: The IV, where it is known from elsewhere; passed over by formats that have none.
    /// - Throws: `DecryptionError.unsupported` for an unknown name, `.invalidParameter` for parameters that are
    ///   unknown, given twice, missing or impossible.
    package init(text: String, iv: [UInt8]? = nil) throws(DecryptionError) {
        let name = String(text.prefix { $0 != ":" })
        try self.init(Format.measured(name), written: text.dropFirst(name.count), iv: iv)
    }

    /// Reads the parameters of a format: nothing, or what stands from the colon on.
    ///
    /// - Throws: `DecryptionError.invalidParameter`, as ``init(text:iv:)``.
    package init(_ format: Format, written text: Substring, iv: [UInt8]? = nil) throws(DecryptionError) {
        var (values, outer) = try format.values(writtenAs: text)
        if outer.hasIVInFront { values[Format.Input.ivName] = .block(Block(bigEndianValue: 0)) }
        if let iv, format.hasIV {
            guard values[Format.Input.ivName] == nil else {
                throw .invalidParameter(name: "parameter", value: "\"iv\", given twice", expected: "one IV")
            }
            values[Format.Input.ivName] = .bytes(ByteString(iv))
        }
        for input in format.inputs where input.defaultValue == nil && values[input.name] == nil {
            throw .invalidParameter(
                name: "parameter", value: "\"\(input.textName)\" of \(format.name), which is missing",
                expected: input.textExpectation)
        }
        self = Strategy(format, values).surrounded(by: outer)
        try validate()
    }

    /// The strategy without what its object is bound to, which is its owner's own business.
    package var unbound: Strategy {
        var values: [String: Value] = [:]
        for input in format.inputs {
            values[input.name] = input.kind == .bytes(nil) ? input.defaultValue ?? self[input.name] : self[input.name]
        }
        return Strategy(format, values).surrounded(by: outer)
    }

    /// The shortest text of the strategy, without its IV: what plans, cells and labels have.
    package var text: String { written { $0.name != Format.Input.ivName } }

    /// The shortest text of the strategy.
    public var description: String { written { $0.name != Format.Input.ivName || !outer.hasIVInFront } }

    /// The parameters that have no default, or another value, in the format's order.
    private func written(_ includes: (Format.Input) -> Bool) -> String {
        var parameters = format.inputs.compactMap { input -> String? in
            guard includes(input), let value = self[input.name], value != input.defaultValue else { return nil }
            return "\(input.textName)=\(input.text(of: value))"
        }
        for (name, count) in [("skip", outer.skipByteCount), ("trim", outer.trimByteCount)] where count > 0 {
            parameters.append("\(name)=\(count)")
        }
        if outer.hasIVInFront { parameters.append("\(Format.Input.ivName)=file") }
        return format.reference + (parameters.isEmpty ? "" : ":\(parameters.joined(separator: ","))")
    }
}

extension Format {
    /// Says whether an IV has to be known of an object.
    package var hasIV: Bool { ivInput != nil }

    /// The IV, if one has to be known of an object.
    package var ivInput: Input? { self.inputs.first { $0.name == Input.ivName } }

    /// The lengths of keys in bytes, the usual one first; of a format that takes any, those of AES keys that it
    /// derives.
    package var usualKeyByteCounts: [Int] { self.keyByteCounts ?? [16, 32] }

    /// The parameter that has the length of the chunks' key, where that follows from a key of any length.
    package var derivedKeyInput: Input? {
        guard self.keyByteCounts == nil else { return nil }
        let names = rules.key.expression.names
        let derived = rules.derived.filter { names.contains($0.name) }.flatMap { $0.formula.expression.names }
        return rules.inputs.first { input in
            guard case .integer = input.kind else { return false }
            return names.contains(input.name) || derived.contains(input.name)
        }
    }

    /// The segments of a playlist, as what is measured.
    package static let playlist: Format? = {
        let description = """
            \(PlaylistRequest.strategyName):
              summary: segments of an HLS playlist that is made to be measured
              source: RFC 8216, sections 4.3.2.4 and 5.2
              inputs: {key: 16, segmentByteCount: {min: 1024, max: 4294967296, multipleOf: 16, default: 1048576}}
              cipher: aes-cbc
              chunk: segmentByteCount
              padding: pkcs7
              key: key
              nonce: be(i, 16)
            """
        // A test reads it.
        return try? named(PlaylistRequest.strategyName, in: Array(description.utf8))
    }()

    /// Refuses inputs that no strategy's text tells apart, and words that none can have.
    ///
    /// - Throws: `DecryptionError.invalidParameter`.
    package func checkTextForms() throws(DecryptionError) {
        var names: [String: String] = [:]
        for input in self.inputs {
            if let other = names.updateValue(input.name, forKey: input.textName) {
                throw .invalidParameter(
                    name: "inputs", value: "\(other) and \(input.name) of \(self.name), both written \(input.textName)",
                    expected: "inputs that are written in two ways")
            }
            guard !["skip", "trim", "key"].contains(input.textName) else {
                throw .invalidParameter(
                    name: "inputs", value: "\(input.name) of \(self.name)",
                    expected: "another name, since every format has \(input.textName)")
            }
            guard case .text(let words) = input.kind, let word = words.first(where: { $0.contains(",") }) else {
                continue
            }
            throw .invalidParameter(
                name: input.textName, value: "\"\(word.prefix(40))\" of \(self.name)",
                expected: "words without commas, which stand between parameters")
        }
    }

    /// Finds a known format, or that of a playlist's segments, by its name.
    ///
    /// - Throws: `DecryptionError.unsupported` for an unknown name.
    package static func measured(_ name: String) throws(DecryptionError) -> Format {
        if name == PlaylistRequest.strategyName, let playlist { return playlist }
        return try named(name)
    }

    /// The name that tells the format from all others: behind the name of one that is not known stand the first 16
    /// digits of its description's SHA-256, as in `mine#0123456789abcdef`.
    package var reference: String {
        isDescribed ? "\(name)#\(Hexadecimal.encode(SHAFunction.sha256.hash(text).prefix(8)))" : name
    }

    /// Says whether only its description tells a program of it, since it is none of the known formats.
    package var isDescribed: Bool {
        (try? Format.measured(name))?.text != text
    }

    /// Reads parameters: a colon, then names with values. Those that every format has are `skip` and `trim`, bytes in
    /// front and behind that are no part of it, and `iv=file`, an IV in front.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for parameters that are unknown, given twice or impossible.
    package func values(
        writtenAs text: Substring
    ) throws(DecryptionError) -> (values: [String: Value], outer: OuterBytes) {
        try checkTextForms()
        var values: [String: Value] = [:]
        var outer = OuterBytes()
        var outerNames: Set<String> = []
        let parts = text.isEmpty ? [] : text.dropFirst().split(separator: ",", omittingEmptySubsequences: false)
        for part in parts {
            let name = String(part.prefix { $0 != "=" })
            let written = String(part.dropFirst(name.count + 1))
            let isOuter = name == "skip" || name == "trim" || hasIV && part == "\(Input.ivName)=file"
            if isOuter, !self.inputs.contains(where: { $0.textName == name }) || name == Input.ivName {
                guard outerNames.insert(name).inserted, values[name] == nil else { throw .givenTwice(name) }
                if name == Input.ivName {
                    outer.hasIVInFront = true
                    continue
                }
                guard let count = ByteSize(written)?.byteCount, count <= 1 << 62 else {
                    throw .invalidParameter(
                        name: name, value: "\"\(written.prefix(40))\"", expected: "a size such as 16")
                }
                if name == "skip" { outer.skipByteCount = count } else { outer.trimByteCount = count }
                continue
            }
            guard let input = self.inputs.first(where: { $0.textName == name }) else {
                let known = self.inputs.map(\.textName) + ["skip", "trim"]
                // Behind a text, it may be a part of that.
                let isRest =
                    !part.contains("=")
                    && self.inputs.contains { $0.kind == .text([]) && values[$0.name] != nil }
                throw .invalidParameter(
                    name: "parameter", value: "\"\(name.prefix(40))\" of \(self.name)",
                    expected: "one of \(known.joined(separator: ", "))" + (isRest ? ", and texts without commas" : ""))
            }
            guard values[input.name] == nil, !outerNames.contains(name) else { throw .givenTwice(name) }
            guard part.count > name.count, let value = input.value(writtenAs: written) else {
                throw .invalidParameter(name: name, value: "\"\(written.prefix(40))\"", expected: input.textExpectation)
            }
            values[input.name] = value
        }
        return (values, outer)
    }
}

extension DecryptionError {
    fileprivate static func givenTwice(_ name: String) -> DecryptionError {
        .invalidParameter(name: "parameter", value: "\"\(name)\", given twice", expected: "each parameter once")
    }
}

extension Format.Input {
    private static let byteCountSuffix = "ByteCount"

    /// Says whether the value is a length, which is written with a unit.
    package var isSize: Bool {
        if case .integer = kind { name.hasSuffix(Self.byteCountSuffix) } else { false }
    }

    /// The lengths in bytes; `nil` of any length, and of what is no bytes.
    package var byteCounts: [Int]? { if case .bytes(let counts) = kind { counts } else { nil } }

    /// The name in a strategy's text: hyphens between its words, and nothing of `ByteCount`.
    package var textName: String {
        let suffix = Self.byteCountSuffix
        let short = name.hasSuffix(suffix) && name != suffix ? name.dropLast(suffix.count) : name[...]
        var text = ""
        var wasLower = false
        for character in short {
            if character.isUppercase, wasLower { text += "-" }
            text += character.lowercased()
            wasLower = !character.isUppercase
        }
        return text
    }

    /// The values that are possible in a strategy's text, in words.
    package var textExpectation: String { isSize ? "a size such as 64KiB, \(expectation)" : expectation }

    /// Reads a value in a strategy's text; `nil` for what the input cannot be.
    package func value(writtenAs text: String) -> Value? {
        guard isSize else { return value(text) }
        return ByteSize(text).flatMap { value("\($0.byteCount)") }
    }

    /// A value as it stands in a strategy's text.
    package func text(of value: Value) -> String {
        switch (kind, value) {
        case (_, .integer(let number)):
            // Sizes below 1 KiB are written without a unit.
            isSize && number >= 1 << 10
                ? UInt64(exactly: number).map { "\(ByteSize($0))" } ?? "\(number)" : "\(number)"
        case (.text, .bytes(let bytes)): bytes.text ?? ""
        case (_, .bytes(let bytes)): Hexadecimal.encode(bytes.array)
        }
    }
}
