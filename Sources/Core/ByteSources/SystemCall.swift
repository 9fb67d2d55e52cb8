import Glibc
package import RandomAccess
package import Support
package import SystemPackage

/// Turns system calls into errors, and repeats interrupted ones. No other place does.
package enum SystemCall {
    /// Repeats a call while it is interrupted.
    ///
    /// - Parameters:
    ///   - operation: The operation that the error names.
    ///   - call: Returns a negative number and sets `errno` when it fails.
    /// - Returns: The result of `call`, at least 0.
    /// - Throws: `DecryptionError.io` with `errno`.
    package static func retrying(
        _ operation: @autoclosure () -> String, _ call: () -> Int
    ) throws(DecryptionError) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR { throw error(operation(), Errno(rawValue: code)) }
        }
    }

    /// Returns the error of a failed call, from `errno`.
    package static func failure(_ operation: String) -> DecryptionError {
        error(operation, Errno(rawValue: errno))
    }

    /// Flushes a file to the disk; leaves files that do not support it, such as pipes, as they are.
    package static func sync(_ operation: @autoclosure () -> String, _ call: () -> Int32) throws(DecryptionError) {
        _ = try retrying(operation()) {
            let result = Int(call())
            return result < 0 && [EINVAL, ENOTSUP, EROFS].contains(errno) ? 0 : result
        }
    }

    /// Turns the errors of swift-system into this project's errors.
    ///
    /// - Parameters:
    ///   - operation: The operation that the error names.
    ///   - body: Calls swift-system.
    /// - Returns: The result of `body`.
    /// - Throws: `DecryptionError.io`.
    package static func check<Value>(
        _ operation: @autoclosure () -> String, _ body: () throws -> Value
    ) throws(DecryptionError) -> Value {
        do {
            return try body()
        } catch {
            throw Self.error(operation(), error as? Errno ?? .ioError)
        }
    }

    private static func error(_ operation: String, _ code: Errno) -> DecryptionError {
        .io(operation: operation, code: code.rawValue, reason: code.description)
    }
}

extension FileDescriptor {
    /// Opens a file and reads all of it. The corresponding C functions are `open` and `read`.
    ///
    /// - Throws: `DecryptionError.io`.
    package static func contents(of path: FilePath) throws(DecryptionError) -> [UInt8] {
        let descriptor = try SystemCall.check("open \(path)") {
            try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        }
        defer { try? descriptor.close() }
        return try descriptor.readToEnd(path)
    }

    /// Reads the rest of the file, up to a limit. The corresponding C function is `read`.
    ///
    /// - Parameters:
    ///   - path: The name of the file in errors.
    ///   - maxByteCount: The number of bytes after which reading stops; the result may be longer by one buffer.
    /// - Returns: The bytes.
    /// - Throws: `DecryptionError.io`.
    package func readToEnd(_ path: FilePath, maxByteCount: Int = .max) throws(DecryptionError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while bytes.count <= maxByteCount {
            let count = try SystemCall.check("read \(path)") { try read(into: buffer) }
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer[..<count])
        }
        return bytes
    }
}

extension DecryptionError: ExitStatusProviding {
    /// The exit status for this error; an input file that cannot be opened has its own.
    package var exitStatus: ExitStatus {
        switch self {
        case .invalidParameter, .unsupported, .invalidIV: .usage
        case .unavailable: .noAnswer
        case .invalidKey, .invalidKeyMaterial, .truncatedCiphertext, .sourceChanged, .invalidPadding,
            .authenticationFailed, .headerRejected, .invalidHeader, .rangeOutOfBounds, .unalignedPlaintext:
            .badData
        case .io, .backend: .io
        case .layer(let error): (error.base as? any ExitStatusProviding)?.exitStatus ?? .badData
        }
    }
}

extension PartError: ExitStatusProviding {
    /// The exit status for this error.
    package var exitStatus: ExitStatus {
        switch error {
        // A piece is an input, whatever part of it is missing.
        case .io(_, code: ENOENT, _): .missingInput
        // The value comes from a list and not from an option.
        case .invalidParameter, .unsupported: .badData
        default: error.exitStatus
        }
    }
}

extension DescriptionError: ExitStatusProviding {}

extension DecryptionError {
    /// True if an input does not exist, may not be opened, or cannot be read as a file; false for a failing disk.
    package var isMissingInput: Bool {
        guard case .io(_, let code, _) = self else { return false }
        return [ENOENT, EACCES, EISDIR, ENOTDIR, ESPIPE, ELOOP].contains(code)
    }
}
