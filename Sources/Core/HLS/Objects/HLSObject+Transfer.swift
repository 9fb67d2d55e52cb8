internal import ByteSources
package import RandomAccess

extension HLSObject: TransferableObject {
    /// Makes a cursor; see `TransferableObject.makeReader(windowByteCount:)`.
    package func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor {
        try makeCursor(windowByteCount: windowByteCount)
    }

    /// Takes note of it, for the segments that are opened from now on.
    package func adviseSequential(_ range: Range<UInt64>) {
        advice.withLock { $0 = Advice(range: range) }
    }
}
