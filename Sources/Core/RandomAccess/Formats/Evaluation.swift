/// The value of an expression.
package enum Value: Hashable, Sendable {
    case integer(Int128)
    case bytes(ByteString)

    /// The type.
    package var kind: Expression.Kind {
        switch self {
        case .integer: .integer
        case .bytes: .bytes
        }
    }

    var integer: Int128? {
        if case .integer(let value) = self { value } else { nil }
    }

    package var bytes: ByteString? {
        if case .bytes(let value) = self { value } else { nil }
    }

    var literal: Expression {
        switch self {
        case .integer(let value): .integer(value)
        case .bytes(let value): .bytes(value)
        }
    }
}

/// The failure of an expression without a value: an overflow, a division by zero, a length that does not fit.
struct EvaluationFailure: Error, Hashable {
    /// The fault and the expectation, without any value, because values may depend on a key.
    let message: String

    init(_ message: String) { self.message = message }
}

extension Formula {
    /// Returns the value, given those of all names that the expression uses.
    ///
    /// - Throws: `DecryptionError.invalidParameter` with the formula's place if it has none.
    package func value(_ names: [String: Value], in format: String) throws(DecryptionError) -> Value {
        do {
            return try expression.value(names)
        } catch {
            throw failure(error, in: format)
        }
    }

    func integer(_ names: [String: Value], in format: String) throws(DecryptionError) -> Int128 {
        guard case .integer(let value) = try value(names, in: format) else { preconditionFailure("types are checked") }
        return value
    }

    func bytes(_ names: [String: Value], in format: String) throws(DecryptionError) -> ByteString {
        guard case .bytes(let value) = try value(names, in: format) else { preconditionFailure("types are checked") }
        return value
    }

    /// Returns the formula with the values of some names inserted, evaluated as far as possible.
    func folded(_ names: [String: Value], in format: String) throws(DecryptionError) -> Formula {
        do {
            return Formula(try expression.folded(names), kind, at: place)
        } catch {
            throw failure(error, in: format)
        }
    }

    func failure(_ failure: EvaluationFailure, in format: String) -> DecryptionError {
        .invalidParameter(
            name: "description", value: "of \(format), \(place)",
            expected: "an expression that has a value: \(failure.message)")
    }
}

extension Expression {
    /// The value, if the expression is a literal.
    var literal: Value? {
        switch self {
        case .integer(let value): .integer(value)
        case .bytes(let value): .bytes(value)
        default: nil
        }
    }

    func value(_ names: [String: Value]) throws(EvaluationFailure) -> Value {
        guard let value = try folded(names).literal else {
            throw EvaluationFailure(
                "\(self.names.subtracting(names.keys).sorted().joined(separator: ", ")) not known yet")
        }
        return value
    }

    /// Returns the expression with the values of some names inserted, evaluated as far as possible.
    func folded(_ names: [String: Value]) throws(EvaluationFailure) -> Expression {
        switch self {
        case .integer, .bytes: return self
        case .name(let name): return names[name]?.literal ?? self
        case .not(let operand):
            let operand = try operand.folded(names)
            guard case .integer(let value) = operand else { return .not(operand) }
            return .integer(value == 0 ? 1 : 0)
        case .choice(let condition, let yes, let no):
            let condition = try condition.folded(names)
            // The branch that is not taken need not have a value.
            guard case .integer(let value) = condition else {
                return .choice(condition, try yes.folded(names), try no.folded(names))
            }
            return try (value != 0 ? yes : no).folded(names)
        case .operation(let symbol, let left, let right):
            let left = try left.folded(names)
            if case .integer(let value) = left, symbol == .and && value == 0 || symbol == .or && value != 0 {
                return .integer(value == 0 ? 0 : 1)
            }
            let right = try right.folded(names)
            guard let first = left.literal, let second = right.literal else { return .operation(symbol, left, right) }
            return try symbol.apply(first, second).literal
        case .call(let function, let arguments):
            var folded: [Expression] = []
            for argument in arguments { folded.append(try argument.folded(names)) }
            let values = folded.compactMap(\.literal)
            guard values.count == folded.count else { return .call(function, folded) }
            return try function.apply(values).literal
        }
    }
}

