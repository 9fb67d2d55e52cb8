/// Reads a ``CompositeObject`` across the edges of its pieces.
///
/// A cursor belongs to one thread. It keeps the readers of the last few pieces (buffers, cipher context and open
/// source), and allocates only when a read enters another piece.
///
/// The cursor asks for the permission, if it has one, before and after each step, and again for each piece before the
/// read delivers. If the permission has ended, for example with the lease of a key, the cursor erases the decrypted
/// bytes, and the read fails.
public final class CompositeCursor: RandomAccessDecryptor {
    /// Throws if the caller may not read a piece, or no longer.
    public typealias Permission = (_ piece: Int) throws(DecryptionError) -> Void

    /// The object to read.
    public let object: CompositeObject
    /// The max number of plaintext bytes to decrypt in one step.
    public let windowByteCount: Int

    private let permit: Permission?
    /// The max number of bytes to decrypt between two calls of the permission.
    private let stepByteCount: Int
    /// The kept readers, the last used one at the end.
    private var readers: [(piece: Int, reader: any RandomAccessDecryptor)] = []
    /// The max number of kept readers. Two are enough for reading in order, but players jump between a few places, such
    /// as sound and picture.
    static let maxReaders = 4

    init(_ object: CompositeObject, windowByteCount: Int, permit: Permission?) {
        (self.object, self.windowByteCount, self.permit) = (object, windowByteCount, permit)
        stepByteCount = permit == nil ? .max : min(windowByteCount, 256 << 10)
    }

    /// The plaintext's length in bytes, unreadable pieces included.
    public var plaintextByteCount: UInt64 { object.plaintextByteCount }

    /// Reads plaintext; see `RandomAccessDecryptor.read(at:into:)`.
    ///
    /// - Throws: ``PartError`` with the name of the piece and its error.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        let count = Int(min(UInt64(buffer.count), plaintextByteCount - offset))
        let first = object.pieceIndex(at: offset)
        var (piece, delivered) = (first, 0)
        do throws(DecryptionError) {
            while delivered < count {
                let position = offset + UInt64(delivered)
                let range = object.plaintextRange(ofPiece: piece)
                guard position < range.upperBound else {
                    piece += 1
                    continue
                }
                let taken = Int(min(UInt64(min(count - delivered, stepByteCount)), range.upperBound - position))
                let output = UnsafeMutableRawBufferPointer(rebasing: buffer[delivered..<delivered + taken])
                // Counted first, so that decrypted bytes without permission are erased as well.
                delivered += taken
                try read(piece, at: position - range.lowerBound, into: output)
            }
            if let permit, count > 0 {
                for piece in first...piece where !object.plaintextRange(ofPiece: piece).isEmpty {
                    try self.permit(piece, permit)
                }
            }
        } catch {
            eraseBytes(UnsafeMutableRawBufferPointer(rebasing: buffer[..<delivered]))
            throw error
        }
        return count
    }

    /// Does nothing: each read checks the version of its source, and so does reopening it.
    public func checkVersion() {}

    private func read(
        _ piece: Int, at offset: UInt64, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        do throws(DecryptionError) {
            try permit?(piece)
            // A piece's reader delivers all of the requested part, or fails.
            _ = try reader(of: piece).read(at: offset, into: output)
            try permit?(piece)
        } catch {
            throw .inPart(object.list.name(of: piece), error)
        }
    }

    private func permit(_ piece: Int, _ permit: Permission) throws(DecryptionError) {
        do throws(DecryptionError) {
            try permit(piece)
        } catch {
            throw .inPart(object.list.name(of: piece), error)
        }
    }

    private func reader(of piece: Int) throws(DecryptionError) -> any RandomAccessDecryptor {
        if let last = readers.last, last.piece == piece { return last.reader }
        if let position = readers.lastIndex(where: { $0.piece == piece }) {
            let found = readers.remove(at: position)
            readers.append(found)
            return found.reader
        }
        let reader = try object.reader(of: piece, windowByteCount: windowByteCount)
        if readers.count >= Self.maxReaders { readers.removeFirst() }
        readers.append((piece, reader))
        return reader
    }
}
