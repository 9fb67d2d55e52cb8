import Gate
import Measurement
import RandomAccess
import Results
import Vectors

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Why a command ends: one line for standard error, and an exit code.
package struct CommandFailure: Error, CustomStringConvertible {
    /// Source: README.md, "Output, exit codes, shells"; the numbers from 64 on are those of sysexits(3).
    package enum Code: Int32 {
        case no = 1
        case noAnswer = 2
        case usage = 64
        case badData = 65
        case missingInput = 66
        case io = 74
    }

    package let code: Code
    package let message: String

    package var description: String { message }

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = PlainText.line(message)
    }
}

extension CommandFailure.Code {
    /// The code for an error that says nothing about where it came from.
    package init(_ error: any Error) {
        switch error {
        case let error as DecryptionError: self = error.code
        case let error as SweepError: self = error.code
        case is PlanError: self = .badData
        case let error as GateError: self = error.code
        case let error as VectorFileError: self = error.kind == .malformed ? .badData : .missingInput
        default: self = .io
        }
    }
}

extension DecryptionError {
    /// The exit code for this error, apart from those of input files.
    fileprivate var code: CommandFailure.Code {
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
        case .inPart(_, let error): error.code
        case .io, .backend: .io
        }
    }
}

extension GateError {
    fileprivate var code: CommandFailure.Code {
        switch self {
        case .notStarted: .missingInput
        case .cannotMeasure, .interrupted: .noAnswer
        case .badFile: .badData
        case .noOtherCore: .usage
        case .io(let error): error.code == .usage ? .badData : error.code
        }
    }
}

extension SweepError {
    fileprivate var code: CommandFailure.Code {
        switch self {
        case .io(let error): error.code
        case .damaged, .foreignResults: .badData
        }
    }
}

/// Runs a step of a command, and ends the command if it fails.
///
/// - Parameters:
///   - context: What the error is put after, such as a file's name.
///   - body: The step.
/// - Returns: What the step returned.
/// - Throws: `CommandFailure`.
package func attempt<Value>(_ context: String? = nil, _ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let failure as CommandFailure {
        throw failure
    } catch {
        throw CommandFailure(.init(error), [context, "\(error)"].compactMap { $0 }.joined(separator: ": "))
    }
}

/// Runs a step that opens an input: what is missing, unreadable or no file has an exit code of its own.
package func attemptInput<Value>(_ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let error as DecryptionError {
        if case .io(_, let code, _) = error, [ENOENT, EACCES, EISDIR, ENOTDIR, ESPIPE, ELOOP].contains(code) {
            throw CommandFailure(.missingInput, "\(error)")
        }
        throw CommandFailure(.init(error), "\(error)")
    } catch let error as SweepError {
        if case .io(.io(_, let code, _)) = error, [ENOENT, EACCES, EISDIR, ENOTDIR, ELOOP].contains(code) {
            throw CommandFailure(.missingInput, "\(error)")
        }
        throw CommandFailure(.init(error), "\(error)")
    }
}
