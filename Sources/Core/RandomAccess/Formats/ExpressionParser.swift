/// The names that an expression may use, with their types, and the functions that a description defines.
package struct ExpressionScope {
    /// A function of a description, expanded at each call.
    package struct Definition: Sendable {
        let parameters: [String]
        let text: String
        let place: DescriptionPlace
    }

    package var kinds: [String: Expression.Kind] = [:]
    package var functions: [String: Definition] = [:]
    /// The arguments of the function being expanded.
    fileprivate var arguments: [String: (expression: Expression, kind: Expression.Kind)] = [:]
    /// The work that a description's expressions have caused so far.
    fileprivate let work = Work()

    package init() {}

    /// Counts operands, and nodes of expanded functions. Without it, functions that call one another could let the work
    /// grow exponentially.
    fileprivate final class Work {
        private var count = 0

        func add(_ more: Int, at place: DescriptionPlace) throws(DescriptionError) {
            count += more
            guard count <= 1 << 15 else {
                throw DescriptionError(place, "too much to write out: expected fewer or shorter functions")
            }
        }
    }
}

/// Parses the text of an expression.
///
/// It is bounded: at most ``maxByteCount`` bytes, ``maxDepth`` nested expressions, and ``maxNodeCount`` nodes after
/// functions are expanded.
package struct ExpressionParser {
    static let maxByteCount = 4096
    static let maxDepth = 48
    static let maxNodeCount = 2000

    private let scope: ExpressionScope
    private let tokens: [Token]
    private var position = 0
    private var depth: Int

    private struct Token {
        enum Content: Hashable {
            case integer(Int128)
            case bytes([UInt8])
            case name(String)
            case symbol(String)
            case end
        }
        let content: Content
        let place: DescriptionPlace
    }

    /// Parses an expression.
    ///
    /// - Parameters:
    ///   - text: The expression's text, on one line.
    ///   - place: The place of its first character.
    ///   - kind: The required type of its value, if any.
    ///   - scope: The names that it may use.
    /// - Returns: The expression with its type.
    /// - Throws: `DescriptionError` with the place of the fault.
    package static func formula(
        _ text: String, at place: DescriptionPlace, as kind: Expression.Kind? = nil, in scope: ExpressionScope
    ) throws(DescriptionError) -> Formula {
        let (expression, found) = try expression(text, at: place, in: scope, depth: 0)
        if let kind, kind != found {
            throw DescriptionError(place, "\"\(text)\" is \(found.rawValue): expected \(kind.rawValue)")
        }
        return Formula(expression, found, at: place)
    }

    private static func expression(
        _ text: String, at place: DescriptionPlace, in scope: ExpressionScope, depth: Int
    ) throws(DescriptionError) -> (Expression, Expression.Kind) {
        var parser = try ExpressionParser(text, at: place, in: scope, depth: depth)
        let result = try parser.choice()
        guard parser.next.content == .end else { throw parser.unexpected("the end of the expression, or an operator") }
        guard result.0.nodeCount <= maxNodeCount else {
            throw DescriptionError(
                place, "an expression of \(result.0.nodeCount) parts: expected at most \(maxNodeCount)")
        }
        return result
    }

    private init(
        _ text: String, at place: DescriptionPlace, in scope: ExpressionScope, depth: Int
    ) throws(DescriptionError) {
        guard text.utf8.count <= Self.maxByteCount else {
            throw DescriptionError(
                place, "an expression of \(text.utf8.count) bytes: expected at most \(Self.maxByteCount)")
        }
        (self.scope, self.depth) = (scope, depth)
        self.tokens = try Self.tokens(Array(text.utf8), at: place)
    }
}

// MARK: Tokens

extension ExpressionParser {
    private static let symbols = [
        "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "++", "<", ">", "|", "^", "&", "+", "-", "*", "/", "%", "?",
        ":",
        "(", ")", ",", "!",
    ].map { Array($0.utf8) }

