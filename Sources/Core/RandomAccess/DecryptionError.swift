import Glibc

/// The reasons that an object could not be opened, read or written.
///
/// The cases are those of PROTOCOL.md, with the values for their messages. Errors contain no secrets: neither key nor
/// plaintext bytes.
public enum DecryptionError: Error, Hashable, Sendable {
    /// A parameter has an invalid value.
    case invalidParameter(name: String, value: String, expected: String)
    /// A request is valid but not supported here.
    case unsupported(String)
    /// A backend exists in this program but not on this machine.
    case unavailable(backend: String, reason: String, expected: String)
    /// The key's length is invalid for AES.
    case invalidKey(byteCount: Int)
    /// Key material from which a format derives its keys has the wrong length.
    case invalidKeyMaterial(byteCount: Int, expected: String)
    /// The IV or the initial counter block is not 16 bytes long.
    case invalidIV(byteCount: Int, expected: String = "16")
    /// The source failed. `code` is the `errno` value, or 0 if there is none.
    case io(operation: String, code: Int32, reason: String)
    /// The length is impossible for any plaintext, or the source ends earlier than it said.
    case truncatedCiphertext(byteCount: UInt64, expected: String)
    /// The source's length has changed since the object was opened.
    case sourceChanged(byteCount: UInt64, expected: UInt64)
    /// The end has invalid padding. The case has no details on purpose, since details of a padding help to decrypt
    /// (Vaudenay 2002).
    case invalidPadding
    /// A chunk's tag does not match.
    case authenticationFailed(chunk: UInt64)
    /// The header does not match the key: its commitment is wrong, or missing.
    case headerRejected(expected: String)
    /// The header belongs to another format, or has impossible values.
    case invalidHeader(expected: String)
    /// A read starts past the end of the plaintext.
    case rangeOutOfBounds(offset: UInt64, plaintextByteCount: UInt64)
    /// A strategy without padding cannot hold a plaintext of this length.
    case unalignedPlaintext(byteCount: UInt64, unit: UInt64 = 16)
    /// The crypto library failed.
    case backend(name: String, operation: String, reason: String)
    /// A higher layer failed, such as a key file or a playlist.
    case layer(AnyLayerError)
}

extension DecryptionError: CustomStringConvertible {
    /// The failure, the value, and the expectation.
    public var description: String {
        switch self {
        case .invalidParameter(let name, let value, let expected):
            "invalid \(name) \(value): expected \(expected)"
        case .unsupported(let what):
            "unsupported: \(what)"
        case .unavailable(let backend, let reason, let expected):
            "backend \"\(backend)\" is not available on this machine: \(reason): expected \(expected)"
        case .invalidKey(let byteCount):
            "the key has \(byteCount) bytes: expected 16, 24 or 32 (AES-128, AES-192 or AES-256)"
        case .invalidKeyMaterial(let byteCount, let expected):
            "the key has \(byteCount) bytes: expected \(expected)"
        case .invalidIV(let byteCount, let expected):
            "the IV has \(byteCount) bytes: expected \(expected)"
        case .io(let operation, let code, let reason):
            "\(operation) failed: \(reason)"
                + (reason.contains(": expected ") ? "" : Self.expectation(code).map { ": expected \($0)" } ?? "")
        case .truncatedCiphertext(let byteCount, let expected):
            "the ciphertext has \(byteCount) bytes: expected \(expected)"
        case .sourceChanged(let byteCount, let expected):
            "the source has \(byteCount) bytes now: expected the \(expected) that it had when it was opened"
        case .invalidPadding:
            "the padding at the end is not valid: expected PKCS#7 (wrong key, IV or parameters, or damaged data)"
        case .authenticationFailed(let chunk):
            "chunk \(chunk) is not authentic: expected a matching tag (wrong key or context, or damaged data)"
        case .headerRejected(let expected):
            "the header is not authentic: expected \(expected) (wrong key, context or parameters, or damaged data)"
        case .invalidHeader(let expected):
            "the header is that of another format, or damaged: expected \(expected)"
        case .rangeOutOfBounds(let offset, let plaintextByteCount):
            "the read starts at offset \(offset): expected at most \(plaintextByteCount), the plaintext's length"
        case .unalignedPlaintext(let byteCount, let unit):
            "the plaintext has \(byteCount) bytes: expected a multiple of \(unit), since nothing fills it up"
        case .backend(let name, let operation, let reason):
            "\(name): \(operation) failed: \(reason)"
        case .layer(let error):
            "\(error.base)"
        }
    }
}

extension DecryptionError {
    /// Returns the condition under which a system call would have succeeded, if the reason alone does not say so.
    private static func expectation(_ code: Int32) -> String? {
        switch code {
        case ENOENT, ENOTDIR: "it, and the folders above it, to exist"
        case EACCES, EPERM, EROFS: "permission for this"
        case ENOSPC, EDQUOT: "free space for all of it"
        case EFBIG: "files of that size to be allowed (ulimit -f)"
        case EISDIR: "a file"
        default: nil
        }
    }

    /// The error's name in the subject protocol. Source: PROTOCOL.md, "Transport".
    public var protocolName: String {
        switch self {
        case .invalidParameter: "invalidRequest"
        case .unsupported, .unavailable: "unsupported"
        case .invalidKey, .invalidKeyMaterial: "invalidKey"
        case .invalidIV: "invalidIV"
        case .io: "io"
        case .truncatedCiphertext, .sourceChanged: "truncatedCiphertext"
        case .invalidPadding: "invalidPadding"
        case .authenticationFailed, .headerRejected: "authenticationFailed"
        case .invalidHeader: "invalidHeader"
        case .rangeOutOfBounds: "rangeOutOfBounds"
        case .unalignedPlaintext, .backend: "internal"
        case .layer(let error): error.base.protocolName
        }
    }
}

/// An error of a layer above this one. A ``DecryptionError`` carries it through readers that do not know the layer.
public protocol LayerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error's name in the subject protocol. Source: PROTOCOL.md, "Transport".
    var protocolName: String { get }
}

/// Any ``LayerError``, as a value that can be compared.
public struct AnyLayerError: Hashable, Sendable {
    /// The error.
    public let base: any LayerError

    /// The wrapper of an error.
    public init(_ base: any LayerError) {
        self.base = base
    }

    /// Returns whether both are the same error of the same type.
    public static func == (left: AnyLayerError, right: AnyLayerError) -> Bool {
        func isEqual<Base: LayerError>(_ base: Base) -> Bool { base == right.base as? Base }
        return isEqual(left.base)
    }

    /// Hashes the error.
    public func hash(into hasher: inout Hasher) {
        base.hash(into: &hasher)
    }
}
