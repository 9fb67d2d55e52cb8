/// An expression of a description: an integer or a byte string, from names, literals and functions.
///
/// It has no loops, no assignment and no recursion, so each evaluation ends.
///
/// - Source: docs/formats.md, "Expressions".
package indirect enum Expression: Hashable, Sendable {
    case integer(Int128)
    case bytes(ByteString)
    case name(String)
    case not(Expression)
    case operation(Operator, Expression, Expression)
    case choice(Expression, Expression, Expression)
    case call(Function, [Expression])

    /// An operator between two expressions.
    package enum Operator: String, CaseIterable, Sendable {
        case or = "||"
        case and = "&&"
        case isEqual = "=="
        case isUnequal = "!="
        case isLess = "<"
        case isAtMost = "<="
        case isGreater = ">"
        case isAtLeast = ">="
        case bitOr = "|"
        case xor = "^"
        case bitAnd = "&"
        case shiftLeft = "<<"
        case shiftRight = ">>"
        case concatenation = "++"
        case plus = "+"
        case minus = "-"
        case times = "*"
        case divided = "/"
        case remainder = "%"

        /// The operator's precedence.
        var precedence: Int {
            switch self {
            case .or: 0
            case .and: 1
            case .isEqual, .isUnequal: 2
            case .isLess, .isAtMost, .isGreater, .isAtLeast: 3
            case .bitOr: 4
            case .xor: 5
            case .bitAnd: 6
            case .shiftLeft, .shiftRight: 7
            case .concatenation: 8
            case .plus, .minus: 9
            case .times, .divided, .remainder: 10
            }
        }
    }

    /// The type of a value.
    package enum Kind: String, Hashable, Sendable {
        case integer = "an integer"
        case bytes = "bytes"
    }

    /// A function that descriptions may call.
    package enum Function: String, CaseIterable, Sendable {
        case u8, u16be, u32be, u64be, u128be, u16le, u32le, u64le, u128le, be, le
        case beInt, leInt, len
        case slice, truncate, zeros, `repeat`, reverse, addBE, addLE
        case hash, hmac, hkdf, hkdfExtract, hkdfExpand, pbkdf2

        /// The types of the arguments and of the result.
        var signature: (arguments: [Kind], result: Kind) {
            switch self {
            case .u8, .u16be, .u32be, .u64be, .u128be, .u16le, .u32le, .u64le, .u128le, .zeros: ([.integer], .bytes)
            case .be, .le: ([.integer, .integer], .bytes)
            case .beInt, .leInt, .len: ([.bytes], .integer)
            case .slice: ([.bytes, .integer, .integer], .bytes)
            case .truncate, .repeat, .addBE, .addLE: ([.bytes, .integer], .bytes)
            case .reverse: ([.bytes], .bytes)
            case .hash: ([.bytes, .bytes], .bytes)
            case .hmac, .hkdfExtract: ([.bytes, .bytes, .bytes], .bytes)
            case .hkdf: ([.bytes, .bytes, .bytes, .bytes, .integer], .bytes)
            case .hkdfExpand: ([.bytes, .bytes, .bytes, .integer], .bytes)
            case .pbkdf2: ([.bytes, .bytes, .bytes, .integer, .integer], .bytes)
            }
        }

        /// The same function with the other byte order.
        fileprivate var inOtherByteOrder: Function {
            let name = rawValue
            let other =
                name.hasSuffix("be") ? name.dropLast(2) + "le" : name.hasSuffix("le") ? name.dropLast(2) + "be" : nil
            switch self {
            case .addBE: return .addLE
            case .addLE: return .addBE
            default: return other.flatMap { Function(rawValue: String($0)) } ?? self
            }
        }

        /// The width in bytes and the byte order, if the function encodes a number; otherwise `nil`.
        var encoding: (byteCount: Int, isBigEndian: Bool)? {
            switch self {
            case .u8: (1, true)
            case .u16be: (2, true)
            case .u32be: (4, true)
            case .u64be: (8, true)
            case .u128be: (16, true)
            case .u16le: (2, false)
            case .u32le: (4, false)
            case .u64le: (8, false)
            case .u128le: (16, false)
            default: nil
            }
        }
    }

    /// The names that the expression uses.
    package var names: Set<String> {
        var names: Set<String> = []
        insertNames(into: &names)
        return names
    }

    private func insertNames(into names: inout Set<String>) {
        switch self {
        case .integer, .bytes: break
        case .name(let name): names.insert(name)
        case .not(let operand): operand.insertNames(into: &names)
        case .operation(_, let left, let right):
            left.insertNames(into: &names)
            right.insertNames(into: &names)
        case .choice(let condition, let yes, let no):
            condition.insertNames(into: &names)
            yes.insertNames(into: &names)
            no.insertNames(into: &names)
        case .call(_, let arguments):
            for argument in arguments { argument.insertNames(into: &names) }
        }
    }

    /// The largest subexpressions that are integers and unknown.
    var largestIntegers: [Expression] {
        func found(_ expression: Expression, isInteger: Bool) -> [Expression] {
            if expression.names.isEmpty { return [] }
            if isInteger { return [expression] }
            switch expression {
            case .integer, .bytes, .name, .not: return []
            case .operation(let symbol, let left, let right):
                // These operators take bytes.
                let isInteger = ![.concatenation, .xor, .isEqual, .isUnequal].contains(symbol)
                return found(left, isInteger: isInteger) + found(right, isInteger: isInteger)
            case .choice(let condition, let yes, let no):
                return found(condition, isInteger: true) + found(yes, isInteger: false) + found(no, isInteger: false)
            case .call(let function, let arguments):
                return zip(arguments, function.signature.arguments).flatMap { found($0, isInteger: $1 == .integer) }
            }
        }
        return found(self, isInteger: false)
    }

    /// True if the expression, a byte string, has a value for all chunks between two for which it has one. Its numbers
    /// then grow or shrink with the chunk's number, and nothing else depends on them.
    var isTotal: Bool {
        switch self {
        case .integer, .bytes, .name: true
        case .operation(let symbol, let left, let right):
            (symbol == .concatenation || symbol == .xor) && left.isTotal && right.isTotal
        case .call(let function, let arguments):
            zip(arguments, function.signature.arguments).allSatisfy { argument, kind in
                switch kind {
                case .bytes: argument.isTotal
                case .integer:
                    argument.names.isEmpty || (function.encoding != nil && argument.isMonotone)
                        || [.addBE, .addLE, .be, .le].contains(function) && argument.isMonotone
                }
            }
        case .not, .choice: false
        }
    }

    /// True if the expression, an integer, grows or shrinks with the only name that it uses.
    private var isMonotone: Bool {
        switch self {
        case .integer, .name: true
        case .operation(let symbol, let left, let right):
            [.plus, .minus, .times, .shiftLeft, .shiftRight, .divided].contains(symbol)
                && (left.names.isEmpty && ![.shiftLeft, .shiftRight, .divided].contains(symbol) && right.isMonotone
                    || right.names.isEmpty && left.isMonotone)
        case .bytes, .not, .choice, .call: false
        }
    }

    /// The expression with one iteration per password hash: for an analysis of its dependencies.
    var withoutPasswordWork: Expression {
        switch self {
        case .integer, .bytes, .name: self
        case .not(let operand): .not(operand.withoutPasswordWork)
        case .operation(let symbol, let left, let right):
            .operation(symbol, left.withoutPasswordWork, right.withoutPasswordWork)
        case .choice(let condition, let yes, let no):
            .choice(condition.withoutPasswordWork, yes.withoutPasswordWork, no.withoutPasswordWork)
        case .call(let function, let arguments):
            .call(
                function,
                arguments.enumerated().map { place, argument in
                    function == .pbkdf2 && place == 3 ? .integer(1) : argument.withoutPasswordWork
                })
        }
    }

    /// Returns whether the value contains bytes of some names, or their numbers, without a hash in between.
    func shows(_ names: Set<String>) -> Bool {
        switch self {
        case .integer, .bytes: false
        case .name(let name): names.contains(name)
        case .not: false
        case .operation(let symbol, let left, let right):
            ![.isEqual, .isUnequal, .isLess, .isAtMost, .isGreater, .isAtLeast, .and, .or].contains(symbol)
                && (left.shows(names) || right.shows(names))
        case .choice(_, let yes, let no): yes.shows(names) || no.shows(names)
        case .call(let function, let arguments):
            switch function {
            case .hash, .hmac, .hkdf, .hkdfExtract, .hkdfExpand, .pbkdf2, .len, .zeros: false
            default: arguments.contains { $0.shows(names) }
            }
        }
    }

    /// Returns the number of calls of a function.
    func count(of function: Function) -> Int {
        switch self {
        case .integer, .bytes, .name: 0
        case .not(let operand): operand.count(of: function)
        case .operation(_, let left, let right): left.count(of: function) + right.count(of: function)
        case .choice(let condition, let yes, let no):
            condition.count(of: function) + yes.count(of: function) + no.count(of: function)
        case .call(let called, let arguments):
            arguments.reduce(called == function ? 1 : 0) { $0 + $1.count(of: function) }
        }
    }

    /// The number of nodes.
    var nodeCount: Int {
        switch self {
        case .integer, .bytes, .name: 1
        case .not(let operand): 1 + operand.nodeCount
        case .operation(_, let left, let right): 1 + left.nodeCount + right.nodeCount
        case .choice(let condition, let yes, let no): 1 + condition.nodeCount + yes.nodeCount + no.nodeCount
        case .call(_, let arguments): arguments.reduce(1) { $0 + $1.nodeCount }
        }
    }

    /// The expression with the byte order of encoded numbers and of sums reversed.
    package var reversingByteOrder: Expression {
        mapping { expression in
            guard case .call(let function, let arguments) = expression else { return nil }
            return .call(function.inOtherByteOrder, arguments.map(\.reversingByteOrder))
        }
    }

    /// Returns the expression with some names replaced by other expressions.
    package func replacing(_ values: [String: Expression]) -> Expression {
        mapping { if case .name(let name) = $0 { values[name] } else { nil } }
    }

    /// Returns the expression with some parts replaced.
    ///
    /// - Parameter change: Returns the replacement of a part; `nil` to look into it.
    /// - Returns: The changed expression.
    package func mapping(_ change: (Expression) -> Expression?) -> Expression {
        if let changed = change(self) { return changed }
        return switch self {
        case .integer, .bytes, .name: self
        case .not(let operand): .not(operand.mapping(change))
        case .operation(let symbol, let left, let right):
            .operation(symbol, left.mapping(change), right.mapping(change))
        case .choice(let condition, let yes, let no):
            .choice(condition.mapping(change), yes.mapping(change), no.mapping(change))
        case .call(let function, let arguments): .call(function, arguments.map { $0.mapping(change) })
        }
    }
}

/// A place in a description: line and column, counted from 1.
package struct DescriptionPlace: Hashable, Sendable, CustomStringConvertible {
    package var line: Int
    package var column: Int
    /// False for a text on several lines, of which only the start is known.
    var isExact = true

    package var description: String { "line \(line), column \(column)" }
}

/// A fault of a description, at its place.
package struct DescriptionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The place of the fault.
    package let place: DescriptionPlace
    /// The fault, and the expectation.
    package let message: String

    package init(_ place: DescriptionPlace, _ message: String) {
        (self.place, self.message) = (place, message)
    }

    package var description: String { "\(place): \(message)" }
}

/// An expression of a description, with its type and its place.
package struct Formula: Hashable, Sendable {
    /// The expression, with the description's own functions expanded.
    package let expression: Expression
    /// The type of its value.
    package let kind: Expression.Kind
    /// The place where it begins.
    package let place: DescriptionPlace

    package init(_ expression: Expression, _ kind: Expression.Kind, at place: DescriptionPlace) {
        (self.expression, self.kind, self.place) = (expression, kind, place)
    }
}
