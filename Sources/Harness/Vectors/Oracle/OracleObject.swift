import RandomAccess
import Synchronization

/// An object as its format's description defines it, read by the oracle: the header, the lengths, and the inputs of
/// each chunk's decryption.
///
/// It shares the description with the product, but no code that interprets it.
struct OracleObject: Sendable {
    /// The header that a writer makes with this key, with the random fields of this object.
    let header: [UInt8]
    let plaintextByteCount: UInt64
    let format: Format
    let sizes: OracleSizes
    let chunkCount: UInt64
    let size: UInt64
    /// The places of the chunks' parts, if they are not contiguous. All other lengths and offsets are of the object
    /// with contiguous chunks.
    let table: OracleTable?
    /// All known values, except those that differ between chunks.
    let names: [String: Value]
    let ciphers = CipherMemo()

    /// Reads an object's header, and computes the positions of its chunks. Padding counts as plaintext here.
    ///
    /// - Parameters:
    ///   - strategy: The format, and values for its parameters.
    ///   - key: The key.
    ///   - source: The ciphertext.
    ///   - isChecked: True to reject an invalid header, key or parameter.
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has, `.io`, `.invalidParameter`;
    ///   if checked, the description's error for what is wrong.
    init(_ strategy: Strategy, key: SecretKey, source: any ByteSource, isChecked: Bool) throws(DecryptionError) {
        format = strategy.format
        var known = OracleEvaluator(names: strategy.values, format: format.name)
        known.names["key"] = .bytes(ByteString(key.withUnsafeBytes { Array($0) }))
        if isChecked { try Self.check(key, format, known) }
        // An impossible length is rejected before anything is read, if the inputs determine it.
        let early = try OracleSizes(format, known)
        if source.byteCount == 0, format.isEmptyObjectEmpty {
            (header, plaintextByteCount, chunkCount, size, table) = ([], 0, 0, 0, nil)
            (sizes, names) = (early ?? OracleSizes(ofNothing: format), known.names)
            return
        }
        table = try OracleTable(format, known, early, byteCount: source.byteCount)
        let source = table?.whole(of: source) ?? source
        size = source.byteCount
        if let early { _ = try early.chunks(of: size) }
        known.names["size"] = .integer(Int128(size))
        do throws(DecryptionError) {
            (header, sizes) = try Self.read(&known, format, source, isChecked: isChecked)
        } catch .invalidParameter(let name, let value, let expected) where !format.header.isEmpty {
            throw .invalidHeader(expected: "values that fit: \(name) \(value), \(expected)")
        }
        chunkCount = try sizes.chunks(of: size)
        plaintextByteCount = sizes.plaintextByteCount(of: size, chunkCount: chunkCount)
        known.names["count"] = .integer(Int128(chunkCount))
        names = known.names
    }

    /// Returns an object with contiguous chunks.
    func whole(_ source: any ByteSource) -> any ByteSource { table?.whole(of: source) ?? source }

    /// Reads the header, and adds the names that follow from it.
    ///
    /// - Returns: The header as a writer makes it, and the lengths.
    private static func read(
        _ known: inout OracleEvaluator, _ format: Format, _ source: any ByteSource, isChecked: Bool
    ) throws(DecryptionError) -> (header: [UInt8], sizes: OracleSizes) {
        let size = source.byteCount
        var end: UInt64 = 0
        var waiting: [Format.Field] = []
        for field in format.header {
            if field.isOpen || waiting.contains(where: { field.byteCount.expression.names.contains($0.name) }) {
                // A length must not be taken from another format's header.
                if isChecked { try check(waiting.filter { $0.content.allSatisfy(known.knows) }, known) }
                waiting = []
            }
            waiting.append(field)
            let count: Int128
            if let repetition = field.repetition {
                count = try repeated(repetition, from: end, source, known)
            } else if let prefix = field.nextLinePrefix {
                count = try lines(from: end, before: prefix.array, source)
            } else {
                count = try known.number(field.byteCount)
            }
            guard (0...1 << 20).contains(count) else {
                throw .headerRejected(expected: "at most 1 MiB of \"\(field.name)\"")
            }
            guard end + UInt64(count) <= size else {
                throw .truncatedCiphertext(byteCount: size, expected: "the header's \"\(field.name)\"")
            }
            known.names[field.name] = .bytes(ByteString(try Oracle.bytes(Int(count), at: end, of: source)))
            known.names[field.name + ".at"] = .integer(Int128(end))
            end += UInt64(count)
        }
        known.names["headerEnd"] = .integer(Int128(end))
        // Fields that do not depend on the key are checked before anything is derived.
        let isLate = Dictionary(
            uniqueKeysWithValues: format.header.map { ($0.name, !$0.content.allSatisfy(known.knows)) })
        if isChecked { try check(format.header.filter { isLate[$0.name] == false }, known) }
        var closed = format.header.filter { $0.sealed != nil }
        try known.open(&closed, isChecked: isChecked)
        for derived in format.derived {
            known.names[derived.name] = try known.value(derived.formula)
            try known.open(&closed, isChecked: isChecked)
        }
        if isChecked {
            try check(format.rules.allHeaderFields.filter { isLate[$0.name] ?? true }, known)
            for check in format.checks where check.error != .invalidKey && check.error != .invalidRequest {
                guard try holds(check, known) else { throw error(check.error, "a check of \(format.name)") }
            }
        }
        var header: [UInt8] = []
        for field in format.header {
            if let content = field.content.first {
                // If a field may have several contents, it keeps the one that it has.
                let own = known.names[field.name]?.bytes?.array ?? []
                header += try accepts(field, own, known) ? own : known.bytes(content)
            } else if let sealed = field.sealed {
                header += try known.sealedBytes(sealed)
            } else {
                header += known.names[field.name]?.bytes?.array ?? []
            }
        }
        guard let sizes = try sizes(format, known, source) else {
            throw .unsupported("\(format.name), whose chunk lengths are not told")
        }
        return (header, sizes)
    }

