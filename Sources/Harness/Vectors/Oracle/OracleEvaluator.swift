import RandomAccess
internal import Support

/// Evaluates the expressions of a description, with code that shares only the parsed tree with the product.
///
/// All parts of an expression are evaluated, from the inside out. Hashes are libcrypto's.
struct OracleEvaluator {
    /// The known values by name.
    var names: [String: Value]
    /// The format's name, for errors.
    let format: String

    /// Says whether an expression only uses known names.
    func knows(_ formula: Formula) -> Bool { formula.expression.names.allSatisfy { names[$0] != nil } }

    /// Returns the value of an expression of bytes.
    ///
    /// - Throws: `DecryptionError.invalidParameter` if it has no value.
    func bytes(_ formula: Formula) throws(DecryptionError) -> [UInt8] { try bytes(formula.expression) }

    /// Returns the value of an expression of numbers.
    ///
    /// - Throws: `DecryptionError.invalidParameter` if it has no value.
    func number(_ formula: Formula) throws(DecryptionError) -> Int128 { try number(formula.expression) }

    /// Returns the value of an expression of either kind.
    func value(_ formula: Formula) throws(DecryptionError) -> Value { try value(formula.expression) }

    private func failure(_ what: String) -> DecryptionError {
        .invalidParameter(name: "description", value: "of \(format)", expected: "an expression with a value: \(what)")
    }

    private func bytes(_ expression: Expression) throws(DecryptionError) -> [UInt8] {
        guard case .bytes(let bytes) = try value(expression) else { throw failure("bytes") }
        return bytes.array
    }

    private func number(_ expression: Expression) throws(DecryptionError) -> Int128 {
        guard case .integer(let number) = try value(expression) else { throw failure("a number") }
        return number
    }

    private func value(_ expression: Expression) throws(DecryptionError) -> Value {
        switch expression {
        case .integer(let number): return .integer(number)
        case .bytes(let bytes): return .bytes(bytes)
        case .name(let name):
            guard let value = names[name] else { throw failure("\(name) known") }
            return value
        case .not(let operand): return .integer(try number(operand) == 0 ? 1 : 0)
        case .choice(let condition, let yes, let no): return try value(try number(condition) == 0 ? no : yes)
        case .operation(.and, let left, let right):
            if try number(left) == 0 { return .integer(0) }
            return .integer(try number(right) == 0 ? 0 : 1)
        case .operation(.or, let left, let right):
            if try number(left) != 0 { return .integer(1) }
            return .integer(try number(right) == 0 ? 0 : 1)
        case .operation(let symbol, let left, let right):
            switch (try value(left), try value(right)) {
            case (.integer(let left), .integer(let right)): return .integer(try apply(symbol, left, right))
            case (.bytes(let left), .bytes(let right)): return try apply(symbol, left.array, right.array)
            default: throw failure("operands of one type")
            }
        case .call(let function, let arguments): return try call(function, arguments)
        }
    }

    private func apply(
        _ symbol: Expression.Operator, _ left: [UInt8], _ right: [UInt8]
    ) throws(DecryptionError) -> Value {
        switch symbol {
        case .isEqual: return .integer(left == right ? 1 : 0)
        case .isUnequal: return .integer(left == right ? 0 : 1)
        case .concatenation where left.count + right.count <= Self.maxByteCount:
            return .bytes(ByteString(left + right))
        case .xor where left.count == right.count: return .bytes(ByteString(zip(left, right).map { $0 ^ $1 }))
        default: throw failure("bytes that \(symbol.rawValue) takes")
        }
    }

