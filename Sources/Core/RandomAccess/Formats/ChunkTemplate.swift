/// Constant bytes, and the values to insert for each chunk.
final class ChunkTemplate: @unchecked Sendable {
    private let memory: Memory
    /// The steps as compiled from the expression.
    private let planned: [Plan.Step]

    /// A number or a stored part that is XORed or added to some of the bytes.
    fileprivate struct Step: BitwiseCopyable {
        let offset: Int
        let byteCount: Int
        let kind: Kind
        /// The offset of a part: from the chunk's start, or, if negative, from its end.
        let part: Int
        let number: ChunkNumbers.Name
        /// The index of the planned step of a computed number; -1 for a plain number.
        let formula: Int

        enum Kind: UInt8, BitwiseCopyable {
            case part, bigEndian, littleEndian, bigEndianSum, littleEndianSum
        }
    }

    /// Compiles an expression; `nil` if a template cannot hold one of its parts.
    init?(_ expression: Expression, parts: [String: Range<Int>]) {
        guard var plan = Plan(expression, parts: parts) else { return nil }
        planned = plan.steps
        memory = Memory(
            bytes: .allocate(byteCount: plan.bytes.count, alignment: 16),
            steps: .allocate(capacity: plan.steps.count))
        memory.bytes.copyBytes(from: plan.bytes)
        plan.erase()
        let compiled = plan.steps.enumerated().map { index, step in
            switch step.operand {
            case .part(let offset):
                Step(
                    offset: step.offset, byteCount: step.byteCount, kind: .part, part: offset, number: .index,
                    formula: -1)
            case .number(let number, let isBigEndian, let isSum):
                Step(
                    offset: step.offset, byteCount: step.byteCount,
                    kind: isSum
                        ? isBigEndian ? .bigEndianSum : .littleEndianSum : isBigEndian ? .bigEndian : .littleEndian,
                    part: 0, number: number.start, formula: number.isPlain ? -1 : index)
            }
        }
        _ = memory.steps.initialize(from: compiled)
    }

    deinit {
        eraseBytes(memory.bytes)
        memory.bytes.deallocate()
        memory.steps.deallocate()
    }

    var byteCount: Int { memory.byteCount }

    /// The bytes if they are the same for all chunks; otherwise `nil`.
    var constant: [UInt8]? { memory.steps.isEmpty ? Array(memory.bytes) : nil }

    /// The memory, which lasts as long as the template; `nil` if a number must be computed.
    var plainMemory: Memory? { memory.steps.contains { $0.formula >= 0 } ? nil : memory }

    /// Writes the bytes of a chunk.
    ///
    /// - Returns: `true` if all numbers fit.
    @inline(never)
    func write(
        _ numbers: ChunkNumbers, stored: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        memory.write(numbers, stored: stored, into: output) { write(planned[$0], numbers, into: $1) }
    }

    /// The memory of a template. A copy of this value, unlike one of the template, counts no reference.
    struct Memory: BitwiseCopyable, @unchecked Sendable {
        /// The constant bytes, and zeros. Written in `init` of the template only, like the steps.
        fileprivate let bytes: UnsafeMutableRawBufferPointer
        fileprivate let steps: UnsafeMutableBufferPointer<Step>

        var byteCount: Int { bytes.count }

        /// Writes the bytes of a chunk.
        ///
        /// - Parameters:
        ///   - numbers: The chunk's numbers.
        ///   - stored: The stored chunk.
        ///   - output: Space for ``byteCount`` bytes.
        ///   - compute: Writes the number of a planned step; returns if it fits.
        /// - Returns: `true` if all numbers fit.
        @inline(__always)
        func write(
            _ numbers: ChunkNumbers, stored: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
            compute: (Int, UnsafeMutableRawPointer) -> Bool = { _, _ in false }
        ) -> Bool {
            precondition(output.count >= bytes.count, "\(output.count) bytes for \(bytes.count)")
            guard let start = output.baseAddress, let template = bytes.baseAddress else { return true }
            start.copyMemory(from: template, byteCount: bytes.count)
            for step in steps {
                let target = start + step.offset
                if step.kind == .part {
                    let offset = step.part < 0 ? stored.count + step.part : step.part
                    for index in 0..<step.byteCount {
                        target.storeBytes(
                            of: target.load(fromByteOffset: index, as: UInt8.self) ^ stored[offset + index],
                            toByteOffset: index, as: UInt8.self)
                    }
                    continue
                }
                if step.formula >= 0 {
                    guard compute(step.formula, target) else { return false }
                    continue
                }
                var value = numbers[step.number]
                switch step.kind {
                case .bigEndian, .littleEndian, .part:
                    let isBigEndian = step.kind == .bigEndian
                    var place = isBigEndian ? step.byteCount - 1 : 0
                    while value != 0, place >= 0, place < step.byteCount {
                        target.storeBytes(
                            of: target.load(fromByteOffset: place, as: UInt8.self) ^ UInt8(truncatingIfNeeded: value),
                            toByteOffset: place, as: UInt8.self)
                        value >>= 8
                        place += isBigEndian ? -1 : 1
                    }
                    guard value == 0 else { return false }
                case .bigEndianSum, .littleEndianSum:
                    UnsafeMutableRawBufferPointer(start: target, count: step.byteCount)
                        .add(Int128(value), isBigEndian: step.kind == .bigEndianSum)
                }
            }
            return true
        }
    }
}