    /// Returns the length of repeated fields.
    static func repeated(
        _ repetition: Format.Field.Repetition, from start: UInt64, _ source: any ByteSource, _ known: OracleEvaluator
    ) throws(DecryptionError) -> Int128 {
        let (limit, size) = (Int128(1 << 20), Int128(source.byteCount))
        func refusal() -> DecryptionError { .headerRejected(expected: "repeated fields of at most 1 MiB") }
        let times = try known.number(repetition.times)
        guard (0...limit).contains(times) else { throw refusal() }
        var (known, end) = (known, Int128(start))
        for _ in 0..<times {
            let begin = end
            for field in repetition.fields {
                let count = try known.number(field.byteCount)
                guard count >= 0, end + count <= limit else { throw refusal() }
                guard end + count <= size else {
                    throw .truncatedCiphertext(byteCount: source.byteCount, expected: "\"\(field.name)\"")
                }
                known.names[field.name] = .bytes(ByteString(try Oracle.bytes(Int(count), at: UInt64(end), of: source)))
                end += count
            }
            guard end > begin else { throw refusal() }
        }
        return end - Int128(start)
    }

    /// Returns the lengths of an object whose header is known. If only the last chunk marks the end, it is searched
    /// from the object's end on.
    private static func sizes(
        _ format: Format, _ known: OracleEvaluator, _ source: any ByteSource
    ) throws(DecryptionError) -> OracleSizes? {
        guard let lastChunk = format.lastChunk else { return try OracleSizes(format, known) }
        guard let sizes = try OracleSizes(format, known, trailer: 0) else { return nil }
        guard !sizes.isPadded else { throw .unsupported("the end of padded chunks") }
        func refusal(_ expected: String) -> DecryptionError {
            .truncatedCiphertext(byteCount: source.byteCount, expected: expected)
        }
        let own = sizes.last.front + sizes.last.behind
        guard source.byteCount >= sizes.start + own else { throw refusal("a last chunk") }
        var index = min(sizes.chunk(atStored: source.byteCount - own), sizes.maxIndex)
        while true {
            let place = sizes.storedStart(ofChunk: index)
            let (rest, room) = (source.byteCount - place - own, index == 0 ? sizes.first : sizes.full)
            guard Int128(rest) <= room + 1 << 20 else { throw refusal("a last chunk near the end") }
            var chunk = known
            chunk.names["last"] = .integer(1)
            chunk.names["i"] = .integer(Int128(index))
            chunk.names["at"] = .integer(Int128(sizes.plaintextStart(ofChunk: index)))
            let fields = sizes.fields(isLast: true).filter { !$0.place.isBehind }
            for (field, part) in fields {
                chunk.names[field.name] = .bytes(
                    ByteString(try Oracle.bytes(part.byteCount, at: place + part.offset, of: source)))
            }
            var isFound = true
            for (field, _) in fields where isFound && field.content.allSatisfy(chunk.knows) {
                isFound = try accepts(field, chunk.names[field.name]?.bytes?.array ?? [], chunk)
            }
            if isFound {
                let count = try chunk.number(lastChunk)
                guard (0...room).contains(count) else { throw .authenticationFailed(chunk: index) }
                guard count <= Int128(rest) else { throw refusal("the rest of the last chunk") }
                let trailer = rest - UInt64(count)
                guard try trailerByteCount(format, known, source, from: source.byteCount - trailer) == trailer else {
                    throw refusal("nothing behind the trailer")
                }
                return sizes.with(trailer: trailer)
            }
            guard index > 0 else { throw refusal("a last chunk") }
            index -= 1
        }
    }