extension Expression.Operator {
    func apply(_ left: Value, _ right: Value) throws(EvaluationFailure) -> Value {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): .integer(try apply(left, right))
        case (.bytes(let left), .bytes(let right)):
            switch self {
            case .isEqual: .integer(left == right ? 1 : 0)
            case .isUnequal: .integer(left == right ? 0 : 1)
            case .xor: .bytes(try Self.xor(left, right))
            default: .bytes(try Self.limited(left.count + right.count) { .concatenation([left, right]) })
            }
        default: preconditionFailure("types are checked")
        }
    }

    /// The max length of an expression's value in bytes: a whole header, and a little more.
    static let maxByteCount = (1 << 20) + (1 << 16)
    /// The max length of what an expression makes of a number.
    static let maxMadeByteCount = 1 << 16

    static func limited(
        _ byteCount: Int128, _ make: () throws(EvaluationFailure) -> ByteString
    ) throws(EvaluationFailure) -> ByteString {
        guard (0...Int128(maxByteCount)).contains(byteCount) else {
            throw EvaluationFailure("too many bytes: expected at most \(maxByteCount)")
        }
        return try make()
    }

    private static func limited(
        _ byteCount: Int, _ make: () throws(EvaluationFailure) -> ByteString
    ) throws(EvaluationFailure) -> ByteString {
        try limited(Int128(byteCount), make)
    }

    private static func xor(_ left: ByteString, _ right: ByteString) throws(EvaluationFailure) -> ByteString {
        guard left.count == right.count else {
            throw EvaluationFailure("^ of \(left.count) and \(right.count) bytes: expected equal lengths")
        }
        return ByteString(count: left.count) { output in
            for index in 0..<output.count { output[index] = left[index] ^ right[index] }
        }
    }

    /// Returns the result for two integers; each step is checked for overflow.
    @inline(__always)
    func apply(_ left: Int128, _ right: Int128) throws(EvaluationFailure) -> Int128 {
        let (value, overflows): (Int128, Bool)
        switch self {
        case .or: return left != 0 || right != 0 ? 1 : 0
        case .and: return left != 0 && right != 0 ? 1 : 0
        case .isEqual: return left == right ? 1 : 0
        case .isUnequal: return left != right ? 1 : 0
        case .isLess: return left < right ? 1 : 0
        case .isAtMost: return left <= right ? 1 : 0
        case .isGreater: return left > right ? 1 : 0
        case .isAtLeast: return left >= right ? 1 : 0
        case .bitOr: return left | right
        case .xor: return left ^ right
        case .bitAnd: return left & right
        case .shiftLeft:
            guard (0...127).contains(right), left == 0 || (left << right) >> right == left else {
                throw EvaluationFailure("<< overflows: expected a number below 2^127")
            }
            return left << right
        case .shiftRight:
            guard right >= 0 else { throw EvaluationFailure(">> by a negative number: expected 0 or more") }
            return right > 127 ? (left < 0 ? -1 : 0) : left >> right
        case .plus: (value, overflows) = left.addingReportingOverflow(right)
        case .minus: (value, overflows) = left.subtractingReportingOverflow(right)
        case .times: (value, overflows) = left.multipliedReportingOverflow(by: right)
        case .divided, .remainder:
            guard right != 0 else { throw EvaluationFailure("a division by 0: expected another divisor") }
            guard left >= 0, right > 0 else {
                throw EvaluationFailure("\(rawValue) of a negative number: expected none")
            }
            return self == .divided ? left / right : left % right
        case .concatenation: preconditionFailure("types are checked")
        }
        guard !overflows else { throw EvaluationFailure("\(rawValue) overflows: expected a number below 2^127") }
        return value
    }
}

