import RandomAccess

/// Bytes that somebody else keeps.
struct ArraySource: ByteSource {
    let bytes: [UInt8]

    var byteCount: UInt64 { UInt64(bytes.count) }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let rest = buffers.prefix(bytes.count - Int(offset))
        rest.forEach { index, buffer in
            buffer.copyBytes(from: bytes[(Int(offset) + index)...].prefix(buffer.count))
        }
        return rest.byteCount
    }
}
