import RandomAccess
package import Support

/// The reasons that a plug-in cannot be used, or the result of one of its calls.
package enum PluginError: LayerError, ExitStatusProviding {
    /// The library does not exist, or cannot be read.
    case missing(path: String, reason: String)
    /// The file is not a library that may be loaded.
    case refused(path: String, reason: String, expected: String)
    /// A function of the table returned a result other than 0.
    case failed(function: String, result: Int32)

    /// The failure, the value, and the expectation.
    package var description: String {
        switch self {
        case .missing(let path, let reason): "plug-in \(path) cannot be opened: \(reason): expected a shared library"
        case .refused(let path, let reason, let expected): "plug-in \(path): \(reason): expected \(expected)"
        case .failed(let function, let result):
            "the plug-in's \(function) returned \(result)" + (Self.name(of: result).map { " (\($0))" } ?? "")
                + ": expected 0"
        }
    }

    /// The name of the result; a result without a name is the plug-in's own fault.
    package var protocolName: String {
        if case .failed(_, let result) = self { Self.name(of: result) ?? "internal" } else { "unsupported" }
    }

    package var exitStatus: ExitStatus {
        switch self {
        case .missing: .missingInput
        case .refused, .failed: .badData
        }
    }

    /// Returns the name of an error in PROTOCOL.md by its number in `chunkwise_result`.
    private static func name(of result: Int32) -> String? {
        let names = [
            "invalidRequest", "unsupported", "invalidKey", "invalidIV", "io", "truncatedCiphertext", "invalidPadding",
            "authenticationFailed", "rangeOutOfBounds", "internal", "invalidHeader",
        ]
        return names.indices.contains(Int(result) - 1) ? names[Int(result) - 1] : nil
    }
}

extension DecryptionError {
    static func plugin(_ error: PluginError) -> DecryptionError { .layer(AnyLayerError(error)) }
}
