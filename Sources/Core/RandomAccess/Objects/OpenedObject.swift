/// Opens an object by its description: parameters, key, header, length, checks. If chunks are authenticated, the last
/// one proves the length.
struct OpenedObject {
    let layout: Layout
    let key: ObjectKey

    /// Checks in the order of PROTOCOL.md; skips the checks of the plaintext length if it is known.
    init(
        source: any ByteSource, strategy: Strategy, backend: any CipherBackend, key: SecretKey, knownByteCount: UInt64?
    ) throws(DecryptionError) {
        let format = strategy.format
        let formatShape = try strategy.shape()
        let known = formatShape.known
        if let known { try backend.require(known) }
        try strategy.check(key)
        if source.byteCount == 0, format.isEmptyObjectEmpty {
            self.key = .fixed(key)
            layout = try Layout(ofNothing: format, known)
            return
        }
        // Checked before any byte is fetched, if the length alone suffices.
        let chunkCount = try known.map { shape throws(DecryptionError) in
            try shape.geometry.chunkCount(ofCiphertext: source.byteCount)
        }
        let header = try ObjectHeader(reading: source, strategy, key: key, backend: backend)
        let shape = try formatShape.shape(of: header).measured(source, header)
        try backend.require(shape)
        let geometry = shape.geometry
        let count: UInt64
        if let chunkCount {
            count = chunkCount
        } else {
            count = try geometry.chunkCount(ofCiphertext: source.byteCount)
        }
        let (objectKey, rules) = try header.chunks(shape, count: count)
        self.key = objectKey
        let probe = Probe(geometry: geometry, rules: rules, chunkCount: count, ciphertextByteCount: source.byteCount)
        if shape.isStreaming {
            layout = try Self.stretch(probe, rules, objectKey, source, backend, format, knownByteCount: knownByteCount)
        } else {
            layout = try Self.chunks(probe, shape, objectKey, source, backend, format, knownByteCount: knownByteCount)
        }
        guard !format.trailerFields.isEmpty, knownByteCount == nil else { return }
        try ObjectTrailer(
            format, header.names, chunkCount: count, plaintextByteCount: layout.plaintextByteCount
        ).check(source, at: source.byteCount - geometry.trailerByteCount, backend: backend)
    }

    /// Returns the layout of chunks that are decrypted as a whole, after checking the last one.
    private static func chunks(
        _ probe: Probe, _ shape: ChunkShape, _ key: ObjectKey, _ source: any ByteSource, _ backend: any CipherBackend,
        _ format: Format, knownByteCount: UInt64?
    ) throws(DecryptionError) -> Layout {
        let count = probe.chunkCount
        if shape.geometry.end.isPadded, let knownByteCount { return try probe.layout(knownByteCount: knownByteCount) }
        if shape.geometry.end.isPadded, count > 0 {
            let chunks = try ChunkOpener(layout: probe.layoutWithPadding(), key: key, backend: backend)
            return try probe.layout(lastBlock: try chunks.lastBlock(ofChunk: count - 1, of: source))
        }
        let layout = try probe.layout(lastBlock: nil)
        // If the library does not support the key's length, this fails before any read.
        let chunks = try ChunkOpener(layout: layout, key: key, backend: backend)
        guard shape.isAuthenticated, count > 0, knownByteCount == nil else { return layout }
        // No read would check a last chunk without data.
        let isEmpty = layout.extent(ofChunk: count - 1).plaintext.isEmpty
        if format.checksLast || isEmpty { try chunks.check(count - 1, of: source) }
        return layout
    }

    /// Returns the layout of chunks that can be decrypted from any block, after checking the padding.
    private static func stretch(
        _ probe: Probe, _ rules: ChunkRules, _ key: ObjectKey, _ source: any ByteSource, _ backend: any CipherBackend,
        _ format: Format, knownByteCount: UInt64?
    ) throws(DecryptionError) -> Layout {
        guard case .fixed(let key) = key else {
            throw .unsupported("\(rules.cipher.rawValue) with a key for each chunk, in \(format.name)")
        }
        // Numbers that fit at both ends fit in between.
        let count = probe.chunkCount
        for index in Set([0, max(count, 2) - 2, max(count, 1) - 1]) where index < count {
            try rules.checkBlock(
                ofChunk: index, at: probe.geometry.plaintextStart(ofChunk: index), isLast: index + 1 == count)
        }
        if let knownByteCount { return try probe.layout(knownByteCount: knownByteCount) }
        let context = try backend.makeContext(rules.cipher, .decrypt, key: key)
        var lastBlock: Block?
        if let step = probe.lastBlock { lastBlock = try Self.decryptBlock(step, from: source, with: context) }
        return try probe.layout(lastBlock: lastBlock)
    }

    private static func decryptBlock(
        _ step: ReadStep, from source: any ByteSource, with context: any CipherContext
    ) throws(DecryptionError) -> Block {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
        defer {
            eraseBytes(buffer)
            buffer.deallocate()
        }
        let fetched = UnsafeMutableRawBufferPointer(rebasing: buffer[..<step.fetch.count])
        try source.fetch(at: step.fetch.lowerBound, into: fetched)
        let block = UnsafeMutableRawBufferPointer(rebasing: fetched[(fetched.count - 16)...])
        let iv: Block
        switch step.iv {
        case .value(let value): iv = value
        case .precedingBlock, .ofChunk: iv = Block(loadingFrom: UnsafeRawBufferPointer(fetched))
        }
        try context.process(inPlace: block, iv: iv)
        return Block(loadingFrom: UnsafeRawBufferPointer(block))
    }
}

extension CipherBackend {
    /// Refuses chunks with a cipher, or a hash function of a code, that the backend lacks.
    func require(_ shape: ChunkShape) throws(DecryptionError) {
        guard supports(shape.cipher) else { throw .unsupported("\(shape.cipher.rawValue) in \(nameAndVersion)") }
        guard supports(shape.cipher, hmac: shape.hmac) else {
            throw .unsupported("hmac with \(shape.hmac?.rawValue ?? "") in \(nameAndVersion)")
        }
    }
}

extension ObjectHeader {
    /// Returns the key and the rules of the object's chunks.
    ///
    /// - Throws: `DecryptionError.invalidHeader` if the header has values for which there is no key or rule;
    ///   `.unsupported`, `.invalidIV`, `.invalidParameter`.
    func chunks(_ shape: ChunkShape, count: UInt64) throws(DecryptionError) -> (key: ObjectKey, rules: ChunkRules) {
        let names = names(chunkCount: count)
        do throws(DecryptionError) {
            return (
                try ObjectKey(format, names, parts: shape.partRanges), try ChunkRules(format, shape, names)
            )
        } catch {
            throw byteCount > 0 ? error.ofHeader : error
        }
    }
}
