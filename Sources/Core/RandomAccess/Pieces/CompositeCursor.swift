/// Reads a ``CompositeObject`` across the edges of its pieces.
///
/// A cursor belongs to one thread. It keeps the readers of the few pieces that were used last (buffers, cipher context
/// and open source), and allocates only when a read enters another piece.
///
/// A permission, if there is one, is asked for before and after each step, and for each piece that was touched once
/// more before the read delivers: if it has ended, such as the lease of a key, what was decrypted is erased and the
/// read fails.
public final class CompositeCursor: RandomAccessDecryptor {
    /// Throws if a piece may not be read, or no longer.
    public typealias Permission = (_ piece: Int) throws(DecryptionError) -> Void

    /// The object that is read.
    public let object: CompositeObject
    /// The max number of plaintext bytes that are decrypted in one step.
    public let windowByteCount: Int

    private let permit: Permission?
    /// The max number of bytes that are decrypted before the permission is asked for again.
    private let stepByteCount: Int
    /// Readers that are kept, the latest used last.
    private var readers: [(piece: Int, reader: any RandomAccessDecryptor)] = []
    /// Two would do for reading on and on; players jump between a few places, such as sound and pictures.
    static let maxReaders = 4

    init(_ object: CompositeObject, windowByteCount: Int, permit: Permission?) {
        (self.object, self.windowByteCount, self.permit) = (object, windowByteCount, permit)
        stepByteCount = permit == nil ? .max : min(windowByteCount, 256 << 10)
    }

    /// The plaintext's length in bytes, what cannot be read included.
    public var plaintextByteCount: UInt64 { object.plaintextByteCount }

    /// Reads plaintext; see `RandomAccessDecryptor.read(at:into:)`.
    ///
    /// - Throws: ``PartError`` with the name of the piece and what is wrong with it.
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
                // Counted first, so that bytes that were decrypted and not permitted are erased as well.
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

    /// Does nothing: each read looks at the version of the source that it asks, and so does opening it again.
    public func checkVersion() {}

    private func read(
        _ piece: Int, at offset: UInt64, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        do throws(DecryptionError) {
            try permit?(piece)
            // A piece's reader delivers all of what lies in it, or fails.
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
