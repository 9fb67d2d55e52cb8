import RandomAccess

/// Decryption that a reader does beside what it was asked for: a slowdown of known cause, to measure the gate by.
///
/// It is a share of the bytes delivered. As each read's part rarely is a number of whole blocks, what is left over is
/// kept for the next read, so that small reads add the same share as large ones.
package struct ExtraWork: Hashable, Sendable, CustomStringConvertible {
    /// The max that can be asked for: ten times the work.
    package static let largestShare = 10.0

    /// The share in millionths.
    package let millionths: UInt64

    /// Creates extra work, or returns `nil` unless the share is 0 to 10.
    ///
    /// - Parameter share: Further bytes decrypted per byte delivered, such as 0.05; kept to a millionth.
    package init?(share: Double) {
        guard share >= 0, share <= Self.largestShare else { return nil }
        self.millionths = UInt64((share * 1e6).rounded())
    }

    /// Further bytes decrypted per byte delivered.
    package var share: Double { Double(millionths) / 1e6 }

    /// The share as a number.
    package var description: String { "\(share)" }

    /// What is owed after some reads, in millionths of a byte.
    struct Debt {
        private var owed: UInt64 = 0

        /// Adds what a read owes.
        ///
        /// - Parameters:
        ///   - byteCount: The bytes that it delivered, below 2⁴⁰.
        ///   - work: The share.
        /// - Returns: The whole blocks' bytes that are due now; what is left is kept.
        mutating func add(_ byteCount: Int, _ work: ExtraWork) -> Int {
            owed += UInt64(byteCount) * work.millionths
            let blocks = owed / Self.block
            owed %= Self.block
            return Int(blocks) * 16
        }

        private static let block: UInt64 = 16 * 1_000_000
    }
}

/// A reader that decrypts further bytes after each read; what it delivers is the other reader's, unchanged.
///
/// The further bytes go through a context of the object's own backend, cipher and key, in place in a buffer of its own,
/// as many at once as a window has. Each call works on what the last one left there, so that none of it can be left out.
final class ExtraWorkReader: ChunkKeeper {
    /// The max memory that the buffer takes: what stays in a core's own cache.
    static let largestBufferByteCount = 256 << 10

    private let reader: any RandomAccessDecryptor
    private let context: any CipherContext
    private let work: ExtraWork
    private let buffer: UnsafeMutableRawBufferPointer
    private var debt = ExtraWork.Debt()

    /// Wraps a reader of an object.
    ///
    /// - Throws: `DecryptionError.unsupported` of an object of authenticated chunks, `.backend`.
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

    /// The buffer's length for a window: whole blocks, at least one.
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

    /// Makes the other reader forget a chunk that it keeps, if it does.
    func forgetChunk() {
        (reader as? any ChunkKeeper)?.forgetChunk()
    }
}
