/// The numbers that the formulas of a chunk may use.
struct ChunkNumbers {
    /// The chunk's index, from 0.
    var index: UInt64
    /// The length of its plaintext in bytes.
    var plaintextByteCount: UInt64
    /// The length of its stored bytes.
    var storedByteCount: UInt64
    /// The offset of its plaintext.
    var offset: UInt64

    /// Their names in descriptions.
    enum Name: String, CaseIterable, BitwiseCopyable {
        case index = "i"
        case plaintextByteCount = "n"
        case storedByteCount = "stored"
        case offset = "at"
    }

    @inline(__always)
    subscript(name: Name) -> UInt64 {
        switch name {
        case .index: index
        case .plaintextByteCount: plaintextByteCount
        case .storedByteCount: storedByteCount
        case .offset: offset
        }
    }

    /// The names of lengths.
    static let lengthNames: Set = [Name.plaintextByteCount.rawValue, Name.storedByteCount.rawValue]

    var names: [String: Value] {
        Dictionary(uniqueKeysWithValues: Name.allCases.map { ($0.rawValue, .integer(Int128(self[$0]))) })
    }
}

/// A number that is computed from one of a chunk's numbers, in steps with constant operands.
struct ChunkNumber: Hashable, Sendable {
    let start: ChunkNumbers.Name
    private let steps: [Step]

    /// True if it is one of the chunk's numbers without any step.
    var isPlain: Bool { steps.isEmpty }

    private struct Step: Hashable, Sendable {
        let symbol: Expression.Operator
        let operand: Int128
    }

    /// Compiles an expression; `nil` if it has a different form.
    init?(_ expression: Expression) {
        switch expression {
        case .name(let name):
            guard let start = ChunkNumbers.Name(rawValue: name) else { return nil }
            (self.start, steps) = (start, [])
        case .operation(let symbol, let inner, .integer(let operand)):
            guard let number = ChunkNumber(inner) else { return nil }
            (start, steps) = (number.start, number.steps + [Step(symbol: symbol, operand: operand)])
        case .operation(let symbol, .integer(let operand), let inner)
        where [.plus, .times, .bitOr, .bitAnd, .xor].contains(symbol):
            guard let number = ChunkNumber(inner) else { return nil }
            (start, steps) = (number.start, number.steps + [Step(symbol: symbol, operand: operand)])
        case .operation(.minus, .integer(let operand), let inner):
            guard let number = ChunkNumber(inner) else { return nil }
            let negation = [Step(symbol: .times, operand: -1), Step(symbol: .plus, operand: operand)]
            (start, steps) = (number.start, number.steps + negation)
        default: return nil
        }
    }

    /// Returns the value for a chunk; `nil` if a step overflows.
    func value(_ numbers: ChunkNumbers) -> Int128? {
        var value = Int128(numbers[start])
        for step in steps {
            guard let next = try? step.symbol.apply(value, step.operand) else { return nil }
            value = next
        }
        return value
    }
}
