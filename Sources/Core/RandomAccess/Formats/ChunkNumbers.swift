/// The numbers that a chunk's formulas may use.
struct ChunkNumbers {
    /// The chunk's index, from 0.
    var index: UInt64
    /// The bytes of its plaintext.
    var plaintextByteCount: UInt64
    /// The bytes that are stored of it.
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

/// A number that follows from one of a chunk's numbers, by steps with known numbers.
struct ChunkNumber: Hashable, Sendable {
    let start: ChunkNumbers.Name
    private let steps: [Step]

    /// Says whether it is one of the chunk's numbers itself.
    var isPlain: Bool { steps.isEmpty }

    private struct Step: Hashable, Sendable {
        let symbol: Expression.Operator
        let operand: Int128
    }

    /// Compiles an expression; `nil` if it is of another kind.
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

    /// The value for a chunk; `nil` if a step overflows.
    func value(_ numbers: ChunkNumbers) -> Int128? {
        var value = Int128(numbers[start])
        for step in steps {
            guard let next = try? step.symbol.apply(value, step.operand) else { return nil }
            value = next
        }
        return value
    }
}
