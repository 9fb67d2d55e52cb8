import Glibc
package import RandomAccess
package import Support

extension DecryptionError: ExitStatusProviding {
    /// The exit status for this error, apart from those of input files.
    package var exitStatus: ExitStatus {
        switch self {
        case .invalidParameter, .unsupported, .invalidIV: .usage
        case .unavailable: .noAnswer
        case .invalidKey, .invalidKeyMaterial, .invalidKeyFile, .openToOthers, .truncatedCiphertext, .sourceChanged,
            .invalidPadding, .authenticationFailed, .headerRejected, .rangeOutOfBounds, .unalignedPlaintext,
            .invalidPlaylist, .keyUnusable:
            .badData
        case .keyUnavailable: .missingInput
        // A part is an input, whatever is missing of it.
        case .inPart(_, .io(_, code: ENOENT, _)): .missingInput
        case .inPart(_, let error): error.exitStatus
        case .io, .backend: .io
        }
    }
}
