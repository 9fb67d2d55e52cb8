/// A stored code of a chunk's data and of further bytes: HMAC, possibly truncated, under a key of the object.
///
/// A reader compares it before it decrypts anything (encrypt-then-MAC).
final class ChunkCode: Sendable {
    let function: HashFunction
    let key: ByteString
    /// The bytes of the message before and behind the chunk's data.
    let before: ChunkFormula
    let behind: ChunkFormula
    /// The stored bytes of the digest.
    let stored: Range<Int>

    /// Compiles a formula that depends only on values that differ between chunks.
    ///
    /// - Throws: `DecryptionError.unsupported` for an unknown hash function, or a key that differs between chunks;
    ///   `.invalidParameter` for an expression without a value.
    init(
        _ formula: Formula, parts: PartRanges, trial: ChunkNumbers, in format: String
    ) throws(DecryptionError) {
        guard let code = CodeExpression(formula.expression) else {
            throw .unsupported("\(CodeExpression.expectation), in \(format)")
        }
        guard let name = code.function.literal?.bytes?.text, let function = HashFunction(rawValue: name) else {
            let known = HashFunction.allCases.map(\.rawValue).joined(separator: ", ")
            throw .unsupported("a hash function of hmac over data in \(format): expected one of \(known)")
        }
        guard case .bytes(let bytes) = code.key else {
            throw .unsupported("hmac over data with a key for each chunk, in \(format)")
        }
        (self.function, key) = (function, bytes)
        func compiled(_ expression: Expression) throws(DecryptionError) -> ChunkFormula {
            try ChunkFormula(Formula(expression, .bytes, at: formula.place), parts: parts, trial: trial, in: format)
        }
        (before, behind) = (try compiled(code.before), try compiled(code.behind))
        guard let start = code.start.literal?.integer,
            let count = code.count.map({ $0.literal?.integer })
                ?? Int128(function.digestByteCount),
            start >= 0, count >= 0, start <= Int128(function.digestByteCount),
            count <= Int128(function.digestByteCount) - start
        else {
            throw formula.failure(
                EvaluationFailure("expected at most the \(function.digestByteCount) bytes of a digest"), in: format)
        }
        stored = Int(start)..<Int(start + count)
    }

    /// Returns a context for the codes.
    func makeContext(_ backend: any CipherBackend) throws(DecryptionError) -> any MACContext {
        try backend.makeMAC(
            function, key: key.withUnsafeBytes { bytes throws(DecryptionError) in try SecretKey(material: bytes) })
    }

    /// The max number of bytes of the message without the data, plus those of the digest.
    var bufferByteCount: Int { before.maxByteCount + behind.maxByteCount + function.digestByteCount }

    /// Computes the code of a chunk.
    ///
    /// - Parameters:
    ///   - numbers: The chunk's numbers.
    ///   - isLast: True for the object's last chunk.
    ///   - chunk: The chunk as it is stored.
    ///   - data: Its data in `chunk`.
    ///   - context: A context of ``function`` and ``key``.
    ///   - buffer: Space for ``bufferByteCount`` bytes.
    /// - Returns: The stored part of the code, in `buffer`.
    /// - Throws: `DecryptionError.invalidParameter` for a chunk whose number does not fit, `.backend`.
    func make(
        _ numbers: ChunkNumbers, isLast: Bool, _ chunk: UnsafeRawBufferPointer, data: Range<Int>,
        with context: any MACContext, buffer: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> UnsafeRawBufferPointer {
        let beforeCount = try before.write(numbers, isLast: isLast, stored: chunk, into: buffer)
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[beforeCount...])
        let behindCount = try behind.write(numbers, isLast: isLast, stored: chunk, into: rest)
        let digest = UnsafeMutableRawBufferPointer(
            rebasing: rest[behindCount..<behindCount + function.digestByteCount])
        try context.makeCode(
            of: UnsafeRawBufferPointer(rebasing: buffer[..<beforeCount]), UnsafeRawBufferPointer(rebasing: chunk[data]),
            UnsafeRawBufferPointer(rebasing: rest[..<behindCount]), into: digest)
        return UnsafeRawBufferPointer(rebasing: digest[stored])
    }
}

extension ChunkCode: Hashable {
    static func == (left: ChunkCode, right: ChunkCode) -> Bool {
        left === right
            || left.function == right.function && left.key == right.key && left.before == right.before
                && left.behind == right.behind && left.stored == right.stored
    }

    func hash(into hasher: inout Hasher) { hasher.combine(function) }
}

/// The parts of an expression that computes a code of a chunk's data.
package struct CodeExpression {
    package let function: Expression
    let key: Expression
    /// The message before and behind the data.
    let before: Expression
    let behind: Expression
    /// The start and the length of the stored part of the digest; `nil` for all of it.
    let start: Expression
    let count: Expression?

    /// The name of a chunk's stored data.
    package static let dataName = "data"

    static let expectation =
        "\"data\" anywhere else than in hmac(h, key, … ++ data ++ …), or the start or a slice of that"

    /// Parses an expression; `nil` if it has a different form.
    package init?(_ expression: Expression) {
        var (code, start, count) = (expression, Expression.integer(0), Expression?.none)
        switch expression {
        case .call(.truncate, let arguments): (code, count) = (arguments[0], arguments[1])
        case .call(.slice, let arguments): (code, start, count) = (arguments[0], arguments[1], arguments[2])
        default: break
        }
        guard case .call(.hmac, let arguments) = code else { return nil }
        let pieces = arguments[2].operands(of: .concatenation)
        guard let place = pieces.firstIndex(of: .name(Self.dataName)) else { return nil }
        (function, key) = (arguments[0], arguments[1])
        (before, behind) = (Self.joined(pieces[..<place]), Self.joined(pieces[(place + 1)...]))
        (self.start, self.count) = (start, count)
        let others = [function, key, before, behind, start] + (count.map { [$0] } ?? [])
        guard !others.contains(where: \.usesData) else { return nil }
    }

    private static func joined(_ pieces: ArraySlice<Expression>) -> Expression {
        guard let first = pieces.first else { return .bytes(ByteString([])) }
        return pieces.dropFirst().reduce(first) { .operation(.concatenation, $0, $1) }
    }
}

extension Expression {
    /// True if the expression uses a chunk's data.
    package var usesData: Bool { names.contains(CodeExpression.dataName) }

    /// Returns the operands of an operator, from left to right.
    fileprivate func operands(of symbol: Operator) -> [Expression] {
        guard case .operation(symbol, let left, let right) = self else { return [self] }
        return left.operands(of: symbol) + right.operands(of: symbol)
    }
}