    private static func tokens(_ text: [UInt8], at start: DescriptionPlace) throws(DescriptionError) -> [Token] {
        var tokens: [Token] = []
        var index = 0
        func place(_ offset: Int) -> DescriptionPlace {
            start.isExact ? DescriptionPlace(line: start.line, column: start.column + offset) : start
        }
        func isNamePart(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: ".") }
        func end(from start: Int, while condition: (UInt8) -> Bool) -> Int {
            text[start...].firstIndex { !condition($0) } ?? text.count
        }
        while index < text.count {
            let (byte, first) = (text[index], index)
            if byte == UInt8(ascii: " ") || byte == 9 || byte == 10 {
                index += 1
                continue
            }
            let isHexadecimal =
                byte == UInt8(ascii: "x") && index + 1 < text.count && text[index + 1] == UInt8(ascii: "'")
            if byte == UInt8(ascii: "'") || isHexadecimal {
                let from = index + (isHexadecimal ? 2 : 1)
                guard let closing = text[from...].firstIndex(of: UInt8(ascii: "'")) else {
                    throw DescriptionError(place(first), "a text without an end: expected a second '")
                }
                let content = Array(text[from..<closing])
                guard let bytes = isHexadecimal ? hexadecimal(content) : content else {
                    throw DescriptionError(
                        place(first), "invalid hexadecimal digits: expected an even number of them, as in x'0a1b'"
                    )
                }
                tokens.append(Token(content: .bytes(bytes), place: place(first)))
                index = closing + 1
            } else if isDigit(byte) {
                index = end(from: index, while: isNamePart)
                let digits = String(decoding: text[first..<index], as: UTF8.self)
                let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
                let value = isHexadecimal ? Int128(digits.dropFirst(2), radix: 16) : Int128(digits)
                guard let value, value <= 1 << 64 else {
                    throw DescriptionError(place(first), "the number \(digits): expected 0 to 2^64, or 0x and digits")
                }
                tokens.append(Token(content: .integer(value), place: place(first)))
            } else if isLetter(byte) {
                index = end(from: index, while: isNamePart)
                let name = String(decoding: text[first..<index], as: UTF8.self)
                tokens.append(Token(content: .name(name), place: place(first)))
            } else if let symbol = symbols.first(where: { text[index...].starts(with: $0) }) {
                index += symbol.count
                tokens.append(Token(content: .symbol(String(decoding: symbol, as: UTF8.self)), place: place(first)))
            } else {
                let rest = String(decoding: text[index...], as: UTF8.self)
                throw DescriptionError(
                    place(first), "\"\(rest.prefix(1))\": expected a name, a number, 'text', x'hex' or an operator")
            }
        }
        tokens.append(Token(content: .end, place: place(text.count)))
        return tokens
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func hexadecimal(_ digits: [UInt8]) -> [UInt8]? {
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let (high, low) = (Character(UnicodeScalar(digits[index])), Character(UnicodeScalar(digits[index + 1])))
            guard let high = high.hexDigitValue, let low = low.hexDigitValue else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

// MARK: Grammar

extension ExpressionParser {
    private typealias Typed = (expression: Expression, kind: Expression.Kind)

    private var next: Token { tokens[position] }

    private mutating func take(_ symbol: String) -> Bool {
        guard next.content == .symbol(symbol) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ symbol: String) throws(DescriptionError) {
        guard take(symbol) else { throw unexpected("\"\(symbol)\"") }
    }

    private func unexpected(_ expected: String) -> DescriptionError {
        let found =
            switch next.content {
            case .integer(let value): "\(value)"
            case .bytes: "a text"
            case .name(let name): "\"\(name)\""
            case .symbol(let symbol): "\"\(symbol)\""
            case .end: "the end"
            }
        return DescriptionError(next.place, "\(found): expected \(expected)")
    }

    private mutating func choice() throws(DescriptionError) -> Typed {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maxDepth else {
            throw DescriptionError(next.place, "more than \(Self.maxDepth) expressions in one another: expected fewer")
        }
        let place = next.place
        let condition = try operation(above: 0)
        guard take("?") else { return condition }
        try check(condition, .integer, at: place, "a condition")
        let yes = try choice()
        try expect(":")
        let elsePlace = next.place
        let no = try choice()
        guard yes.kind == no.kind else {
            throw DescriptionError(
                elsePlace, "\(no.kind.rawValue) behind \":\": expected \(yes.kind.rawValue), as before it")
        }
        return (.choice(condition.expression, yes.expression, no.expression), yes.kind)
    }

    private mutating func operation(above precedence: Int) throws(DescriptionError) -> Typed {
        let place = next.place
        var left = try operand()
        while case .symbol(let text) = next.content, let symbol = Expression.Operator(rawValue: text),
            symbol.precedence >= precedence
        {
            position += 1
            let rightPlace = next.place
            let right = try operation(above: symbol.precedence + 1)
            let kind: Expression.Kind
            switch symbol {
            case .concatenation: kind = .bytes
            case .isEqual, .isUnequal, .xor: kind = left.kind
            default: kind = .integer
            }
            try check(left, kind, at: place, "what stands before \"\(text)\"")
            try check(right, kind, at: rightPlace, "what stands behind \"\(text)\"")
            let isComparison = symbol == .isEqual || symbol == .isUnequal
            left = (.operation(symbol, left.expression, right.expression), isComparison ? .integer : kind)
        }
        return left
    }

    private mutating func operand() throws(DescriptionError) -> Typed {
        let token = next
        try scope.work.add(1, at: token.place)
        position += 1
        switch token.content {
        case .integer(let value): return (.integer(value), .integer)
        case .bytes(let bytes): return (.bytes(ByteString(bytes)), .bytes)
        case .symbol("("):
            let inner = try choice()
            try expect(")")
            return inner
        case .symbol("!"):
            depth += 1
            defer { depth -= 1 }
            guard depth <= Self.maxDepth else { throw DescriptionError(token.place, "too many \"!\": expected fewer") }
            let operand = try operand()
            try check(operand, .integer, at: token.place, "what stands behind \"!\"")
            return (.not(operand.expression), .integer)
        case .name(let name):
            if take("(") { return try call(name, at: token.place) }
            if let argument = scope.arguments[name] {
                try scope.work.add(argument.expression.nodeCount, at: token.place)
                return argument
            }
            guard let kind = scope.kinds[name] else {
                throw DescriptionError(
                    token.place, "unknown name \"\(name)\"\(Nearest.hint(name, in: scope.kinds.keys))")
            }
            return (.name(name), kind)
        default:
            position -= 1
            throw unexpected("a name, a number, 'text', x'hex' or \"(\"")
        }
    }

    private mutating func call(_ name: String, at place: DescriptionPlace) throws(DescriptionError) -> Typed {
        var arguments: [(Typed, DescriptionPlace)] = []
        if !take(")") {
            repeat {
                let place = next.place
                arguments.append((try choice(), place))
            } while take(",")
            try expect(")")
        }
        func count(_ expected: Int) throws(DescriptionError) {
            guard arguments.count == expected else {
                throw DescriptionError(place, "\(name) with \(arguments.count) arguments: expected \(expected)")
            }
        }
        if let definition = scope.functions[name] {
            try count(definition.parameters.count)
            return try expand(definition, arguments.map(\.0), at: place)
        }
        guard let function = Expression.Function(rawValue: name) else {
            let known = Expression.Function.allCases.map(\.rawValue) + scope.functions.keys
            throw DescriptionError(place, "unknown function \"\(name)\"\(Nearest.hint(name, in: known))")
        }
        let signature = function.signature
        try count(signature.arguments.count)
        for (index, ((argument, place), kind)) in zip(arguments, signature.arguments).enumerated() {
            try check(argument, kind, at: place, "argument \(index + 1) of \(name)")
        }
        return (.call(function, arguments.map(\.0.expression)), signature.result)
    }

    /// Expands a function of the description.
    private func expand(
        _ definition: ExpressionScope.Definition, _ arguments: [Typed], at place: DescriptionPlace
    ) throws(DescriptionError) -> Typed {
        // Recursive functions fail here, too.
        guard depth + 8 <= Self.maxDepth else {
            throw DescriptionError(place, "functions that call one another too deeply: expected no recursion")
        }
        // The body sees the names of the description and its own parameters, but not those of a function around it.
        var inner = scope
        inner.arguments = Dictionary(uniqueKeysWithValues: zip(definition.parameters, arguments))
        let (result, kind) = try Self.expression(definition.text, at: definition.place, in: inner, depth: depth + 8)
        let nodeCount = result.nodeCount
        try scope.work.add(min(nodeCount, Self.maxNodeCount), at: place)
        guard nodeCount <= Self.maxNodeCount else {
            throw DescriptionError(
                place, "a function of more than \(Self.maxNodeCount) parts, written out: expected fewer")
        }
        return (result, kind)
    }

    private func check(
        _ value: Typed, _ kind: Expression.Kind, at place: DescriptionPlace, _ what: @autoclosure () -> String
    ) throws(DescriptionError) {
        guard value.kind == kind else {
            throw DescriptionError(place, "\(what()) is \(value.kind.rawValue): expected \(kind.rawValue)")
        }
    }
}
