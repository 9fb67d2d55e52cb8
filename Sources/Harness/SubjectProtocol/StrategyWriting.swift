public import RandomAccess
import Support

/// The text form of a strategy: `cbc-chunked:chunk=16MB,iv-rule=fixed`.
///
/// - Source: docs/formats.md.
extension Strategy: CustomStringConvertible {
    /// Reads the name of a known format, or of a playlist's segments, and its parameters after a colon.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - iv: The IV, if it is known from elsewhere; ignored by formats without one.
    /// - Throws: `DecryptionError.unsupported` for an unknown name, `.invalidParameter` for parameters that are
    ///   unknown, given twice, missing or impossible.
    package init(text: String, iv: [UInt8]? = nil) throws(DecryptionError) {
        let name = String(text.prefix { $0 != ":" })
        try self.init(Format.measured(name), written: text.dropFirst(name.count), iv: iv)
    }

    /// Reads the parameters of a format: nothing, or the text from the colon on.
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
                name: "parameter", value: "\"\(input.optionName)\" of \(format.name), which is missing",
                expected: input.expectedFormat)
        }
        self = Strategy(format, values).surrounded(by: outer)
        try validate()
    }

    /// The strategy without the bytes to which its object is bound, which are private to the owner.
    package var unbound: Strategy {
        var values: [String: Value] = [:]
        for input in format.inputs {
            values[input.name] = input.kind == .bytes(nil) ? input.defaultValue ?? self[input.name] : self[input.name]
        }
        return Strategy(format, values).surrounded(by: outer)
    }

    /// The shortest text of the strategy, without its IV, as it is used in plans, cells and labels.
    package var text: String { written { $0.name != Format.Input.ivName } }

    /// The shortest text of the strategy.
    public var description: String { written { $0.name != Format.Input.ivName || !outer.hasIVInFront } }

    /// Returns the text with the parameters that have no default or differ from it, in the format's order.
    private func written(_ includes: (Format.Input) -> Bool) -> String {
        var parameters = format.inputs.compactMap { input -> String? in
            guard includes(input), let value = self[input.name], value != input.defaultValue else { return nil }
            return "\(input.optionName)=\(input.text(of: value))"
        }
        for (name, count) in [("skip", outer.skipByteCount), ("trim", outer.trimByteCount)] where count > 0 {
            parameters.append("\(name)=\(count)")
        }
        if outer.hasIVInFront { parameters.append("\(Format.Input.ivName)=file") }
        return format.reference + (parameters.isEmpty ? "" : ":\(parameters.joined(separator: ","))")
    }
}

extension Format {
    /// Says whether a reader needs an object's IV from elsewhere.
    package var hasIV: Bool { ivInput != nil }

    /// The IV, if a reader needs it from elsewhere.
    package var ivInput: Input? { self.inputs.first { $0.name == Input.ivName } }

    /// The key lengths in bytes, the usual one first. For a format that takes any length, these are the lengths of the
    /// AES keys that it derives.
    package var usualKeyByteCounts: [Int] { self.keyByteCounts ?? [16, 32] }

    /// The parameter for the length of the chunks' key, if that key is derived from a key of any length.
    package var derivedKeyInput: Input? {
        guard self.keyByteCounts == nil else { return nil }
        let names = rules.key.expression.names
        let derived = rules.derived.filter { names.contains($0.name) }.flatMap { $0.formula.expression.names }
        return rules.inputs.first { input in
            guard case .integer = input.kind else { return false }
            return names.contains(input.name) || derived.contains(input.name)
        }
    }

    /// The segments of a playlist, as a format that can be measured.
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
        // A test checks that the description is valid.
        return try? named(PlaylistRequest.strategyName, in: Array(description.utf8))
    }()

    /// Rejects inputs that a strategy's text could not tell apart, and words that it could not contain.
    ///
    /// - Throws: `DecryptionError.invalidParameter`.
    package func checkTextForms() throws(DecryptionError) {
        var names: [String: String] = [:]
        for input in self.inputs {
            if let other = names.updateValue(input.name, forKey: input.optionName) {
                throw .invalidParameter(
                    name: "inputs",
                    value: "\(other) and \(input.name) of \(self.name), both written \(input.optionName)",
                    expected: "inputs that are written in two ways")
            }
            guard !["skip", "trim", "key"].contains(input.optionName) else {
                throw .invalidParameter(
                    name: "inputs", value: "\(input.name) of \(self.name)",
                    expected: "another name, since every format has \(input.optionName)")
            }
            guard case .text(let words) = input.kind, let word = words.first(where: { $0.contains(",") }) else {
                continue
            }
            throw .invalidParameter(
                name: input.optionName, value: "\"\(word.prefix(40))\" of \(self.name)",
                expected: "words without commas, which stand between parameters")
        }
    }

    /// Returns a known format, or that of a playlist's segments, by its name.
    ///
    /// - Throws: `DecryptionError.unsupported` for an unknown name.
    package static func measured(_ name: String) throws(DecryptionError) -> Format {
        if name == PlaylistRequest.strategyName, let playlist { return playlist }
        return try named(name)
    }

    /// A name that is unique among all formats. For a format that is not known, the first 16 digits of its
    /// description's SHA-256 follow the name, as in `mine#0123456789abcdef`.
    package var reference: String {
        isDescribed ? "\(name)#\(Hexadecimal.encode(SHAFunction.sha256.hash(text).prefix(8)))" : name
    }

    /// True if a program can only know the format from its description, because it is not one of the known formats.
    package var isDescribed: Bool {
        (try? Format.measured(name))?.text != text
    }

    /// Reads parameters: a colon, then names with values. Every format also has `skip` and `trim`, numbers of bytes
    /// before and after the object that do not belong to it, and `iv=file`, an IV in front of it.
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
            if isOuter, !self.inputs.contains(where: { $0.optionName == name }) || name == Input.ivName {
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
            guard let input = self.inputs.first(where: { $0.optionName == name }) else {
                let known = self.inputs.map(\.optionName) + ["skip", "trim"]
                // It may be the rest of a text with a comma.
                let isRest =
                    !part.contains("=")
                    && self.inputs.contains { $0.kind == .text([]) && values[$0.name] != nil }
                throw .invalidParameter(
                    name: "parameter", value: "\"\(name.prefix(40))\" of \(self.name)",
                    expected: "one of \(known.joined(separator: ", "))" + (isRest ? ", and texts without commas" : ""))
            }
            guard values[input.name] == nil, !outerNames.contains(name) else { throw .givenTwice(name) }
            guard part.count > name.count, let value = input.value(writtenAs: written) else {
                throw .invalidParameter(name: name, value: "\"\(written.prefix(40))\"", expected: input.expectedFormat)
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

    /// True if the value is a length, which is written with a unit.
    package var isSize: Bool {
        if case .integer = kind { name.hasSuffix(Self.byteCountSuffix) } else { false }
    }

    /// The lengths in bytes; `nil` if any length is valid, or the input is not bytes.
    package var byteCounts: [Int]? { if case .bytes(let counts) = kind { counts } else { nil } }

    /// The name in a strategy's text, with hyphens between the words and without `ByteCount`.
    package var optionName: String {
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

    /// A description of the values that are valid in a strategy's text.
    package var expectedFormat: String { isSize ? "a size such as 64KiB, \(expectation)" : expectation }

    /// Reads a value in a strategy's text; `nil` for one that the input cannot have.
    package func value(writtenAs text: String) -> Value? {
        guard isSize else { return value(text) }
        return ByteSize(text).flatMap { value("\($0.byteCount)") }
    }

    /// Returns a value as it is written in a strategy's text.
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
