public import RandomAccess

/// A reader that delivers plaintext for as long as its key may be used, and not a byte more.
///
/// It belongs to one thread at a time, like the reader that it asks.
public final class LeasedReader: RandomAccessDecryptor {
    /// How many bytes are decrypted at most before the lease is looked at again.
    public static let pieceByteCount = 1 << 18

    private let reader: any RandomAccessDecryptor
    private let lease: KeyLease

    /// Creates a reader that asks another one while a lease lasts.
    public init(_ reader: any RandomAccessDecryptor, lease: KeyLease) {
        self.reader = reader
        self.lease = lease
    }

    /// The plaintext's length in bytes.
    public var plaintextByteCount: UInt64 { reader.plaintextByteCount }

    /// Reads piece by piece; if the lease ends meanwhile, what was read is erased and the read fails.
    ///
    /// See `RandomAccessDecryptor.read(at:into:)`.
    /// - Throws: `PlaylistError.keyUnavailable` if the lease has ended, and what the reader throws.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        try lease.permitRead()
        var delivered = 0
        do throws(DecryptionError) {
            repeat {
                let end = min(buffer.count, delivered + Self.pieceByteCount)
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[delivered..<end])
                let (place, isOver) = offset.addingReportingOverflow(UInt64(delivered))
                // The end of the plaintext lies before the end of all offsets.
                guard !isOver else { break }
                let count = try reader.read(at: place, into: piece)
                // What was decrypted and not yet permitted is no one's.
                delivered += count
                try lease.permitRead()
                if count < piece.count { break }
            } while delivered < buffer.count
        } catch {
            eraseBytes(UnsafeMutableRawBufferPointer(rebasing: buffer[..<delivered]))
            throw error
        }
        return delivered
    }
}
