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
    /// All known values, except those that differ between chunks.
    let names: [String: Value]
    private let ciphers = CipherMemo()

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
        size = source.byteCount
        var known = OracleEvaluator(names: strategy.values, format: format.name)
        known.names["key"] = .bytes(ByteString(key.withUnsafeBytes { Array($0) }))
        if isChecked { try Self.check(key, format, known) }
        // An impossible length is rejected before anything is read, if the inputs determine it.
        let early = try OracleSizes(format, known)
        if size == 0, format.isEmptyObjectEmpty {
            (header, plaintextByteCount, chunkCount) = ([], 0, 0)
            (sizes, names) = (early ?? OracleSizes(ofNothing: format), known.names)
            return
        }
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
            let isOpen = field.lastLinePrefix != nil || field.repetition != nil
            if isOpen || waiting.contains(where: { field.byteCount.expression.names.contains($0.name) }) {
                // A length must not be taken from another format's header.
                if isChecked { try check(waiting.filter { $0.content.allSatisfy(known.knows) }, known) }
                waiting = []
            }
            waiting.append(field)
            let count: Int128
            if let repetition = field.repetition {
                count = try repeated(repetition, from: end, source, known)
            } else if let prefix = field.lastLinePrefix {
                count = try text(from: end, lastLine: prefix.array, source)
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

    /// Returns the length of lines up to and including the first one with a prefix.
    private static func text(
        from start: UInt64, lastLine: [UInt8], _ source: any ByteSource
    ) throws(DecryptionError) -> Int128 {
        let bytes = try Oracle.bytes(Int(min(1 << 20, source.byteCount - start)), at: start, of: source)
        var count = 0
        for line in bytes.split(separator: 10, omittingEmptySubsequences: false).dropLast() {
            count += line.count + 1
            if line.starts(with: lastLine) { return Int128(count) }
        }
        throw .invalidHeader(expected: "a line as the last one of the header")
    }

    /// An object that is written.
    init(
        _ format: Format, header: [UInt8], sizes: OracleSizes, chunkCount: UInt64, size: UInt64,
        names: [String: Value]
    ) {
        (self.format, self.header, self.sizes) = (format, header, sizes)
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

    private static func accepts(
        _ field: Format.Field, _ bytes: [UInt8], _ known: OracleEvaluator
    ) throws(DecryptionError) -> Bool {
        for content in field.content where try known.bytes(content) == bytes { return true }
        return field.content.isEmpty
    }

    private static func holds(_ check: Format.Check, _ known: OracleEvaluator) throws(DecryptionError) -> Bool {
        if let condition = check.condition, try known.number(condition) == 0 { return true }
        return try known.number(check.requirement) != 0
    }

    static func error(_ refusal: Format.Refusal, _ expected: String) -> DecryptionError {
        switch refusal {
        case .unsupported: .unsupported("an object without \(expected)")
        case .truncatedCiphertext: .truncatedCiphertext(byteCount: 0, expected: expected)
        case .invalidHeader: .invalidHeader(expected: expected)
        case .authenticationFailed, .invalidRequest, .invalidKey: .headerRejected(expected: expected)
        }
    }
}

// MARK: Chunks

extension OracleObject {
    /// A chunk with the values of its stored parts.
    private struct Chunk {
        let index: UInt64
        /// The range of its data in the plaintext.
        let plaintext: Range<UInt64>
        /// The range in which it is stored.
        let stored: Range<UInt64>
        let known: OracleEvaluator
    }

    private func chunk(_ index: UInt64, of source: any ByteSource) throws(DecryptionError) -> Chunk {
        let isLast = index + 1 == chunkCount
        let plaintext = sizes.plaintextStart(ofChunk: index)
        let stored = sizes.storedStart(ofChunk: index)
        let plaintextEnd = isLast ? plaintextByteCount : sizes.plaintextStart(ofChunk: index + 1)
        let storedEnd = isLast ? size - sizes.trailer : sizes.storedStart(ofChunk: index + 1)
        var known = known(
            ofChunk: index, dataByteCount: plaintextEnd - plaintext, storedByteCount: storedEnd - stored)
        for (field, place) in sizes.fields(isLast: isLast) {
            let start = sizes.start(of: place, in: stored..<storedEnd, isLast: isLast)
            known.names[field.name] = .bytes(ByteString(try Oracle.bytes(place.byteCount, at: start, of: source)))
        }
        return Chunk(
            index: index, plaintext: plaintext..<plaintextEnd, stored: stored..<storedEnd, known: known)
    }

    /// Returns the names that a chunk's expressions may use, except its parts.
    func known(ofChunk index: UInt64, dataByteCount: UInt64, storedByteCount: UInt64) -> OracleEvaluator {
        var known = OracleEvaluator(names: names, format: format.name)
        for (name, value) in [
            ("i", index), ("last", index + 1 == chunkCount ? 1 : 0), ("n", dataByteCount),
            ("stored", storedByteCount), ("at", sizes.plaintextStart(ofChunk: index)),
        ] {
            known.names[name] = .integer(Int128(value))
        }
        return known
    }

    private func isHole(_ chunk: Chunk, of source: any ByteSource) throws(DecryptionError) -> Bool {
        guard format.hasHoles, UInt64(chunk.plaintext.count) == sizes.fullByteCount else { return false }
        return try Oracle.bytes(chunk.stored.count, at: chunk.stored.lowerBound, of: source).allSatisfy { $0 == 0 }
    }

    /// Returns the cipher, the nonce and the associated data of a chunk whose parts are known.
    func cipher(_ known: OracleEvaluator) throws(DecryptionError) -> Sealing {
        let cipher = try ciphers.cipher(try known.bytes(format.cipher), key: try known.bytes(format.key))
        let nonce = try known.bytes(format.nonce)
        guard cipher.takes(nonce: nonce) else { throw .invalidIV(byteCount: nonce.count) }
        var associatedData: [UInt8] = []
        if cipher.isAuthenticated, let formula = format.associatedData { associatedData = try known.bytes(formula) }
        return Sealing(cipher: cipher, nonce: nonce, associatedData: associatedData)
    }

    /// Returns the cipher that a backend needs for the object; `nil` if it has no chunk, or no such cipher is known.
    func need() throws(DecryptionError) -> CipherNeed? {
        guard chunkCount > 0 || !format.trailerFields.isEmpty else { return nil }
        var known = known(ofChunk: 0, dataByteCount: 0, storedByteCount: 0)
        // Only the lengths of its parts matter.
        for (field, place) in sizes.fields(isLast: chunkCount == 1) {
            known.names[field.name] = .bytes(ByteString([UInt8](repeating: 0, count: place.byteCount)))
        }
        guard let cipher = Cipher(rawValue: String(decoding: try known.bytes(format.cipher), as: UTF8.self)) else {
            return nil
        }
        var hmac: HashFunction?
        for code in sizes.codes {
            let name = try known.bytes(Formula(code.function, .bytes, at: format.nonce.place))
            hmac = HashFunction(rawValue: String(decoding: name, as: UTF8.self))
        }
        return CipherNeed(
            cipher: cipher, keyByteCount: try known.bytes(format.key).count,
            nonceByteCount: cipher.isStreaming ? nil : try known.bytes(format.nonce).count, hmac: hmac)
    }

    /// The cipher and the nonce with which a chunk is encrypted, and its associated data.
    struct Sealing {
        let cipher: OracleCipher
        let nonce: [UInt8]
        let associatedData: [UInt8]

        /// Returns the tag of the chunk's ciphertext. With a synthetic IV, it is the tag that belongs to the plaintext
        /// decrypted with the tag found.
        func tag(_ ciphertext: [UInt8], found: [UInt8] = []) -> [UInt8] {
            cipher.tag(ciphertext, nonce: nonce, associatedData: associatedData, found: found)
        }

        /// Returns the chunk's ciphertext and tag for a plaintext.
        func seal(_ plaintext: [UInt8]) -> (ciphertext: [UInt8], tag: [UInt8]) {
            cipher.seal(plaintext, nonce: nonce, associatedData: associatedData)
        }
    }

    /// Decrypts a range without checking tags. `range` lies in the plaintext, and `output.count == range.count`.
    func decrypt(
        _ range: Range<UInt64>, of source: any ByteSource, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        var position = range.lowerBound
        while position < range.upperBound {
            let chunk = try chunk(sizes.chunk(at: position), of: source)
            let end = min(range.upperBound, chunk.plaintext.upperBound)
            let start = Int(position - range.lowerBound)
            let part = UnsafeMutableRawBufferPointer(rebasing: output[start..<start + Int(end - position)])
            if try isHole(chunk, of: source) {
                part.initializeMemory(as: UInt8.self, repeating: 0)
            } else {
                try decrypt(position..<end, of: chunk, source, into: part)
            }
            position = end
        }
    }

    private static let pieceByteCount: UInt64 = 1 << 16

    /// Decrypts a part of a chunk, one piece at a time.
    private func decrypt(
        _ range: Range<UInt64>, of chunk: Chunk, _ source: any ByteSource, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let sealing = try cipher(chunk.known)
        let tag = sealing.cipher.hasSyntheticIV ? try self.tag(of: chunk, source) : []
        let dataStart = chunk.stored.lowerBound + sizes.front(isLast: chunk.index + 1 == chunkCount)
        let room = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(UInt64(range.count) + 32, Self.pieceByteCount)), alignment: 16)
        defer { room.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
            let inChunk = position - chunk.plaintext.lowerBound
            let (offset, skip) = (inChunk / 16 * 16, inChunk % 16)
            let count = min(range.upperBound - position, UInt64(room.count) / 16 * 16 - skip)
            // Up to the end of a block, or of the data.
            let roomCount = (skip + count + 15) / 16 * 16
            let byteCount = min(roomCount, UInt64(chunk.plaintext.count) - offset)
            guard let start = room.baseAddress else { return }
            try Oracle.fetch(Int(byteCount), at: dataStart + offset, of: source, into: start)
            var previous = tag
            if case .cbc = sealing.cipher {
                previous = offset == 0 ? sealing.nonce : try Oracle.bytes(16, at: dataStart + offset - 16, of: source)
            }
            let blocks = UnsafeMutableRawBufferPointer(rebasing: room[..<Int(roomCount)])
            sealing.cipher.decrypt(
                blocks, at: offset, nonce: sealing.nonce, previous: previous, of: UInt64(chunk.plaintext.count))
            let place = Int(position - range.lowerBound)
            UnsafeMutableRawBufferPointer(rebasing: output[place..<place + Int(count)]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: blocks[Int(skip)..<Int(skip + count)]))
            position += count
        }
    }

    /// Checks that a chunk may be delivered.
    ///
    /// - Throws: `DecryptionError.authenticationFailed`, or the description's error for a part, if it may not.
    func check(_ index: UInt64, of source: any ByteSource) throws(DecryptionError) {
        let (chunk, isLast) = (try chunk(index, of: source), index + 1 == chunkCount)
        if try isHole(chunk, of: source) { return }
        var known = chunk.known
        let front = sizes.front(isLast: isLast)
        if !sizes.codes.isEmpty {
            let count = chunk.stored.count - Int(front + sizes.behind(isLast: isLast))
            known.names[CodeExpression.dataName] = .bytes(
                ByteString(try Oracle.bytes(count, at: chunk.stored.lowerBound + front, of: source)))
        }
        for (field, _) in sizes.fields(isLast: isLast) {
            let bytes = chunk.known.names[field.name]?.bytes?.array ?? []
            guard try !Self.accepts(field, bytes, known) else { continue }
            if field.error == .authenticationFailed { throw .authenticationFailed(chunk: index) }
            throw Self.error(field.error, "\"\(field.name)\" as \(format.name) has it")
        }
        if let rejected = format.rejectedNonce, try chunk.known.number(rejected) != 0 {
            throw .authenticationFailed(chunk: index)
        }
        let sealing = try cipher(chunk.known)
        guard sealing.cipher.isAuthenticated, sizes.tag(isLast: isLast) != nil else { return }
        let count = chunk.plaintext.count
        let data = try Oracle.bytes(count, at: chunk.stored.lowerBound + front, of: source)
        let tag = try tag(of: chunk, source)
        guard tag == sealing.tag(data, found: tag) else { throw .authenticationFailed(chunk: index) }
    }

    /// Returns the stored tag of a chunk.
    private func tag(of chunk: Chunk, _ source: any ByteSource) throws(DecryptionError) -> [UInt8] {
        let isLast = chunk.index + 1 == chunkCount
        guard let place = sizes.tag(isLast: isLast) else { return [] }
        return try Oracle.bytes(
            place.byteCount, at: sizes.start(of: place, in: chunk.stored, isLast: isLast), of: source)
    }

    /// Returns the plaintext's length without padding, after a check of the last chunk if the format requires it.
    ///
    /// - Throws: `DecryptionError.invalidPadding`, or the errors of ``check(_:of:)``.
    func checkedPlaintextByteCount(of source: any ByteSource) throws(DecryptionError) -> UInt64 {
        let byteCount = try byteCountBeforeTrailer(of: source)
        if size > 0 || !format.isEmptyObjectEmpty { try checkTrailer(of: source, plaintextByteCount: byteCount) }
        return byteCount
    }

    private func checkTrailer(of source: any ByteSource, plaintextByteCount: UInt64) throws(DecryptionError) {
        var known = OracleEvaluator(names: names, format: format.name)
        known.names[Format.Rules.lengthName] = .integer(Int128(plaintextByteCount))
        var offset = size - sizes.trailer
        for field in format.trailerFields {
            let count = Int(try known.number(field.byteCount))
            known.names[field.name] = .bytes(ByteString(try Oracle.bytes(count, at: offset, of: source)))
            offset += UInt64(count)
        }
        for field in format.trailerFields {
            var closed = [field]
            try known.open(&closed, isChecked: true)
            for field in [field] + (field.sealed?.holds ?? []) where !field.content.isEmpty {
                let bytes = known.names[field.name]?.bytes?.array ?? []
                guard try Self.accepts(field, bytes, known) else { throw Self.error(field.error, "\"\(field.name)\"") }
            }
        }
    }

    private func byteCountBeforeTrailer(of source: any ByteSource) throws(DecryptionError) -> UInt64 {
        guard chunkCount > 0 else { return 0 }
        let last = chunkCount - 1
        if sizes.isPadded {
            if !sizes.codes.isEmpty { try check(last, of: source) }
            let start = sizes.plaintextStart(ofChunk: last)
            let chunk = try chunk(last, of: source)
            let block = try [UInt8](byteCount: 16) { (buffer) throws(DecryptionError) in
                try decrypt(plaintextByteCount - 16..<plaintextByteCount, of: chunk, source, into: buffer)
            }
            let count = Int(block[15])
            guard (1...16).contains(count), block.suffix(count).allSatisfy({ $0 == block[15] }) else {
                throw .invalidPadding
            }
            let end = plaintextByteCount - UInt64(count)
            // A last chunk has data, unless it is the only chunk, and no more than a full one.
            guard end > start || last == 0, Int128(end - start) <= (last == 0 ? sizes.first : sizes.full) else {
                throw .invalidPadding
            }
            return end
        }
        let isAuthenticated =
            try cipher(try chunk(last, of: source).known).cipher.isAuthenticated || !sizes.codes.isEmpty
        let isEmpty = sizes.plaintextStart(ofChunk: last) == plaintextByteCount
        if isAuthenticated, format.checksLast || isEmpty { try check(last, of: source) }
        return plaintextByteCount
    }
}

/// The last cipher that was made: most objects have one key.
private final class CipherMemo: Sendable {
    private let last = Mutex<(name: [UInt8], key: [UInt8], cipher: OracleCipher)?>(nil)

    func cipher(_ name: [UInt8], key: [UInt8]) throws(DecryptionError) -> OracleCipher {
        if let last = last.withLock({ $0 }), last.name == name, last.key == key { return last.cipher }
        let cipher = try OracleCipher(name, key: key)
        last.withLock { $0 = (name, key, cipher) }
        return cipher
    }
}
