import ArgumentParser
import ByteSources
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

/// Ends a command unless a condition holds.
func require(_ condition: Bool, _ code: CommandFailure.Code, _ message: @autoclosure () -> String) throws {
    if !condition { throw CommandFailure(code, message()) }
}

/// The same for wrong usage.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    try require(condition, .usage, message())
}

/// Returns a value that a command needs, and ends the command without it.
func require<Value>(
    _ value: Value?, _ code: CommandFailure.Code, _ message: @autoclosure () -> String
) throws -> Value {
    guard let value else { throw CommandFailure(code, message()) }
    return value
}

/// The same as for a condition, while options are parsed, where the parser must know that the usage is wrong.
func requireValid(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw ValidationError(message()) }
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
    try attempt {
        do {
            return try body()
        } catch  where isMissingInput(error) {
            throw CommandFailure(.missingInput, "\(error)")
        }
    }
}

/// Runs a step that looks at what an input holds: what is wrong with that is the input's fault, and no option's or disk's.
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
