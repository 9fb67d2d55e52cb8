import Glibc
import Measurement
import RandomAccess
import Support

/// Why a command ends: one line for standard error, and an exit code.
struct CommandFailure: Error, CustomStringConvertible {
    typealias Code = ExitStatus

    let code: Code
    let message: String

    var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = PlainText.line(message)
    }
}

extension ExitStatus {
    /// The status for an error that says nothing about where it came from.
    init(_ error: any Error) { self = (error as? any ExitStatusProviding)?.exitStatus ?? .io }
}

/// Runs a step of a command, and ends the command if it fails.
///
/// - Parameters:
///   - context: What the error is put after, such as a file's name.
///   - body: The step.
/// - Returns: What the step returned.
/// - Throws: `CommandFailure`.
func attempt<Value>(_ context: String? = nil, _ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let failure as CommandFailure {
        throw failure
    } catch {
        throw CommandFailure(.init(error), [context, "\(error)"].compactMap { $0 }.joined(separator: ": "))
    }
}

/// Runs a step that opens an input: what is missing, unreadable or no file has an exit code of its own.
func attemptInput<Value>(_ body: () throws -> Value) throws -> Value {
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
