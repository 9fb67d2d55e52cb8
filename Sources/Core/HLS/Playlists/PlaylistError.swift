public import RandomAccess
package import Support

/// The reasons that a playlist, its key, or a part of its content is unusable.
public enum PlaylistError: LayerError {
    /// The playlist is invalid; the reason starts with the line.
    case invalid(reason: String)
    /// There is no key at a URI of the playlist.
    case keyUnavailable(uri: String, reason: String)
    /// The data at a key's URI cannot be a key.
    case keyUnusable(uri: String, reason: String)
    /// A byte range is not a ciphertext in the assumed meaning, and another meaning may be right.
    indirect case misreadRange(DecryptionError, ByteRangeReading, isInitialization: Bool)

    /// The failure, the value, and the expectation.
    public var description: String {
        switch self {
        case .invalid(let reason): "invalid playlist: \(reason)"
        case .keyUnavailable(let uri, let reason): "no key for \(uri): \(reason)"
        case .keyUnusable(let uri, let reason): "the key for \(uri) cannot be used: \(reason)"
        case .misreadRange(let error, let reading, let isInitialization):
            "\(error); " + Self.otherReadings(than: reading, isInitialization ? "--map-ranges" : "--segment-ranges")
        }
    }

    private static func otherReadings(than reading: ByteRangeReading, _ option: String) -> String {
        guard reading == .ciphertext else { return "its BYTERANGE was read as \(reading): \(option) says how else" }
        return "if its BYTERANGE counts plaintext, \(option) plaintext reads it, or \(option) chain where the whole "
            + "resource is encrypted as one"
    }

    /// The error's name in the subject protocol.
    public var protocolName: String {
        switch self {
        case .invalid: "invalidRequest"
        case .keyUnavailable, .keyUnusable: "invalidKey"
        case .misreadRange(let error, _, _): error.protocolName
        }
    }
}

extension PlaylistError: ExitStatusProviding {
    /// The exit status for this error.
    package var exitStatus: ExitStatus {
        switch self {
        case .invalid, .keyUnusable: .badData
        case .keyUnavailable: .missingInput
        case .misreadRange(let error, _, _): error.exitStatus
        }
    }
}

extension DecryptionError {
    /// The playlist error inside this error, if any.
    public var playlistError: PlaylistError? {
        if case .layer(let error) = self { error.base as? PlaylistError } else { nil }
    }

    /// See ``PlaylistError/invalid(reason:)``.
    package static func invalidPlaylist(reason: String) -> DecryptionError {
        .layer(AnyLayerError(PlaylistError.invalid(reason: reason)))
    }

    /// See ``PlaylistError/keyUnavailable(uri:reason:)``.
    package static func keyUnavailable(uri: String, reason: String) -> DecryptionError {
        .layer(AnyLayerError(PlaylistError.keyUnavailable(uri: uri, reason: reason)))
    }

    /// See ``PlaylistError/keyUnusable(uri:reason:)``.
    package static func keyUnusable(uri: String, reason: String) -> DecryptionError {
        .layer(AnyLayerError(PlaylistError.keyUnusable(uri: uri, reason: reason)))
    }

    /// See ``PlaylistError/misreadRange(_:_:isInitialization:)``.
    static func misreadRange(
        _ error: DecryptionError, _ reading: ByteRangeReading, _ isInitialization: Bool
    ) -> DecryptionError {
        .layer(
            AnyLayerError(PlaylistError.misreadRange(error, reading, isInitialization: isInitialization)))
    }
}

extension PlaylistProblem {
    /// The problem as an error of an object that is opened or read.
    package var decryptionError: DecryptionError {
        // A segment with EXT-X-GAP counts as a missing file. The corresponding C constant is `ENOENT`.
        if kind == .gap { return .io(operation: "open a segment", code: 2, reason: description) }
        return kind.isUnsupported ? .unsupported("playlist \(self)") : .invalidPlaylist(reason: description)
    }
}
