package import RandomAccess
package import Support

extension DecryptionError: ExitStatusProviding {
    /// The exit status for this error; an input file that cannot be opened has another one.
    package var exitStatus: ExitStatus {
        switch self {
        case .invalidParameter, .unsupported, .invalidIV: .usage
        case .unavailable: .noAnswer
        case .invalidKey, .invalidKeyMaterial, .truncatedCiphertext, .sourceChanged, .invalidPadding,
            .authenticationFailed, .headerRejected, .rangeOutOfBounds, .unalignedPlaintext:
            .badData
        case .io, .backend: .io
        case .layer(let error): (error.base as? any ExitStatusProviding)?.exitStatus ?? .badData
        }
    }
}
