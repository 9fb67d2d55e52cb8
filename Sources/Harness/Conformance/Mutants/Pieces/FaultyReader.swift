internal import RandomAccess

/// A reader over a right one, that does something of its own with each read.
final class FaultyReader: RandomAccessDecryptor {
    typealias Read = (
        _ base: any RandomAccessDecryptor, _ offset: UInt64, _ buffer: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Int

    let plaintextByteCount: UInt64
    private let base: any RandomAccessDecryptor
    private let body: Read

    /// Wraps a reader; `plaintextByteCount` is what it says of its length, if that is not the truth.
    init(_ base: any RandomAccessDecryptor, plaintextByteCount: UInt64? = nil, _ body: @escaping Read) {
        self.base = base
        self.plaintextByteCount = plaintextByteCount ?? base.plaintextByteCount
        self.body = body
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        try body(base, offset, buffer)
    }
}
