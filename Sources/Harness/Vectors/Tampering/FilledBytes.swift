internal import RandomAccess

extension Array<UInt8> {
    /// So many bytes, written by `fill`.
    init(
        byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Void
    ) throws(DecryptionError) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        defer { room.deallocate() }
        try fill(room)
        self.init(room)
    }
}
