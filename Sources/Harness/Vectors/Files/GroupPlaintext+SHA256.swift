internal import RandomAccess

extension GroupPlaintext {
    /// The SHA-256 of a range that lies in the plaintext, computed in pieces.
    func sha256(of range: Range<UInt64>) throws(DecryptionError) -> [UInt8] {
        var hash = SHA256()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: min(range.count, 1 << 20), alignment: 16)
        defer { room.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
            let count = Int(min(UInt64(room.count), range.upperBound - position))
            let piece = UnsafeMutableRawBufferPointer(rebasing: room[..<count])
            try copy(position..<position + UInt64(count), into: piece)
            hash.update(UnsafeRawBufferPointer(piece))
            position += UInt64(count)
        }
        return hash.finish()
    }
}
