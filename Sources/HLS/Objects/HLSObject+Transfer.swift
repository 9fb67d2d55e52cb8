package import RandomAccess
internal import Transfer

extension HLSObject: TransferableObject {
    /// Makes a cursor; see `TransferableObject.makeReader(windowByteCount:)`.
    package func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor {
        try makeCursor(windowByteCount: windowByteCount)
    }

    /// Nothing: a segment is short, and opened when it is read.
    package func adviseSequential(_ range: Range<UInt64>) {}
}
