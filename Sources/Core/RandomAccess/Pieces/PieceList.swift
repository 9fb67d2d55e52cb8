/// The pieces of an object, in order, with everything needed to read each: the segments of a playlist, the parts of an
/// upload, a film.
///
/// Several threads call it at once. The answers never change, except for keys, which may arrive late or be refused
/// later.
public protocol PieceList: Sendable {
    /// The number of pieces.
    var count: Int { get }

    /// The number of sources, each of which has at least one piece.
    var sourceCount: Int { get }

    /// Opens a source.
    ///
    /// - Throws: `DecryptionError`; every later read throws as well if the source has changed meanwhile.
    func openSource(_ source: Int) throws(DecryptionError) -> any ByteSource

    /// Returns the source of a piece, as a number below ``sourceCount``.
    ///
    /// - Throws: `DecryptionError` for a piece that cannot be read from any source.
    func source(of piece: Int) throws(DecryptionError) -> Int

    /// Returns the place of a piece in its source.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source ends earlier.
    func place(of piece: Int, in source: any ByteSource) throws(DecryptionError) -> PiecePlace

    /// Returns the key of a piece, or those of a film; `nil` if it is not encrypted.
    ///
    /// - Throws: `DecryptionError` if the key is not available now.
    func keys(of piece: Int) throws(DecryptionError) -> KeySet?

    /// Returns the name of a piece for messages.
    func name(of piece: Int) -> String

    /// Returns an error of opening a piece, with additional information if there is any.
    func explain(_ error: DecryptionError, of piece: Int) -> DecryptionError

    /// Returns the results of a function for all pieces, in order; several threads may call the function.
    func map<Result: Sendable>(_ transform: @escaping @Sendable (Int) -> Result) -> [Result]

    /// Starts background work; `nil` if there is no gain in opening sources ahead.
    var starter: (@Sendable (@escaping @Sendable () -> Void) -> Void)? { get }
}

extension PieceList {
    /// Returns the error itself.
    public func explain(_ error: DecryptionError, of piece: Int) -> DecryptionError { error }

    /// Calls the function on the caller's thread.
    public func map<Result: Sendable>(_ transform: @escaping @Sendable (Int) -> Result) -> [Result] {
        (0..<count).map(transform)
    }

    /// `nil`: no source is opened ahead.
    public var starter: (@Sendable (@escaping @Sendable () -> Void) -> Void)? { nil }
}

/// The place of a piece in its source, and its encryption.
public struct PiecePlace: Sendable {
    /// The bytes of the source.
    public var range: Range<UInt64>
    /// The format of these bytes with its values; `nil` if they are plaintext.
    public var strategy: Strategy?
    /// The part of their plaintext that is the piece, clipped at its end; `nil` for all of it.
    public var window: Range<UInt64>?
    /// The length that the piece must have; `nil` for any.
    public var byteCount: UInt64?
    /// The encrypted extents of these bytes, if only some are encrypted and no strategy describes them; `nil` for none.
    package var extents: ProtectedExtents?

    /// A place of plaintext, or of a ciphertext.
    public init(
        _ range: Range<UInt64>, _ strategy: Strategy? = nil, window: Range<UInt64>? = nil, byteCount: UInt64? = nil
    ) {
        (self.range, self.strategy, self.window, self.byteCount) = (range, strategy, window, byteCount)
    }

    /// A place of a film.
    package init(_ range: Range<UInt64>, _ extents: ProtectedExtents) {
        self.init(range)
        self.extents = extents
    }

    /// Refuses keys of the wrong length, too few keys for a film, and several for anything else.
    ///
    /// - Throws: `DecryptionError.invalidKey` or `.invalidKeyMaterial`; `KeySetError`.
    func check(_ keys: KeySet) throws(DecryptionError) {
        if let strategy { try strategy.check(keys.single(for: strategy.name)) }
        _ = try extents?.keys(keys)
    }

    /// The length of the piece's plaintext, if the place determines it; `nil` if it depends on the bytes: a header,
    /// padding, or a tag that proves the length.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for an impossible length.
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

    /// The length of the range for a piece that cannot be opened: one byte less than the max, at least one.
    var brokenByteCount: UInt64 {
        let bytes = window ?? range
        return max(1, max(1, bytes.upperBound - bytes.lowerBound) - 1)
    }
}

/// An error with the name of its subject: a piece, a file, a key.
public struct PartError: LayerError {
    /// The name.
    public let part: String
    /// The error.
    public let error: DecryptionError

    /// The name, the failure, the value, and the expectation.
    public var description: String { "\(part): \(error)" }

    /// The error's name in the subject protocol.
    public var protocolName: String { error.protocolName }
}

extension DecryptionError {
    /// The part error inside this error, if any.
    public var partError: PartError? {
        if case .layer(let error) = self { error.base as? PartError } else { nil }
    }

    /// Wraps an error in a ``PartError``.
    package static func inPart(_ part: String, _ error: DecryptionError) -> DecryptionError {
        .layer(AnyLayerError(PartError(part: part, error: error)))
    }
}
