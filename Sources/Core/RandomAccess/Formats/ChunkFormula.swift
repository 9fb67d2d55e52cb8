/// A byte string that depends on a chunk's number, its lengths and its stored parts: a nonce, or associated data.
///
/// It is compiled when an object is opened. Known values become a template, into which each chunk's numbers and parts
/// are inserted without an allocation. An expression that does not fit, such as a hash of the number, is evaluated for
/// each chunk, with allocations.
final class ChunkFormula: Sendable {
    private let inner: Form
    private let last: Form
    private let format: String
    /// The places of the parts that the formula uses.
    private let parts: PartRanges

    private enum Form: Hashable, Sendable {
        case template(ChunkTemplate)
        case formula(Formula, byteCount: Int)

        var byteCount: Int {
            switch self {
            case .template(let template): template.byteCount
            case .formula(_, let byteCount): byteCount
            }
        }

        var memory: ChunkTemplate.Memory? {
            if case .template(let template) = self { template.plainMemory } else { nil }
        }

        /// True for templates whose numbers grow or shrink with the chunk's number.
        var isTotal: Bool {
            switch self {
            case .template: true
            case .formula(let formula, _): formula.expression.isTotal
            }
        }
    }

    /// Compiles a formula that depends only on values that differ between chunks.
    ///
    /// - Parameters:
    ///   - formula: The formula.
    ///   - parts: The places of the stored parts of a chunk.
    ///   - trial: The numbers of a first chunk, which determine the length.
    ///   - format: The format's name, for errors.
    /// - Throws: `DecryptionError.invalidParameter` for a formula without a value.
    init(
        _ formula: Formula, parts: PartRanges, trial: ChunkNumbers, in format: String
    ) throws(DecryptionError) {
        (self.format, self.parts) = (format, parts)
        func form(isLast: Bool) throws(DecryptionError) -> Form {
            let formula = try formula.folded(["last": .integer(isLast ? 1 : 0)], in: format)
            let parts = parts[isLast: isLast]
            if let template = ChunkTemplate(formula.expression, parts: parts) { return .template(template) }
            var names = trial.names
            for (name, range) in parts { names[name] = .bytes(ByteString(repeating: 0, count: range.count)) }
            return .formula(formula, byteCount: try formula.bytes(names, in: format).count)
        }
        (inner, last) = (try form(isLast: false), try form(isLast: true))
    }

    /// True if the formula has a value for all chunks between two for which it has one.
    var isTotal: Bool { inner.isTotal && last.isTotal }

    /// True if the formula differs for the last chunk.
    var differsAtEnd: Bool { inner != last }

    /// The max number of bytes.
    var maxByteCount: Int { max(inner.byteCount, last.byteCount) }

    /// The bytes if they are the same for all chunks; otherwise `nil`.
    var constant: [UInt8]? {
        guard inner == last, case .template(let template) = inner else { return nil }
        return template.constant
    }

    /// Writes the bytes of a chunk.
    ///
    /// - Parameters:
    ///   - numbers: The chunk's numbers.
    ///   - isLast: True for the object's last chunk.
    ///   - stored: The stored chunk; unused if the formula has no parts.
    ///   - output: Space for ``maxByteCount`` bytes.
    /// - Returns: The number of bytes written.
    /// - Throws: `DecryptionError.invalidParameter` if the formula has no value for this chunk.
    func write(
        _ numbers: ChunkNumbers, isLast: Bool, stored: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Int {
        switch isLast ? last : inner {
        case .template(let template):
            guard template.write(numbers, stored: stored, into: output) else { throw failure(numbers) }
            return template.byteCount
        case .formula(let formula, _):
            return try evaluate(formula, numbers, isLast: isLast, stored: stored, into: output)
        }
    }

    private func failure(_ numbers: ChunkNumbers) -> DecryptionError {
        .invalidParameter(
            name: "chunk number", value: "\(numbers.index)",
            expected: "one that the numbers of \(format)'s chunks can hold")
    }

    private func evaluate(
        _ formula: Formula, _ numbers: ChunkNumbers, isLast: Bool, stored: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Int {
        var names = numbers.names
        for (name, range) in parts[isLast: isLast] {
            names[name] = .bytes(ByteString(stored[range.place(in: stored.count)]))
        }
        let bytes = try formula.bytes(names, in: format)
        guard bytes.count <= output.count else {
            throw formula.failure(
                EvaluationFailure("it grows with the chunk's number: expected one length"), in: format)
        }
        bytes.withUnsafeBytes { output.copyMemory(from: $0) }
        return bytes.count
    }
}

extension ChunkFormula {
    /// A formula without counted references, each of which costs a chunk some nanoseconds. The formula must outlive it.
    struct Uncounted {
        private let (inner, last): (ChunkTemplate.Memory?, ChunkTemplate.Memory?)
        private let formula: Unmanaged<ChunkFormula>

        init(_ formula: ChunkFormula) {
            (inner, last) = (formula.inner.memory, formula.last.memory)
            self.formula = .passUnretained(formula)
        }

        /// Writes the bytes of a chunk; see ``ChunkFormula/write(_:isLast:stored:into:)``.
        @inline(__always)
        func write(
            _ numbers: ChunkNumbers, isLast: Bool, stored: UnsafeRawBufferPointer,
            into output: UnsafeMutableRawBufferPointer
        ) throws(DecryptionError) -> Int {
            if let memory = isLast ? last : inner, memory.write(numbers, stored: stored, into: output) {
                return memory.byteCount
            }
            return try writeCounted(numbers, isLast: isLast, stored: stored, into: output)
        }

        /// Writes the bytes if a number must be computed, or does not fit.
        @inline(never)
        private func writeCounted(
            _ numbers: ChunkNumbers, isLast: Bool, stored: UnsafeRawBufferPointer,
            into output: UnsafeMutableRawBufferPointer
        ) throws(DecryptionError) -> Int {
            try formula.takeUnretainedValue().write(numbers, isLast: isLast, stored: stored, into: output)
        }
    }
}

extension ChunkFormula: Hashable {
    static func == (left: ChunkFormula, right: ChunkFormula) -> Bool {
        left === right || left.inner == right.inner && left.last == right.last
    }

    func hash(into hasher: inout Hasher) { hasher.combine(maxByteCount) }
}
