import Synchronization

/// The pieces of a list as one plaintext with random access: one piece behind the other.
///
/// Immutable; any number of cursors on any number of threads can share an object.
///
/// The start of a piece depends on the lengths of all pieces before it. If the place of a piece determines its length,
/// the piece is opened when it is read. Any other piece is opened once at first, for its header, its padding or its
/// last tag; the object keeps its length and keys. Only a few sources stay open (``maxOpenSources``), however many
/// pieces there are.
///
/// A piece that cannot be opened does not affect the other pieces. It is listed in ``problems``, and has a range in the
/// plaintext in which every read fails, so that no read skips it silently, unless the caller leaves it out. The range
/// is one byte shorter than the ciphertext, or one byte long if that is unknown. If only the key is missing and the
/// length is known, a read asks for the key again.
public final class CompositeObject: Sendable {
    /// The pieces.
    public let list: any PieceList

    private let pool: SourcePool
    private let backend: any CipherBackend
    private let states: [State]
    /// The offset at which each piece starts, and the end of the last one.
    private let starts: [UInt64]
    /// The max number of bytes that a cursor keeps between reads.
    package let cursorByteCount: UInt64
    private let advice = Mutex(Advice())

    private enum State {
        /// The place determines the length, and the piece is opened when it is read; the error is set if it had no key
        /// at first.
        case told(DecryptionError?)
        /// The piece was opened once, and had this length.
        case opened(objectByteCount: UInt64, keys: KeySet?)
        /// The piece cannot be read, for this reason.
        case broken(DecryptionError)

        var problem: DecryptionError? {
            switch self {
            case .told(let error): error
            case .opened: nil
            case .broken(let error): error
            }
        }
    }

    /// The bytes that will be read.
    private struct Advice {
        /// Plaintext bytes.
        var range: Range<UInt64> = 0..<0
        /// The pieces whose sources have received the advice.
        var told: Set<Int> = []
        /// The end of the range of pieces that were opened ahead, or are being opened.
        var openedAhead = 0
    }

    /// The max number of pieces to open ahead of the current one, and of their bytes: as much as a fast link transfers
    /// in some round trips.
    private static let maxPiecesAhead = 8
    private static let maxBytesAhead: UInt64 = 8 << 20

    /// The max number of sources that an object keeps open in addition to those of its cursors.
    public static let maxOpenSources = 32

    /// Opens the pieces of a list. Faults of single pieces are not thrown: see ``problems`` and ``requireAll()``.
    ///
    /// - Parameters:
    ///   - list: The pieces.
    ///   - backend: The library that decrypts.
    ///   - leavesOutBroken: True to leave pieces that cannot be opened out of the plaintext, so that the rest can be
    ///     read in one go; they are still listed in ``problems``.
    public init(_ list: any PieceList, backend: any CipherBackend, leavesOutBroken: Bool = false) {
        let pool = SourcePool(list, maxOpenCount: Self.maxOpenSources)
        let opened = list.map { piece in Self.open(piece, of: list, pool, backend) }
        var (states, starts): ([State], [UInt64]) = ([], [0])
        states.reserveCapacity(opened.count)
        starts.reserveCapacity(opened.count + 1)
        var position: UInt64 = 0
        for (opened, byteCount, _) in opened {
            var state = opened
            let leftOut = leavesOutBroken ? state.problem : nil
            if let leftOut { state = .broken(leftOut) }
            // Sources of 2⁶⁴ bytes together do not exist; claimed lengths are cut there, and unreadable.
            let (end, overflow) = position.addingReportingOverflow(leftOut == nil ? byteCount : 0)
            position = overflow ? .max : end
            starts.append(position)
            states.append(overflow ? .broken(Self.tooLong) : state)
        }
        (self.list, self.pool, self.backend) = (list, pool, backend)
        (self.states, self.starts) = (states, starts)
        let (sum, isTooMuch) = (opened.map(\.cursorByteCount).max() ?? 0)
            .multipliedReportingOverflow(by: UInt64(CompositeCursor.maxReaders))
        cursorByteCount = isTooMuch ? .max : sum
    }

    private static let tooLong = DecryptionError.truncatedCiphertext(
        byteCount: .max, expected: "less than 2^64 bytes in all pieces together")

    /// Opens a piece as far as its length requires.
    private static func open(
        _ piece: Int, of list: any PieceList, _ pool: SourcePool, _ backend: any CipherBackend
    ) -> (state: State, byteCount: UInt64, cursorByteCount: UInt64) {
        var brokenByteCount: UInt64 = 1
        do throws(DecryptionError) {
            let number = try list.source(of: piece)
            let found = Result { () throws(DecryptionError) in
                let source = try pool.source(number)
                return (source: source, place: try list.place(of: piece, in: source))
            }
            if case .success(let found) = found {
                brokenByteCount = found.place.brokenByteCount
                if let byteCount = try found.place.toldByteCount {
                    return (.told(keyProblem(of: piece, found.place, list)), byteCount, 0)
                }
            }
            // The error for a missing key comes first, since it says more than that for a missing source; the length
            // does not need the key.
            let keys = try list.keys(of: piece)
            let (source, place) = try found.get()
            do throws(DecryptionError) {
                let opened = try OpenPiece(place, of: source, backend: backend, keys: keys)
                return (
                    .opened(objectByteCount: opened.objectByteCount, keys: keys), opened.byteCount,
                    opened.cursorByteCount
                )
            } catch {
                throw list.explain(error, of: piece)
            }
        } catch {
            return (.broken(error), brokenByteCount, 0)
        }
    }