    private func apply(
        _ symbol: Expression.Operator, _ left: Int128, _ right: Int128
    ) throws(DecryptionError) -> Int128 {
        var result: (partialValue: Int128, overflow: Bool) = (0, false)
        switch symbol {
        case .isEqual: result.partialValue = left == right ? 1 : 0
        case .isUnequal: result.partialValue = left == right ? 0 : 1
        case .isLess: result.partialValue = left < right ? 1 : 0
        case .isAtMost: result.partialValue = left > right ? 0 : 1
        case .isGreater: result.partialValue = left > right ? 1 : 0
        case .isAtLeast: result.partialValue = left < right ? 0 : 1
        case .bitOr: result.partialValue = left | right
        case .bitAnd: result.partialValue = left & right
        case .xor: result.partialValue = left ^ right
        case .plus: result = left.addingReportingOverflow(right)
        case .minus: result = left.subtractingReportingOverflow(right)
        case .times: result = left.multipliedReportingOverflow(by: right)
        case .divided, .remainder:
            guard left >= 0, right > 0 else { throw failure("a division of positive numbers") }
            result.partialValue = symbol == .divided ? left / right : left % right
        case .shiftLeft:
            guard (0...127).contains(right) else { throw failure("a shift by 0 to 127") }
            // Bit by bit: each step doubles the value.
            result.partialValue = left
            for _ in 0..<right where !result.overflow {
                result = result.partialValue.multipliedReportingOverflow(by: 2)
            }
        case .shiftRight:
            guard right >= 0 else { throw failure("a shift by 0 or more") }
            result.partialValue = left
            for _ in 0..<min(right, 128) { result.partialValue >>= 1 }
        case .and, .or, .concatenation: throw failure("other operands")
        }
        if result.overflow { throw failure("no overflow of \(symbol.rawValue)") }
        return result.partialValue
    }
}

// MARK: Functions

extension OracleEvaluator {
    /// The max length of an expression's bytes.
    private static let maxByteCount = 1 << 20

    private func count(_ expression: Expression, upTo limit: Int) throws(DecryptionError) -> Int {
        let value = try number(expression)
        guard value >= 0, value <= Int128(limit) else { throw failure("a number up to \(limit)") }
        return Int(value)
    }

    private func call(
        _ function: Expression.Function, _ arguments: [Expression]
    ) throws(DecryptionError) -> Value {
        switch function {
        case .u8: try encoded(arguments[0], 1, isBigEndian: true)
        case .u16be: try encoded(arguments[0], 2, isBigEndian: true)
        case .u32be: try encoded(arguments[0], 4, isBigEndian: true)
        case .u64be: try encoded(arguments[0], 8, isBigEndian: true)
        case .u128be: try encoded(arguments[0], 16, isBigEndian: true)
        case .u16le: try encoded(arguments[0], 2, isBigEndian: false)
        case .u32le: try encoded(arguments[0], 4, isBigEndian: false)
        case .u64le: try encoded(arguments[0], 8, isBigEndian: false)
        case .u128le: try encoded(arguments[0], 16, isBigEndian: false)
        case .be: try encoded(arguments[0], try count(arguments[1], upTo: 1024), isBigEndian: true)
        case .le: try encoded(arguments[0], try count(arguments[1], upTo: 1024), isBigEndian: false)
        case .beInt: .integer(try decoded(try bytes(arguments[0])))
        case .leInt: .integer(try decoded(try bytes(arguments[0]).reversed()))
        case .len: .integer(Int128(try bytes(arguments[0]).count))
        default: .bytes(ByteString(try made(function, arguments)))
        }
    }

    private func encoded(
        _ expression: Expression, _ byteCount: Int, isBigEndian: Bool
    ) throws(DecryptionError) -> Value {
        var rest = try number(expression)
        guard rest >= 0 else { throw failure("a number of 0 or more") }
        var bytes: [UInt8] = []
        for _ in 0..<byteCount {
            bytes.append(UInt8(rest % 256))
            rest /= 256
        }
        guard rest == 0 else { throw failure("a number of \(byteCount) bytes") }
        return .bytes(ByteString(isBigEndian ? bytes.reversed() : bytes))
    }

    private func decoded(_ bytes: [UInt8]) throws(DecryptionError) -> Int128 {
        var number: Int128 = 0
        for byte in bytes {
            number = try apply(.plus, try apply(.times, number, 256), Int128(byte))
        }
        return number
    }

