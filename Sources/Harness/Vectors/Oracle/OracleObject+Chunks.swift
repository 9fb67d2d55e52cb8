import RandomAccess

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
        guard let hole = format.hole, UInt64(chunk.plaintext.count) == sizes.fullByteCount else { return false }
        let bytes = try Oracle.bytes(chunk.stored.count, at: chunk.stored.lowerBound, of: source)
        guard bytes.allSatisfy({ $0 == 0 }) else { return false }
        return try chunk.known.number(hole) != 0
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
        let source = whole(source)
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
        try check(index, in: whole(source))
    }

    private func check(_ index: UInt64, in source: any ByteSource) throws(DecryptionError) {
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

    /// Returns the bytes of a chunk for a check over all chunks.
    func folded(
        _ formula: Formula, ofChunk index: UInt64, of source: any ByteSource
    ) throws(DecryptionError) -> [UInt8] {
        let chunk = try chunk(index, of: source)
        var known = chunk.known
        known.names["tag"] = .bytes(ByteString(try tag(of: chunk, source)))
        return try known.bytes(formula)
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
        let source = whole(source)
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
            if !sizes.codes.isEmpty { try check(last, in: source) }
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
        if isAuthenticated, format.checksLast || isEmpty { try check(last, in: source) }
        return plaintextByteCount
    }
}
