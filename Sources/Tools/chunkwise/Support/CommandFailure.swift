import ArgumentParser
import ByteSources
import Measurement
import RandomAccess
import Support

/// The failure that ends a command: one line for standard error, and an exit code.
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
    /// The exit status of an error; `io` if the error has none.
    init(_ error: any Error) { self = (error as? any ExitStatusProviding)?.exitStatus ?? .io }
}

/// Throws a `CommandFailure` unless a condition holds.
func require(_ condition: Bool, _ code: CommandFailure.Code, _ message: @autoclosure () -> String) throws {
    if !condition { throw CommandFailure(code, message()) }
}

/// Throws a `CommandFailure` for wrong usage unless a condition holds.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    try require(condition, .usage, message())
}

/// Returns a value, or throws a `CommandFailure` if it is `nil`.
func require<Value>(
    _ value: Value?, _ code: CommandFailure.Code, _ message: @autoclosure () -> String
) throws -> Value {
    guard let value else { throw CommandFailure(code, message()) }
    return value
}

/// Throws a `ValidationError` unless a condition holds. This is for use while options are parsed, so that the parser
/// knows of the wrong usage.
func requireValid(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw ValidationError(message()) }
}

/// Runs a step of a command, and turns its errors into failures of the command.
///
/// - Parameters:
///   - context: The start of the message, such as a file's name.
///   - body: The step.
/// - Returns: The result of the step.
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

/// Runs a step that opens an input. An input that is missing, unreadable or not a file has its own exit code.
func attemptInput<Value>(_ body: () throws -> Value) throws -> Value {
    try attempt {
        do {
            return try body()
        } catch  where isMissingInput(error) {
            throw CommandFailure(.missingInput, "\(error)")
        }
    }
}

/// Runs a step that examines an input's content. Every failure has the exit code of bad data.
func attemptData<Value>(_ context: String? = nil, _ body: () throws -> Value) throws -> Value {
    do {
        return try attempt(context, body)
    } catch let failure as CommandFailure {
        throw CommandFailure(.badData, failure.message)
    }
}

private func isMissingInput(_ error: any Error) -> Bool {
    switch error {
    case let error as DecryptionError: error.isMissingInput
    case SweepError.io(let error): error.isMissingInput
    default: false
    }
}