extension Expression.Function {
    func apply(_ arguments: [Value]) throws(EvaluationFailure) -> Value {
        if let (byteCount, isBigEndian) = encoding {
            return .bytes(try Self.encode(arguments.integer(0), byteCount, isBigEndian))
        }
        switch self {
        case .be, .le:
            let byteCount = try arguments.count(1, upTo: 1024)
            return .bytes(try Self.encode(arguments.integer(0), byteCount, self == .be))
        case .beInt, .leInt:
            guard let number = arguments.bytes(0).number(isBigEndian: self == .beInt) else {
                throw EvaluationFailure("a number of \(arguments.bytes(0).count) bytes: expected one below 2^127")
            }
            return .integer(number)
        case .len: return .integer(Int128(arguments.bytes(0).count))
        case .slice:
            let bytes = arguments.bytes(0)
            let start = try arguments.count(1, upTo: bytes.count)
            let count = try arguments.count(2, upTo: bytes.count - start)
            return .bytes(bytes.slice(start..<start + count))
        case .truncate:
            let bytes = arguments.bytes(0)
            return .bytes(bytes.slice(0..<(try arguments.count(1, upTo: bytes.count))))
        case .zeros:
            let count = try arguments.count(0, upTo: Expression.Operator.maxMadeByteCount)
            return .bytes(ByteString(repeatElement(0, count: count)))
        case .repeat:
            let bytes = arguments.bytes(0)
            let count = try arguments.count(1, upTo: Expression.Operator.maxMadeByteCount / max(1, bytes.count))
            return .bytes(.concatenation(Array(repeating: bytes, count: count)))
        case .reverse:
            let bytes = arguments.bytes(0)
            return .bytes(
                ByteString(count: bytes.count) { for i in 0..<$0.count { $0[i] = bytes[bytes.count - 1 - i] } })
        case .addBE, .addLE:
            return .bytes(arguments.bytes(0).adding(arguments.integer(1), isBigEndian: self == .addBE))
        case .hash, .hmac, .hkdf, .hkdfExtract, .hkdfExpand, .pbkdf2: return .bytes(try derive(arguments))
        default: preconditionFailure("encoded above")
        }
    }

    private static func encode(
        _ value: Int128, _ byteCount: Int, _ isBigEndian: Bool
    ) throws(EvaluationFailure) -> ByteString {
        guard let bytes = ByteString.encoding(value, byteCount: byteCount, isBigEndian: isBigEndian) else {
            throw EvaluationFailure("a number that does not fit: expected one of \(byteCount) bytes")
        }
        return bytes
    }

    /// Evaluates the functions whose first argument is the name of a hash.
    private func derive(_ arguments: [Value]) throws(EvaluationFailure) -> ByteString {
        guard let hash = arguments.bytes(0).text.flatMap(HashFunction.init(rawValue:)) else {
            let known = HashFunction.allCases.map(\.rawValue).joined(separator: ", ")
            throw EvaluationFailure("a hash that is not known: expected one of \(known)")
        }
        let digestByteCount = hash.digestByteCount
        func bytes<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            arguments.bytes(index).withUnsafeBytes(body)
        }
        switch self {
        case .hash:
            return ByteString(count: digestByteCount) { output in
                let message = hash.makeHash()
                bytes(1) { message.update($0) }
                message.finish(into: output)
            }
        case .hmac:
            return ByteString(count: digestByteCount) { output in
                let code = bytes(1) { HMAC(hash, key: $0) }
                bytes(2) { code.update($0) }
                code.finish(into: output)
            }
        case .hkdfExtract:
            return ByteString(count: digestByteCount) { output in
                bytes(2) { salt in bytes(1) { HKDF.extract(hash, salt: salt, key: $0, into: output) } }
            }
        case .hkdfExpand:
            let count = try arguments.count(3, upTo: 255 * digestByteCount)
            return ByteString(count: count) { output in
                bytes(2) { info in bytes(1) { HKDF.expand(hash, $0, info: info, into: output) } }
            }
        case .hkdf:
            let key = try Self.hkdfExtract.derive(Array(arguments[..<3]))
            return try Self.hkdfExpand.derive([arguments[0], .bytes(key), arguments[3], arguments[4]])
        default:
            // An untrusted object may choose the count.
            let count = try arguments.count(4, upTo: 4096)
            let blockCount = max(1, (count + digestByteCount - 1) / digestByteCount)
            let iterationCount = try arguments.count(3, upTo: 10_000_000 / blockCount)
            guard iterationCount > 0 else { throw EvaluationFailure("pbkdf2 with 0 iterations: expected 1 or more") }
            return ByteString(count: count) { output in
                bytes(1) { password in
                    bytes(2) { salt in
                        PBKDF2.derive(
                            hash, password: password, salt: salt, iterationCount: iterationCount, into: output)
                    }
                }
            }
        }
    }
}

extension [Value] {
    fileprivate func integer(_ index: Int) -> Int128 {
        guard case .integer(let value) = self[index] else { preconditionFailure("types are checked") }
        return value
    }

    fileprivate func bytes(_ index: Int) -> ByteString {
        guard case .bytes(let value) = self[index] else { preconditionFailure("types are checked") }
        return value
    }

    fileprivate func count(_ index: Int, upTo limit: Int) throws(EvaluationFailure) -> Int {
        let value = integer(index)
        guard (0...Int128(limit)).contains(value) else {
            throw EvaluationFailure("a length, place or number that is out of range: expected one that fits")
        }
        return Int(value)
    }
}