    /// Returns the length of the trailer from an offset on, which its fields determine.
    private static func trailerByteCount(
        _ format: Format, _ known: OracleEvaluator, _ source: any ByteSource, from start: UInt64
    ) throws(DecryptionError) -> UInt64 {
        var (known, count) = (known, Int128(0))
        for field in format.trailerFields {
            let own = try known.number(field.byteCount)
            guard own >= 0, count + own <= 1 << 20 else {
                throw .headerRejected(expected: "a trailer of at most 1 MiB")
            }
            guard count + own <= Int128(source.byteCount - start) else {
                throw .truncatedCiphertext(byteCount: source.byteCount, expected: "\"\(field.name)\"")
            }
            known.names[field.name] = .bytes(
                ByteString(try Oracle.bytes(Int(own), at: start + UInt64(count), of: source)))
            count += own
        }
        return UInt64(count)
    }

    /// Returns the length of the lines before the first one with a prefix.
    static func lines(
        from start: UInt64, before prefix: [UInt8], _ source: any ByteSource
    ) throws(DecryptionError) -> Int128 {
        let bytes = try Oracle.bytes(Int(min(1 << 20, source.byteCount - start)), at: start, of: source)
        var count = 0
        for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
            if line.starts(with: prefix) { return Int128(count) }
            count += line.count + 1
        }
        throw .invalidHeader(expected: "a line as the one behind a text")
    }

    /// An object that is written.
    init(
        _ format: Format, header: [UInt8], sizes: OracleSizes, chunkCount: UInt64, size: UInt64,
        names: [String: Value]
    ) {
        (self.format, self.header, self.sizes, table) = (format, header, sizes, nil)
        (self.chunkCount, self.size, self.names) = (chunkCount, size, names)
        plaintextByteCount = sizes.plaintextByteCount(of: size, chunkCount: chunkCount)
    }

    static func check(
        _ key: SecretKey, _ format: Format, _ known: OracleEvaluator
    ) throws(DecryptionError) {
        for check in format.checks where check.error == .invalidRequest {
            guard try holds(check, known) else {
                throw .invalidParameter(
                    name: "parameters", value: "of \(format.name)", expected: check.words ?? "others")
            }
        }
        var isRight = format.keyByteCounts.map { $0.contains(key.byteCount) } ?? true
        for check in format.checks where check.error == .invalidKey && isRight { isRight = try holds(check, known) }
        guard isRight else {
            throw .invalidKeyMaterial(byteCount: key.byteCount, expected: "a length that \(format.name) has")
        }
    }

    private static func check(_ fields: [Format.Field], _ known: OracleEvaluator) throws(DecryptionError) {
        for field in fields where !field.content.isEmpty {
            guard let bytes = known.names[field.name]?.bytes?.array, try accepts(field, bytes, known) else {
                throw error(field.error, "\"\(field.name)\" as \(known.format) has it")
            }
        }
    }

    static func accepts(
        _ field: Format.Field, _ bytes: [UInt8], _ known: OracleEvaluator
    ) throws(DecryptionError) -> Bool {
        for content in field.content where try known.bytes(content) == bytes { return true }
        return field.content.isEmpty
    }

    private static func holds(_ check: Format.Check, _ known: OracleEvaluator) throws(DecryptionError) -> Bool {
        if let condition = check.condition, try known.number(condition) == 0 { return true }
        return try known.number(check.requirement) != 0
    }

    static func error(_ refusal: Format.ObjectError, _ expected: String) -> DecryptionError {
        switch refusal {
        case .unsupported: .unsupported("an object without \(expected)")
        case .truncatedCiphertext: .truncatedCiphertext(byteCount: 0, expected: expected)
        case .invalidHeader: .invalidHeader(expected: expected)
        case .authenticationFailed, .invalidRequest, .invalidKey: .headerRejected(expected: expected)
        }
    }
}

/// The last cipher that was made: most objects have one key.
final class CipherMemo: Sendable {
    private let last = Mutex<(name: [UInt8], key: [UInt8], cipher: OracleCipher)?>(nil)

    func cipher(_ name: [UInt8], key: [UInt8]) throws(DecryptionError) -> OracleCipher {
        if let last = last.withLock({ $0 }), last.name == name, last.key == key { return last.cipher }
        let cipher = try OracleCipher(name, key: key)
        last.withLock { $0 = (name, key, cipher) }
        return cipher
    }
}