    /// Returns the value of a function of bytes.
    private func made(_ function: Expression.Function, _ arguments: [Expression]) throws(DecryptionError) -> [UInt8] {
        if function == .zeros {
            return [UInt8](repeating: 0, count: try count(arguments[0], upTo: Self.maxByteCount))
        }
        let first = try bytes(arguments[0])
        switch function {
        case .slice:
            let start = try count(arguments[1], upTo: first.count)
            return Array(first[start..<start + (try count(arguments[2], upTo: first.count - start))])
        case .truncate: return Array(first[..<(try count(arguments[1], upTo: first.count))])
        case .repeat:
            let count = try count(arguments[1], upTo: Self.maxByteCount / max(1, first.count))
            return (0..<count).flatMap { _ in first }
        case .reverse: return first.reversed()
        case .addBE: return sum(first.reversed(), try number(arguments[1])).reversed()
        case .addLE: return sum(first, try number(arguments[1]))
        default: break
        }
        guard let hash = SHAFunction(rawValue: String(decoding: first, as: UTF8.self)) else {
            throw failure("a hash of the SHA family")
        }
        let second = try bytes(arguments[1])
        func expand(_ key: [UInt8], _ info: Expression, _ byteCount: Expression) throws(DecryptionError) -> [UInt8] {
            let count = try count(byteCount, upTo: 255 * hash.digestByteCount)
            return hash.expand(key, info: try bytes(info), byteCount: count)
        }
        switch function {
        case .hash: return hash.hash(second)
        case .hmac: return hash.mac(key: second, try bytes(arguments[2]))
        case .hkdfExtract: return hash.mac(key: try bytes(arguments[2]), second)
        case .hkdfExpand: return try expand(second, arguments[2], arguments[3])
        case .hkdf: return try expand(hash.mac(key: try bytes(arguments[2]), second), arguments[3], arguments[4])
        case .pbkdf2:
            let iterationCount = try count(arguments[3], upTo: 10_000_000)
            return stretched(
                hash, second, salt: try bytes(arguments[2]), iterationCount: iterationCount,
                byteCount: try count(arguments[4], upTo: 4096))
        default: throw failure("a function that the oracle has, which \(function.rawValue) is not")
        }
    }

    /// Returns the sum of a little-endian number in bytes and a number, byte by byte, without the final carry.
    private func sum(_ bytes: [UInt8], _ number: Int128) -> [UInt8] {
        var carry = number
        return bytes.map { byte in
            let low = carry & 255
            let sum = Int128(byte) + low
            carry = (carry - low) / 256 + sum / 256
            return UInt8(sum % 256)
        }
    }

    /// PBKDF2. Source: RFC 8018, section 5.2.
    private func stretched(
        _ hash: SHAFunction, _ password: [UInt8], salt: [UInt8], iterationCount: Int, byteCount: Int
    ) -> [UInt8] {
        var output: [UInt8] = []
        var number: UInt32 = 0
        while output.count < byteCount {
            number += 1
            var last = hash.mac(
                key: password, salt + (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) })
            var block = last
            for _ in 0..<max(0, iterationCount - 1) {
                last = hash.mac(key: password, last)
                for index in block.indices { block[index] ^= last[index] }
            }
            output += block
        }
        return Array(output.prefix(byteCount))
    }
}

extension Format.Rules {
    /// True if what a variant fixes leaves all chunks without associated data.
    package var hasNoAssociatedData: Bool {
        guard let associatedData else { return true }
        var known = OracleEvaluator(names: [:], format: "")
        for input in inputs where input.isFixed { known.names[input.name] = input.defaultValue }
        for (name, formula) in derived.map({ ($0.name, $0.formula) }) where known.knows(formula) {
            known.names[name] = try? known.value(formula)
        }
        return (try? known.bytes(associatedData)) == []
    }
}
