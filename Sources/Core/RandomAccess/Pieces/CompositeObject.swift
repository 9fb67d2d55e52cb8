import Synchronization

/// The pieces of a list as one plaintext that can be read from the middle: one piece behind the other.
///
/// Immutable, and shared by any number of cursors on any number of threads.
///
/// The start of a piece is known only when the lengths of those before it are. A piece whose place tells its length is
/// opened when it is read; any other is opened once at first, for its header, its padding or its last tag, and its
/// length and key are kept. A few sources are kept open (``maxOpenSources``), whatever the number of pieces.
///
/// A piece that cannot be opened does not keep the rest from being read: it is listed in ``problems``, and keeps a
/// range of the plaintext, of which every read fails. That is one byte less than its ciphertext, or one byte where that
/// is not known, so that no read passes over it in silence; unless it is to be left out. If only its key is missing,
/// and its length is known without, a read asks for the key again.
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
        /// Opened when it is read, since its place tells its length; with the error if it had no key at first.
        case told(DecryptionError?)
        /// Opened once, and found to have this length.
        case opened(objectByteCount: UInt64, key: SecretKey?)
        /// Nothing that can be read, for this reason.
        case broken(DecryptionError)

        var problem: DecryptionError? {
            switch self {
            case .told(let error): error
            case .opened: nil
            case .broken(let error): error
            }
        }
    }

    /// The bytes that are going to be read.
    private struct Advice {
        /// Plaintext bytes.
        var range: Range<UInt64> = 0..<0
        /// The pieces whose sources were told.
        var told: Set<Int> = []
        /// The pieces up to here were opened ahead, or are being opened.
        var openedAhead = 0
    }

    /// The max number of pieces that are opened ahead of the one that is read, and of their bytes: as much as a fast
    /// link brings in some round trips.
    private static let maxPiecesAhead = 8
    private static let maxBytesAhead: UInt64 = 8 << 20

    /// The max number of sources that an object keeps open beside those that its cursors read.
    public static let maxOpenSources = 32

    /// Opens the pieces of a list. The faults of single pieces are not thrown: see ``problems`` and ``requireAll()``.
    ///
    /// - Parameters:
    ///   - list: The pieces.
    ///   - backend: The library that decrypts.
    ///   - leavesOutBroken: `true` if pieces that cannot be opened have no place in the plaintext, so that the rest can
    ///     be read in one go; they are among ``problems`` all the same.
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
            // Sources of 2⁶⁴ bytes together do not exist; what claims to be is cut there, and not readable.
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

    /// Opens a piece as far as is needed to know its length.
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
            // A missing key says more than a missing source; without it, the length is known all the same.
            let key = try list.key(of: piece)
            let (source, place) = try found.get()
            do throws(DecryptionError) {
                let opened = try OpenPiece(place, of: source, backend: backend, key: key)
                return (
                    .opened(objectByteCount: opened.objectByteCount, key: key), opened.byteCount,
                    opened.cursorByteCount
                )
            } catch {
                throw list.explain(error, of: piece)
            }
        } catch {
            return (.broken(error), brokenByteCount, 0)
        }
    }

    /// The reason why a piece has no key that fits; `nil` if it has one, or needs none.
    private static func keyProblem(
        of piece: Int, _ place: PiecePlace, _ list: any PieceList
    ) -> DecryptionError? {
        do throws(DecryptionError) {
            if let key = try list.key(of: piece) { try place.check(key) }
            return nil
        } catch {
            return error
        }
    }

    /// The plaintext's length in bytes, what cannot be read included.
    public var plaintextByteCount: UInt64 { starts[states.count] }

    /// The plaintext of a piece.
    ///
    /// - Precondition: The list has such a piece.
    public func plaintextRange(ofPiece index: Int) -> Range<UInt64> { starts[index]..<starts[index + 1] }

    /// The piece that holds the plaintext byte at `offset`; past the end, the number of pieces.
    ///
    /// - Complexity: O(log n) in the pieces.
    public func pieceIndex(at offset: UInt64) -> Int {
        var (low, high) = (0, states.count)
        while low < high {
            let middle = (low + high) / 2
            // Empty pieces have their end at or before any byte behind them.
            if starts[middle + 1] <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The pieces that cannot be read, and why, in order.
    public var problems: [(range: Range<UInt64>, error: DecryptionError)] {
        states.indices.compactMap { index in
            states[index].problem.map { (plaintextRange(ofPiece: index), .inPart(list.name(of: index), $0)) }
        }
    }

    /// Makes sure that all of the plaintext can be read.
    ///
    /// - Throws: Of ``problems``, the first of those that come first in the subject protocol's order of checks: what
    ///   the list says, then keys, then sources, their headers, lengths, and ends.
    public func requireAll() throws(DecryptionError) {
        let order = [
            "invalidRequest", "unsupported", "invalidKey", "invalidIV", "io", "invalidHeader", "truncatedCiphertext",
            "invalidPadding",
        ]
        func rank(_ error: DecryptionError) -> Int { order.firstIndex(of: error.protocolName) ?? order.count }
        if let worst = problems.min(by: { rank($0.error) < rank($1.error) }) { throw worst.error }
    }

    /// Makes a reader for one thread.
    ///
    /// - Parameters:
    ///   - windowByteCount: The max number of plaintext bytes that are decrypted in one step, at least 1.
    ///   - permit: Throws if a piece may not be read, or no longer; see ``CompositeCursor``.
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

    /// Opens a piece to read it, and those after it if they are going to be read.
    ///
    /// - Throws: `DecryptionError` for a piece that is broken, has no key, or whose source is gone or another one by
    ///   now.
    func reader(
        of index: Int, windowByteCount: Int
    ) throws(DecryptionError) -> any RandomAccessDecryptor {
        openAhead(of: index)
        var (objectByteCount, key): (UInt64?, SecretKey?)
        switch states[index] {
        case .told: key = try list.key(of: index)
        case .opened(let byteCount, let opened): (objectByteCount, key) = (byteCount, opened)
        case .broken(let error): throw error
        }
        let (source, place) = try found(index)
        let piece = try OpenPiece(
            place, of: source, backend: backend, key: key, objectByteCount: objectByteCount)
        let expected = starts[index + 1] - starts[index]
        guard piece.byteCount == expected else {
            throw .sourceChanged(byteCount: piece.byteCount, expected: expected)
        }
        return try piece.makeCursor(windowByteCount: windowByteCount)
    }

    /// Opens a piece's source, if need be.
    ///
    /// Tells it that the piece is going to be read whole, if it is, and once. Of a source that has other pieces as
    /// well, several are read side by side, which a source cannot be told.
    private func found(_ index: Int) throws(DecryptionError) -> (source: any ByteSource, place: PiecePlace) {
        let source = try pool.source(list.source(of: index))
        let place = try list.place(of: index, in: source)
        if place.range == 0..<source.byteCount, place.window == nil {
            // Under the lock, so that no thread reads before the source knows.
            advice.withLock { advice in
                guard holds(advice, index), advice.told.insert(index).inserted else { return }
                source.adviseSequential(place.range)
            }
        }
        return (source, place)
    }

    /// Opens the sources of the pieces after one that is going to be read, on threads of their own, where each waits
    /// for a round trip.
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
            // What fails here is said to the one who reads the piece.
            start { [self] in _ = try? found(index) }
        }
    }

    private func holds(_ advice: borrowing Advice, _ index: Int) -> Bool {
        advice.range.lowerBound <= starts[index] && starts[index + 1] <= advice.range.upperBound
    }

    /// Remembers a range that is going to be read whole and about in order, for the pieces that are opened from now on.
    package func adviseSequential(_ range: Range<UInt64>) {
        advice.withLock { $0 = Advice(range: range) }
    }
}
