/// The opening of an object of authenticated chunks: header, keys, and the last chunk, which proves the length.
struct OpenedChunks {
    let layout: Layout
    let key: SecretKey

    /// Checks in the order of PROTOCOL.md: key, length, header, last chunk.
    init(
        source: any ByteSource, format: ChunkFormat, backend: any CipherBackend, key: SecretKey
    ) throws(DecryptionError) {
        guard backend.modes.contains(.gcm) else { throw .unsupported("AES-GCM in \(backend.name)") }
        try format.check(key)
        let grid = try ChunkGrid(format: format, ciphertextByteCount: source.byteCount)
        let keys = try Self.keys(grid, source: source, key: key)
        let run = ChunkRun(grid: grid, nonces: keys.nonces)
        let context = try backend.makeChunkContext(direction: .decrypt, key: keys.key)
        try Self.openLastChunk(run, source: source, context: context)
        self.layout = Layout(chunks: run)
        self.key = keys.key
    }

    private static func keys(
        _ grid: ChunkGrid, source: any ByteSource, key: SecretKey
    ) throws(DecryptionError) -> ChunkKeys {
        let header = UnsafeMutableRawBufferPointer.allocate(byteCount: grid.header.count, alignment: 16)
        defer { header.deallocate() }
        try source.fetch(at: 0, into: header)
        return try ChunkKeys(grid, header: UnsafeRawBufferPointer(header), key: key)
    }

    private static func openLastChunk(
        _ run: ChunkRun, source: any ByteSource, context: any ChunkContext
    ) throws(DecryptionError) {
        let last = run.grid.chunkCount - 1
        let extent = run.extent(ofChunk: last)
        let fetched = UnsafeMutableRawBufferPointer.allocate(byteCount: extent.ciphertext.count, alignment: 4096)
        // Space for a tag more, so that an empty chunk has some, too.
        let plaintext = UnsafeMutableRawPointer.allocate(byteCount: extent.ciphertext.count, alignment: 4096)
        defer {
            eraseBytes(UnsafeMutableRawBufferPointer(start: plaintext, count: extent.plaintext.count))
            plaintext.deallocate()
            fetched.deallocate()
        }
        try source.fetch(at: extent.ciphertext.lowerBound, into: fetched)
        try context.open(UnsafeRawBufferPointer(fetched), chunk: last, into: plaintext, start: extent.iv)
    }
}
