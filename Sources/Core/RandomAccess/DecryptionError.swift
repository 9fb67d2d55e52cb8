import Glibc

/// Why an object could not be opened, read or written.
///
/// The cases are those that PROTOCOL.md names, with what they need to explain themselves. Nothing in them is secret:
/// neither key nor plaintext bytes ever become part of an error.
public enum DecryptionError: Error, Hashable, Sendable {
    /// A parameter has a value that cannot be.
    case invalidParameter(name: String, value: String, expected: String)
    /// Understood, but not offered here.
    case unsupported(String)
    /// A backend that this program knows and this machine lacks.
    case unavailable(backend: String, reason: String, expected: String)
    /// The key has a length that AES does not know.
    case invalidKey(byteCount: Int)
    /// A key that a format derives its own from has a length that the format does not take.
    case invalidKeyMaterial(byteCount: Int, expected: String)
    /// The IV or the initial counter block is not 16 bytes long.
    case invalidIV(byteCount: Int, expected: String = "16")
    /// The source failed. `code` is the `errno` value, 0 where there is none.
    case io(operation: String, code: Int32, reason: String)
    /// A length that no plaintext has, or a source that ends earlier than it said.
    case truncatedCiphertext(byteCount: UInt64, expected: String)
    /// The source's length is not the one it had when the object was opened.
    case sourceChanged(byteCount: UInt64, expected: UInt64)
    /// The end does not unpad. Deliberately without any detail, since details of a padding help to decrypt
    /// (Vaudenay 2002).
    case invalidPadding
    /// A chunk's tag does not match.
    case authenticationFailed(chunk: UInt64)
    /// The header is not that of the key: its commitment does not match, or it is none.
    case headerRejected(expected: String)
    /// The header is that of another format, or has values that no object has.
    case invalidHeader(expected: String)
    /// A read starts past the end of the plaintext.
    case rangeOutOfBounds(offset: UInt64, plaintextByteCount: UInt64)
    /// A plaintext that a strategy without padding cannot hold.
    case unalignedPlaintext(byteCount: UInt64, unit: UInt64 = 16)
    /// The crypto library failed.
    case backend(name: String, operation: String, reason: String)
    /// An error of a layer above this one, such as a key file's or a playlist's.
    case layer(AnyLayerError)
}

extension DecryptionError: CustomStringConvertible {
    /// What failed, the value, what was expected.
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
    /// What would have had to be for a system call not to fail, where the reason alone does not tell.
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

/// An error of a layer above this one, which a ``DecryptionError`` carries through readers that know nothing of it.
public protocol LayerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error's name in the subject protocol. Source: PROTOCOL.md, "Transport".
    var protocolName: String { get }
}

/// Any ``LayerError``, as a value that can be compared.
public struct AnyLayerError: Hashable, Sendable {
    /// The error.
    public let base: any LayerError

    /// Wraps an error.
    public init(_ base: any LayerError) {
        self.base = base
    }

    /// Whether both are the same error of the same type.
    public static func == (left: AnyLayerError, right: AnyLayerError) -> Bool {
        func isEqual<Base: LayerError>(_ base: Base) -> Bool { base == right.base as? Base }
        return isEqual(left.base)
    }

    /// Hashes the error.
    public func hash(into hasher: inout Hasher) {
        base.hash(into: &hasher)
    }
}
