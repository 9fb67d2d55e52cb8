/// The pieces of an object, in order, with what it takes to read each: the segments of a playlist, the parts of an
/// upload, a film.
///
/// Several threads ask at once. The answers stay the same, but for keys, which may come late or be refused by then.
public protocol PieceList: Sendable {
    /// The number of pieces.
    var count: Int { get }

    /// The number of sources, each of which has one piece or more.
    var sourceCount: Int { get }

    /// Opens a source.
    ///
    /// - Throws: `DecryptionError`; also of each later read if the source was changed meanwhile.
    func openSource(_ source: Int) throws(DecryptionError) -> any ByteSource

    /// The source of a piece, as a number below ``sourceCount``.
    ///
    /// - Throws: `DecryptionError` for a piece that cannot be read whatever its source is.
    func source(of piece: Int) throws(DecryptionError) -> Int

    /// The place of a piece in its source.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source ends before.
    func place(of piece: Int, in source: any ByteSource) throws(DecryptionError) -> PiecePlace

    /// The key of a piece; `nil` of one that is not encrypted.
    ///
    /// - Throws: `DecryptionError` if there is none, now.
    func key(of piece: Int) throws(DecryptionError) -> SecretKey?

    /// The name of a piece in messages.
    func name(of piece: Int) -> String

    /// An error of opening a piece, with what is known of it beside.
    func explain(_ error: DecryptionError, of piece: Int) -> DecryptionError

    /// Returns what a function makes of each piece, in order; it may be called on several threads.
    func map<Result: Sendable>(_ transform: @escaping @Sendable (Int) -> Result) -> [Result]

    /// Starts work that nothing waits for; `nil` where opening sources ahead gains nothing.
    var starter: (@Sendable (@escaping @Sendable () -> Void) -> Void)? { get }
}

extension PieceList {
    /// The error itself.
    public func explain(_ error: DecryptionError, of piece: Int) -> DecryptionError { error }

    /// Calls the function on the caller's thread.
    public func map<Result: Sendable>(_ transform: @escaping @Sendable (Int) -> Result) -> [Result] {
        (0..<count).map(transform)
    }

    /// Nothing is opened ahead.
    public var starter: (@Sendable (@escaping @Sendable () -> Void) -> Void)? { nil }
}

/// The place of a piece in its source, and how it is read there.
public struct PiecePlace: Sendable {
    /// The bytes of the source.
    public var range: Range<UInt64>
    /// The format of these bytes with its values; `nil` where they are the plaintext.
    public var strategy: Strategy?
    /// The part of their plaintext that is the piece, as far as there is one; `nil` for all.
    public var window: Range<UInt64>?
    /// The length that the piece must turn out to have; `nil` for any.
    public var byteCount: UInt64?
    /// What is encrypted of these bytes, where that is some of them, and no strategy says it; `nil` for nothing.
    package var extents: ProtectedExtents?

    /// Makes a place.
    public init(
        _ range: Range<UInt64>, _ strategy: Strategy? = nil, window: Range<UInt64>? = nil, byteCount: UInt64? = nil
    ) {
        (self.range, self.strategy, self.window, self.byteCount) = (range, strategy, window, byteCount)
    }

    /// Makes a place of a film.
    package init(_ range: Range<UInt64>, _ extents: ProtectedExtents) {
        self.init(range)
        self.extents = extents
    }

    /// Refuses a key that does not fit.
    ///
    /// - Throws: `DecryptionError.invalidKey` or `.invalidKeyMaterial`.
    func check(_ key: SecretKey) throws(DecryptionError) {
        try strategy?.check(key)
        try extents?.check(key)
    }

    /// The length of the piece's plaintext, if the place tells it for sure; `nil` where the bytes have to be seen: a
    /// header, padding, or a tag that proves the length.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has.
    var toldByteCount: UInt64? {
        get throws(DecryptionError) {
            let count = range.upperBound - range.lowerBound
            guard window == nil, byteCount == nil else { return nil }
            guard let strategy else { return count }
            guard strategy.format.header.isEmpty, strategy.outer.isEmpty, !strategy.isAuthenticated,
                let geometry = strategy.geometry, geometry.isLengthTold
            else { return nil }
            return geometry.plaintextByteCount(
                ofCiphertext: count, chunkCount: try geometry.chunkCount(ofCiphertext: count))
        }
    }

    /// The length that a piece takes which cannot be opened: one byte less than there may be, and one at least.
    var brokenByteCount: UInt64 {
        let bytes = window ?? range
        return max(1, max(1, bytes.upperBound - bytes.lowerBound) - 1)
    }
}

/// An error with the name of what it happened to: a piece, a file, a key.
public struct PartError: LayerError {
    /// The name.
    public let part: String
    /// The error.
    public let error: DecryptionError

    /// What failed, the value, what was expected.
    public var description: String { "\(part): \(error)" }

    /// The error's name in the subject protocol.
    public var protocolName: String { error.protocolName }
}

extension DecryptionError {
    /// The error of a part that this one carries.
    public var partError: PartError? {
        if case .layer(let error) = self { error.base as? PartError } else { nil }
    }

    /// See ``PartError``.
    package static func inPart(_ part: String, _ error: DecryptionError) -> DecryptionError {
        .layer(AnyLayerError(PartError(part: part, error: error)))
    }
}
