import Glibc
package import RandomAccess
package import Support
package import SystemPackage

/// The one place where system calls become errors, and where interrupted ones are repeated.
package enum SystemCall {
    /// Repeats a call while it is interrupted.
    ///
    /// - Parameters:
    ///   - operation: What is tried, for the error.
    ///   - call: Returns a negative number and sets `errno` when it fails.
    /// - Returns: What `call` returned, at least 0.
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

    /// The error of a call that has failed, by `errno`.
    package static func failure(_ operation: String) -> DecryptionError {
        error(operation, Errno(rawValue: errno))
    }

    /// Brings a file to the disk; what cannot be asked for that, such as a pipe, is left as it is.
    package static func sync(_ operation: @autoclosure () -> String, _ call: () -> Int32) throws(DecryptionError) {
        _ = try retrying(operation()) {
            let result = Int(call())
            return result < 0 && [EINVAL, ENOTSUP, EROFS].contains(errno) ? 0 : result
        }
    }

    /// Turns what swift-system throws into this project's errors.
    ///
    /// - Parameters:
    ///   - operation: What is tried, for the error.
    ///   - body: Calls swift-system.
    /// - Returns: What `body` returned.
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

    /// Reads what is left, up to a limit. The corresponding C function is `read`.
    ///
    /// - Parameters:
    ///   - path: What errors call it.
    ///   - maxByteCount: After so many bytes or a few more, reading ends.
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
    /// The exit status for this error; an input file that cannot be opened has another one.
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
        // A part is an input, whatever is missing of it.
        case .io(_, code: ENOENT, _): .missingInput
        // A list has it, and no option.
        case .invalidParameter, .unsupported: .badData
        default: error.exitStatus
        }
    }
}

extension DescriptionError: ExitStatusProviding {
    /// The exit status for this error.
    package var exitStatus: ExitStatus { .badData }
}

extension DecryptionError {
    /// Says whether an input is not there, may not be opened, or is nothing that can be read as a file: what a disk
    /// that fails is not.
    package var isMissingInput: Bool {
        guard case .io(_, let code, _) = self else { return false }
        return [ENOENT, EACCES, EISDIR, ENOTDIR, ESPIPE, ELOOP].contains(code)
    }
}