extension ChunkTemplate: Hashable {
    static func == (left: ChunkTemplate, right: ChunkTemplate) -> Bool {
        left.planned == right.planned && left.memory.bytes.elementsEqual(right.memory.bytes)
    }
    func hash(into hasher: inout Hasher) { hasher.combine(byteCount) }
}

extension ChunkTemplate {
    /// Writes a computed number.
    ///
    /// - Returns: `true` if it has a value that fits.
    @inline(never)
    private func write(_ step: Plan.Step, _ numbers: ChunkNumbers, into target: UnsafeMutableRawPointer) -> Bool {
        guard case .number(let number, let isBigEndian, let isSum) = step.operand,
            let value = number.value(numbers)
        else { return false }
        let output = UnsafeMutableRawBufferPointer(start: target, count: step.byteCount)
        if isSum {
            output.add(value, isBigEndian: isBigEndian)
            return true
        }
        guard value >= 0 else { return false }
        var rest = value
        for index in output.indices {
            output[isBigEndian ? output.count - 1 - index : index] ^= UInt8(truncatingIfNeeded: rest)
            rest >>= 8
        }
        return rest == 0
    }
}

/// The bytes and steps of a template, while they are compiled from an expression.
private struct Plan: Hashable, Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var steps: [Step] = []

    struct Step: Hashable, Sendable {
        enum Operand: Hashable, Sendable {
            case number(ChunkNumber, isBigEndian: Bool, isSum: Bool)
            case part(offset: Int)
        }
        let offset: Int
        let byteCount: Int
        let operand: Operand
    }

    init?(_ expression: Expression, parts: [String: Range<Int>]) {
        guard append(expression, parts) else { return nil }
    }

    /// Erases the bytes, which may depend on a key.
    mutating func erase() { bytes.withUnsafeMutableBytes { eraseBytes($0) } }

    private mutating func append(_ expression: Expression, _ parts: [String: Range<Int>]) -> Bool {
        switch expression {
        case .bytes(let literal): literal.withUnsafeBytes { append($0) }
        case .name(let name):
            guard let range = parts[name] else { return false }
            append(.part(offset: range.lowerBound), byteCount: range.count)
        case .call(.slice, let arguments), .call(.truncate, let arguments):
            guard case .name(let name) = arguments[0], let range = parts[name],
                case .integer(let count)? = arguments.last, count >= 0, count <= range.count
            else { return false }
            var start: Int128 = 0
            if arguments.count == 3 {
                guard case .integer(let value) = arguments[1] else { return false }
                start = value
            }
            guard start >= 0, start <= Int128(range.count) - count else { return false }
            append(.part(offset: range.lowerBound + Int(start)), byteCount: Int(count))
        case .call(.be, let arguments), .call(.le, let arguments):
            guard case .integer(let count) = arguments[1], (0...64).contains(count) else { return false }
            return append(arguments[0], byteCount: Int(count), isBigEndian: expression.isCall(.be))
        case .call(let function, let arguments) where function.encoding != nil:
            guard let encoding = function.encoding else { return false }
            return append(arguments[0], byteCount: encoding.byteCount, isBigEndian: encoding.isBigEndian)
        case .call(.addBE, let arguments), .call(.addLE, let arguments):
            let start = bytes.count
            guard append(arguments[0], parts), let number = ChunkNumber(arguments[1]) else { return false }
            let operand = Step.Operand.number(number, isBigEndian: expression.isCall(.addBE), isSum: true)
            steps.append(Step(offset: start, byteCount: bytes.count - start, operand: operand))
        case .operation(.concatenation, let left, let right):
            return append(left, parts) && append(right, parts)
        case .operation(.xor, let left, let right):
            guard var first = Plan(left, parts: parts), var second = Plan(right, parts: parts),
                first.bytes.count == second.bytes.count
            else { return false }
            defer {
                first.erase()
                second.erase()
            }
            // The bytes of an addend must be complete before the XOR.
            let isKnown = second.bytes.allSatisfy { $0 == 0 }
            guard !second.hasSum, !first.hasSum || isKnown else { return false }
            let start = bytes.count
            append(count: first.bytes.count)
            for index in first.bytes.indices { bytes[start + index] = first.bytes[index] ^ second.bytes[index] }
            for step in first.steps + second.steps {
                steps.append(Step(offset: step.offset + start, byteCount: step.byteCount, operand: step.operand))
            }
        default: return false
        }
        return true
    }

    private var hasSum: Bool {
        steps.contains { if case .number(_, _, isSum: true) = $0.operand { true } else { false } }
    }

    private mutating func append(_ operand: Step.Operand, byteCount: Int) {
        steps.append(Step(offset: bytes.count, byteCount: byteCount, operand: operand))
        append(count: byteCount)
    }

    /// Appends zeros. The bytes move to new memory, and the old memory is erased.
    private mutating func append(count: Int) {
        let longer = bytes + repeatElement(0, count: count)
        erase()
        bytes = longer
    }

    private mutating func append(_ literal: UnsafeRawBufferPointer) {
        let start = bytes.count
        append(count: literal.count)
        for index in literal.indices { bytes[start + index] = literal[index] }
    }

    private mutating func append(_ expression: Expression, byteCount: Int, isBigEndian: Bool) -> Bool {
        guard let number = ChunkNumber(expression) else { return false }
        append(.number(number, isBigEndian: isBigEndian, isSum: false), byteCount: byteCount)
        return true
    }
}

extension Expression {
    fileprivate func isCall(_ function: Function) -> Bool {
        if case .call(function, _) = self { true } else { false }
    }
}
