/// The key of an object's chunks: one for all of them, or one that differs between chunks.
enum ObjectKey: Sendable {
    case fixed(SecretKey)
    case varying(VaryingKey)

    /// Evaluates a format's key from the known names of an object, whose chunks have parts at the given places.
    init(_ format: Format, _ names: [String: Value], parts: PartRanges) throws(DecryptionError) {
        let formula = try format.key.folded(names, in: format.name)
        guard case .bytes(let bytes) = formula.expression else {
            self = .varying(VaryingKey(formula, parts: parts, format: format.name))
            return
        }
        self = .fixed(try bytes.withUnsafeBytes { bytes throws(DecryptionError) in try SecretKey(material: bytes) })
    }
}

/// A key that depends on a chunk's numbers and stored parts. It knows on which values it depends.
///
/// A class, so that an `ObjectKey` is one pointer. With a larger payload, unused bytes of the enum would be copied
/// along, and they may hold remains of the stack, such as a key.
final class VaryingKey: Sendable {
    private let formula: Formula
    private let format: String
    /// The largest integers in the expression that differ between chunks: equal ones give the same key.
    fileprivate let numbers: [ChunkNumber]
    fileprivate let usesLast: Bool
    /// The places of the parts that the expression uses.
    private let parts: PartRanges
    private let ranges: [Range<Int>]
    private let lastRanges: [Range<Int>]

    init(_ formula: Formula, parts: PartRanges, format: String) {
        (self.formula, self.format) = (formula, format)
        let names = formula.expression.names
        self.parts = PartRanges(
            inner: parts.inner.filter { names.contains($0.key) }, last: parts.last.filter { names.contains($0.key) })
        let used = self.parts.inner.keys.sorted()
        ranges = used.compactMap { parts.inner[$0] }
        lastRanges = used.compactMap { parts.last[$0] }
        usesLast = names.contains("last") || ranges.map(\.count) != lastRanges.map(\.count)
        numbers = formula.expression.largestIntegers.flatMap(Self.numbers)
    }

    /// Returns numbers that determine an integer.
    private static func numbers(_ expression: Expression) -> [ChunkNumber] {
        if let number = ChunkNumber(expression) { return [number] }
        // A length follows from the integers in what is measured.
        if case .call(.len, let arguments) = expression {
            return arguments.flatMap(\.largestIntegers).flatMap(numbers)
        }
        // An expression that a template cannot hold counts with all numbers that it uses.
        return expression.names.compactMap { ChunkNumber(.name($0)) }
    }

    /// Returns the places of the parts that the expression uses, in the order of their names.
    fileprivate func ranges(isLast: Bool) -> [Range<Int>] { isLast ? lastRanges : ranges }

    fileprivate func key(
        _ chunk: ChunkNumbers, isLast: Bool, stored: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> SecretKey {
        var names = chunk.names
        names["last"] = .integer(isLast ? 1 : 0)
        for (name, range) in parts[isLast: isLast] {
            names[name] = .bytes(ByteString(stored[range.place(in: stored.count)]))
        }
        let bytes = try formula.bytes(names, in: format)
        return try bytes.withUnsafeBytes { bytes throws(DecryptionError) in try SecretKey(material: bytes) }
    }
}

/// The cipher contexts of an object's chunks, one after the other. Belongs to one thread, and allocates only when the
/// key changes.
final class ChunkContexts {
    private let backend: any CipherBackend
    private let cipher: Cipher
    private let direction: CipherDirection
    private let key: ObjectKey
    /// The context, if the key is the same for all chunks.
    let fixed: (any CipherContext)?
    private var context: (any CipherContext)?
    /// The numbers, parts and end for which `context` was made.
    private var numbers: [Int128?] = []
    private var parts: [UInt8] = []
    private var isLast = false

    /// Makes the context at once if the key is the same for all chunks.
    init(
        _ key: ObjectKey, _ cipher: Cipher, _ direction: CipherDirection, backend: any CipherBackend
    ) throws(DecryptionError) {
        (self.key, self.cipher, self.direction, self.backend) = (key, cipher, direction, backend)
        fixed = if case .fixed(let key) = key { try backend.makeContext(cipher, direction, key: key) } else { nil }
    }

    /// Returns the context of a chunk.
    @inline(never)
    func context(
        _ chunk: ChunkNumbers, isLast: Bool, stored: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> any CipherContext {
        if let fixed { return fixed }
        guard case .varying(let key) = key else { preconditionFailure("a fixed key has a context") }
        if let context, isKnown(key, chunk, isLast: isLast, stored: stored) { return context }
        // If the next call fails, there is no context.
        context = nil
        let made = try backend.makeContext(
            cipher, direction, key: key.key(chunk, isLast: isLast, stored: stored))
        numbers = key.numbers.map { $0.value(chunk) }
        parts = key.ranges(isLast: isLast).flatMap { stored[$0.place(in: stored.count)] }
        (self.isLast, context) = (isLast, made)
        return made
    }

    private func isKnown(
        _ key: VaryingKey, _ chunk: ChunkNumbers, isLast: Bool, stored: UnsafeRawBufferPointer
    ) -> Bool {
        guard !key.usesLast || isLast == self.isLast else { return false }
        for (number, known) in zip(key.numbers, numbers) where known == nil || number.value(chunk) != known {
            return false
        }
        var place = 0
        for range in key.ranges(isLast: isLast) {
            for index in range.place(in: stored.count) {
                if parts[place] != stored[index] { return false }
                place += 1
            }
        }
        return true
    }
}
