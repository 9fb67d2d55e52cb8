import ByteSources
public import RandomAccess

/// Reads an ``HLSObject`` across the edges of its segments.
///
/// A cursor belongs to one thread. It keeps the readers of the few parts that were used last (buffers, cipher context and
/// open resource), and allocates only when a read enters another part.
public final class HLSCursor: RandomAccessDecryptor {
    /// The object that is read.
    public let object: HLSObject
    /// The max number of plaintext bytes that are decrypted in one step.
    public let windowByteCount: Int

    /// Readers that are kept, the latest used last.
    private var readers: [(part: Int, reader: PartReader)] = []
    /// Two would do for reading on and on; players jump between a few places, such as sound and pictures.
    private static let maxReaders = 4

    init(object: HLSObject, windowByteCount: Int) {
        self.object = object
        self.windowByteCount = windowByteCount
    }

    /// The plaintext's length in bytes, what cannot be read included.
    public var plaintextByteCount: UInt64 { object.plaintextByteCount }

    /// Reads plaintext; see `RandomAccessDecryptor.read(at:into:)`.
    ///
    /// - Throws: `PlaylistError.inPart` with what is wrong with a segment that the read touches.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        let count = Int(min(UInt64(buffer.count), plaintextByteCount - offset))
        var index = object.partIndex(at: offset)
        var delivered = 0
        while delivered < count {
            let part = object.parts[index]
            let position = offset + UInt64(delivered)
            let taken = Int(min(UInt64(count - delivered), part.plaintext.upperBound - position))
            if taken > 0 {
                let output = UnsafeMutableRawBufferPointer(rebasing: buffer[delivered..<delivered + taken])
                do throws(DecryptionError) {
                    try reader(of: index).read(at: position - part.plaintext.lowerBound, into: output)
                } catch {
                    throw .inPart(object.name(of: part), error)
                }
            }
            delivered += taken
            index += 1
        }
        return count
    }

    /// Does nothing, as the object does: each request looks at the version of what it asks.
    public func checkVersion() {}

    private func reader(of index: Int) throws(DecryptionError) -> PartReader {
        if let last = readers.last, last.part == index { return last.reader }
        if let position = readers.lastIndex(where: { $0.part == index }) {
            let found = readers.remove(at: position)
            readers.append(found)
            return found.reader
        }
        object.openAhead(of: index)
        let reader = try PartReader(index, of: object, windowByteCount: windowByteCount)
        if readers.count >= Self.maxReaders { readers.removeFirst() }
        readers.append((index, reader))
        return reader
    }
}

/// Reads one part of an object; belongs to one thread.
enum PartReader {
    /// Bytes as they are.
    case plain(any ByteSource)
    /// A chain of CBC, or a part of one.
    case decrypting(any RandomAccessDecryptor)

    /// Opens a part of an object; see `HLSObject.source(of:)`.
    init(_ index: Int, of object: HLSObject, windowByteCount: Int) throws(DecryptionError) {
        let source = PinnedSource(try object.source(of: index))
        guard case .aes128(_, let ciphertext, let key) = object.parts[index].content else {
            self = .plain(source)
            return
        }
        let encrypted = try ciphertext.object(over: source, backend: object.backend, key: key)
        self = .decrypting(try ciphertext.cursor(of: encrypted, windowByteCount: windowByteCount))
    }

    /// Reads bytes of the part's plaintext.
    ///
    /// - Parameters:
    ///   - offset: Relative to the part; with the buffer's length at most the plaintext's.
    ///   - buffer: Is filled.
    /// - Throws: `DecryptionError`.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) {
        switch self {
        case .plain(let source):
            try source.fetch(at: offset, into: buffer)
        case .decrypting(let cursor):
            let count = try cursor.read(at: offset, into: buffer)
            guard count == buffer.count else {
                throw .truncatedCiphertext(
                    byteCount: offset + UInt64(count), expected: "\(offset + UInt64(buffer.count)) for this read")
            }
        }
    }
}
