/// The values that an input accepts.
extension Format.Input {
    /// Returns the input with a default. A description writes numbers and words plainly, and bytes as hexadecimal
    /// digits.
    func withDefault(
        _ node: YAMLNode, isFixed: Bool = false
    ) throws(DescriptionError) -> Format.Input {
        let text = try node.text(expectation)
        guard let value = value(text) else { throw node.error(expectation) }
        return Format.Input(name: name, kind: kind, defaultValue: value, isFixed: isFixed)
    }

    /// The possible values, in words.
    package var expectation: String {
        if isFixed { return "what this variant fixes" }
        return switch kind {
        case .integer(_, _, let list) where !list.isEmpty: list.listed
        case .integer(let range, let unit, _):
            (unit > 1 ? "a \(range.lowerBound > 0 ? "positive " : "")multiple of \(unit)" : "a number")
                + (range.upperBound < 1 << 62 ? " from \(range.lowerBound) to \(range.upperBound)" : "")
        case .bytes(let counts?): "hexadecimal digits for \(counts.listed) bytes"
        case .bytes(nil): "hexadecimal digits, an even number of them"
        case .text(let words): words.isEmpty ? "a text" : words.listed
        }
    }

    /// Parses a value: a number in digits, bytes in hexadecimal digits, a word; `nil` for an invalid one.
    package func value(_ text: String) -> Value? {
        switch kind {
        case .integer: UInt64(text).flatMap { accepts(.integer(Int128($0))) ? .integer(Int128($0)) : nil }
        case .bytes:
            ByteString(hexadecimal: text).flatMap { accepts(.bytes($0)) ? .bytes($0) : nil }
        case .text: accepts(.bytes(ByteString(text.utf8))) ? .bytes(ByteString(text.utf8)) : nil
        }
    }

    /// Returns whether the input accepts a value.
    package func accepts(_ value: Value) -> Bool {
        if isFixed, value != defaultValue { return false }
        return switch (kind, value) {
        case (.integer(let range, let unit, let list), .integer(let value)):
            UInt64(exactly: value).map {
                range.contains($0) && $0 % unit == 0 && (list.isEmpty || list.contains($0))
            } ?? false
        case (.bytes(let counts), .bytes(let value)): counts?.contains(value.count) ?? (value.count <= 1 << 20)
        case (.text(let words), .bytes(let value)):
            value.text.map { words.isEmpty ? $0.utf8.count <= 4096 : words.contains($0) } ?? false
        default: false
        }
    }

    /// Refuses a value that the input does not accept.
    ///
    /// - Throws: `DecryptionError.invalidIV` for an IV of another length, `.invalidParameter`.
    package func check(_ value: Value) throws(DecryptionError) {
        guard !accepts(value) else { return }
        if name == Self.ivName, let bytes = value.bytes, case .bytes(let counts?) = kind, !counts.contains(bytes.count)
        {
            throw .invalidIV(byteCount: bytes.count, expected: counts.listed)
        }
        let text =
            switch (kind, value) {
            case (.text, .bytes(let bytes)): bytes.text.map { "\"\($0.prefix(40))\"" } ?? "of \(bytes.count) bytes"
            case (_, .bytes(let bytes)): "of \(bytes.count) bytes"
            case (_, .integer(let value)): "\(value)"
            }
        throw .invalidParameter(name: name, value: text, expected: expectation)
    }

    /// The name of the input that may come from a file beside an object, or from its start.
    package static let ivName = "iv"

    /// An IV for trials: a block if the input accepts one.
    package var sampleIV: Value {
        let block = Value.block(Block(bigEndianValue: 0))
        return accepts(block) ? block : sample
    }

    /// The default, or any valid value: for trials.
    package var sample: Value {
        if let defaultValue { return defaultValue }
        switch kind {
        case .integer(let range, let unit, _):
            let candidates = [65536, 4096, 64, 16, range.lowerBound / unit * unit + unit, range.lowerBound]
            let value = candidates.first { accepts(.integer(Int128($0))) } ?? range.lowerBound
            return .integer(Int128(value))
        case .bytes(let counts): return .bytes(ByteString(repeating: 0, count: counts?.first ?? 0))
        case .text(let words): return .text(words.first ?? "")
        }
    }
}

extension Array where Element: CustomStringConvertible {
    /// The elements as "a, b or c".
    var listed: String {
        let others = dropLast().map(\.description).joined(separator: ", ")
        return (others.isEmpty ? "" : others + " or ") + (last?.description ?? "")
    }
}

extension ByteString {
    /// Parses hexadecimal digits.
    package convenience init?(hexadecimal text: String) {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count % 2 == 0, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        self.init(stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
}