    /// Returns the reason that a piece has no suitable key; `nil` if it has one, or needs none.
    private static func keyProblem(
        of piece: Int, _ place: PiecePlace, _ list: any PieceList
    ) -> DecryptionError? {
        do throws(DecryptionError) {
            if let keys = try list.keys(of: piece) { try place.check(keys) }
            return nil
        } catch {
            return error
        }
    }

    /// The plaintext's length in bytes, unreadable pieces included.
    public var plaintextByteCount: UInt64 { starts[states.count] }

    /// Returns the plaintext range of a piece.
    ///
    /// - Precondition: The list has such a piece.
    public func plaintextRange(ofPiece index: Int) -> Range<UInt64> { starts[index]..<starts[index + 1] }

    /// Returns the piece that holds the plaintext byte at `offset`; past the end, the number of pieces.
    ///
    /// - Complexity: O(log n) in the pieces.
    public func pieceIndex(at offset: UInt64) -> Int {
        var (low, high) = (0, states.count)
        while low < high {
            let middle = (low + high) / 2
            // Empty pieces end at or before the next piece's first byte.
            if starts[middle + 1] <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The pieces that cannot be read, with their errors, in order.
    public var problems: [(range: Range<UInt64>, error: DecryptionError)] {
        states.indices.compactMap { index in
            states[index].problem.map { (plaintextRange(ofPiece: index), .inPart(list.name(of: index), $0)) }
        }
    }

    /// Checks that all of the plaintext can be read.
    ///
    /// - Throws: The first of ``problems`` in the subject protocol's order of checks: errors of the list, then of keys,
    ///   then of sources, their headers, lengths, and ends.
    public func requireAll() throws(DecryptionError) {
        let order = [
            "invalidRequest", "unsupported", "invalidKey", "invalidIV", "io", "invalidHeader", "truncatedCiphertext",
            "invalidPadding",
        ]
        func rank(_ error: DecryptionError) -> Int { order.firstIndex(of: error.protocolName) ?? order.count }
        if let worst = problems.min(by: { rank($0.error) < rank($1.error) }) { throw worst.error }
    }

    /// Returns a reader for one thread.
    ///
    /// - Parameters:
    ///   - windowByteCount: The max number of plaintext bytes to decrypt in one step, at least 1.
    ///   - permit: Throws if the caller may not read a piece, or no longer; see ``CompositeCursor``.
    /// - Returns: A cursor without a position of its own.
    /// - Throws: `DecryptionError.invalidParameter`.
    public func makeCursor(
        windowByteCount: Int = .max, permit: CompositeCursor.Permission? = nil
    ) throws(DecryptionError) -> CompositeCursor {
        guard windowByteCount > 0 else {
            throw .invalidParameter(name: "window", value: "\(windowByteCount)", expected: "at least 1 byte")
        }
        return CompositeCursor(self, windowByteCount: windowByteCount, permit: permit)
    }

    /// Opens a piece to read it, and those after it if they will be read.
    ///
    /// - Throws: `DecryptionError` for a piece that is broken, has no key, or whose source is missing or has changed.
    func reader(
        of index: Int, windowByteCount: Int
    ) throws(DecryptionError) -> any RandomAccessDecryptor {
        openAhead(of: index)
        var (objectByteCount, keys): (UInt64?, KeySet?)
        switch states[index] {
        case .told: keys = try list.keys(of: index)
        case .opened(let byteCount, let opened): (objectByteCount, keys) = (byteCount, opened)
        case .broken(let error): throw error
        }
        let (source, place) = try found(index)
        let piece = try OpenPiece(
            place, of: source, backend: backend, keys: keys, objectByteCount: objectByteCount)
        let expected = starts[index + 1] - starts[index]
        guard piece.byteCount == expected else {
            throw .sourceChanged(byteCount: piece.byteCount, expected: expected)
        }
        return try piece.makeCursor(windowByteCount: windowByteCount)
    }

    /// Opens a piece's source, if necessary.
    ///
    /// Tells the source once that the piece will be read whole, if it will. A source with several pieces may be read at
    /// several places at the same time, which the advice cannot express.
    private func found(_ index: Int) throws(DecryptionError) -> (source: any ByteSource, place: PiecePlace) {
        let source = try pool.source(list.source(of: index))
        let place = try list.place(of: index, in: source)
        if place.range == 0..<source.byteCount, place.window == nil {
            // Under the lock, so that no thread reads before the source has the advice.
            advice.withLock { advice in
                guard holds(advice, index), advice.told.insert(index).inserted else { return }
                source.adviseSequential(place.range)
            }
        }
        return (source, place)
    }

    /// Opens the sources of the pieces after one that will be read, on separate threads, since each waits for a round
    /// trip.
    private func openAhead(of index: Int) {
        guard let start = list.starter else { return }
        let ahead = advice.withLock { advice -> Range<Int> in
            let first = max(index + 1, advice.openedAhead)
            var (end, byteCount) = (index + 1, UInt64(0))
            while end < states.count, end - index <= Self.maxPiecesAhead, byteCount < Self.maxBytesAhead,
                holds(advice, end)
            {
                byteCount += starts[end + 1] - starts[end]
                end += 1
            }
            advice.openedAhead = max(end, advice.openedAhead)
            return first..<max(first, end)
        }
        for index in ahead {
            if case .broken = states[index] { continue }
            // The reader of the piece gets the error.
            start { [self] in _ = try? found(index) }
        }
    }

    private func holds(_ advice: borrowing Advice, _ index: Int) -> Bool {
        advice.range.lowerBound <= starts[index] && starts[index + 1] <= advice.range.upperBound
    }

    /// Remembers a range that will be read whole and roughly in order, for the pieces that are opened from now on.
    package func adviseSequential(_ range: Range<UInt64>) {
        advice.withLock { $0 = Advice(range: range) }
    }
}
