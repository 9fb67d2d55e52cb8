import RandomAccess

/// Returns the ranges that a read would fetch, without reading.
func planned() throws -> [Range<UInt64>] {
    let strategy = try Strategy("cbc-chunked", ["iv": .bytes(Array(0..<16)), "chunkByteCount": .integer(1 << 20)])
    let probe = try Probe(strategy: strategy, ciphertextByteCount: 3 * (1 << 20) + 48)
    // The last block, decrypted, ends with 16 bytes of padding.
    let layout = try probe.layout(lastBlock: Block([UInt8](repeating: 16, count: 16)))
    let fetched = layout.plan(1_048_570..<1_048_580).map(\.fetch)
    return fetched
}
