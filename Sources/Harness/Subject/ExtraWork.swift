import RandomAccess

/// Superfluous decryption by a reader: a slowdown of known size, to test the gate with.
///
/// It is a share of the delivered bytes. A read's part is rarely a number of whole blocks, so the remainder is kept for
/// the next read. Small reads thus add the same share as large ones.
package struct ExtraWork: Hashable, Sendable, CustomStringConvertible {
    /// The max share: ten times the work.
    package static let largestShare = 10.0

    /// The share in millionths.
    package let millionths: UInt64

    /// Returns `nil` unless the share is 0 to 10.
    ///
    /// - Parameter share: Extra bytes decrypted per byte delivered, such as 0.05; rounded to a millionth.
    package init?(share: Double) {
        guard share >= 0, share <= Self.largestShare else { return nil }
        self.millionths = UInt64((share * 1e6).rounded())
    }

    /// The extra bytes decrypted per byte delivered.
    package var share: Double { Double(millionths) / 1e6 }

    /// The share as a number.
    package var description: String { "\(share)" }

    /// The extra work due after some reads, in millionths of a byte.
    struct DueWork {
        private var owed: UInt64 = 0

        /// Adds the work due for a read.
        ///
        /// - Parameters:
        ///   - byteCount: The number of bytes that it delivered, below 2⁴⁰.
        ///   - work: The share.
        /// - Returns: The number of bytes due now, in whole blocks; the remainder is kept.
        mutating func add(_ byteCount: Int, _ work: ExtraWork) -> Int {
            owed += UInt64(byteCount) * work.millionths
            let blocks = owed / Self.block
            owed %= Self.block
            return Int(blocks) * 16
        }

        private static let block: UInt64 = 16 * 1_000_000
    }
}

/// A reader that decrypts extra bytes after each read, and delivers another reader's bytes unchanged.
///
/// The extra bytes pass through a context with the object's own backend, cipher and key, in place in a separate buffer,
/// one window at a time. Each call works on the result of the last one, so that none of it can be optimized away.
final class ExtraWorkReader: CachingReader {
    /// The max length of the buffer, which fits in a core's own cache.
    static let largestBufferByteCount = 256 << 10

    private let reader: any RandomAccessDecryptor
    private let context: any CipherContext
    private let work: ExtraWork
    private let buffer: UnsafeMutableRawBufferPointer
    private var debt = ExtraWork.DueWork()

    /// Wraps a reader of an object.
    ///
    /// - Throws: `DecryptionError.unsupported` for an object of authenticated chunks, `.backend`.
    init(
        _ reader: any RandomAccessDecryptor, of object: EncryptedObject, work: ExtraWork, windowByteCount: Int
    ) throws(DecryptionError) {
        guard object.strategy.isStreaming else { throw .unsupported("extra work on authenticated chunks") }
        self.reader = reader
        self.context = try object.makeContext()
        self.work = work
        buffer = try .tryAllocate(byteCount: Self.bufferByteCount(windowByteCount))
        buffer.initializeMemory(as: UInt8.self, repeating: 0x5A)
    }

    deinit {
        eraseBytes(buffer)
        buffer.deallocate()
    }

    /// Returns the buffer's length for a window: whole blocks, at least one.
    static func bufferByteCount(_ windowByteCount: Int) -> Int {
        max(16, min(windowByteCount, largestBufferByteCount) / 16 * 16)
    }

    var plaintextByteCount: UInt64 { reader.plaintextByteCount }

    func read(at offset: UInt64, into output: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let delivered = try reader.read(at: offset, into: output)
        var due = debt.add(delivered, work)
        while due > 0 {
            let count = min(due, buffer.count)
            try context.process(
                inPlace: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), iv: Block(bigEndianValue: 0))
            due -= count
        }
        return delivered
    }

    func checkVersion() throws(DecryptionError) { try reader.checkVersion() }

    /// Makes the other reader drop the chunk that it keeps, if any.
    func invalidate() {
        (reader as? any CachingReader)?.invalidate()
    }
}
