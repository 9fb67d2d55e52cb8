import ArgumentParser
import Foundation

/// Where the process starts: everything that goes wrong ends here, as one line and an exit code.
@main
enum KeysEntryPoint {
    static func main() {
        do {
            var command = try KeysCommand.parseAsRoot()
            try command.run()
        } catch let failure as KeysFailure {
            end(failure)
        } catch {
            let code = KeysCommand.exitCode(for: error)
            guard code != .success else { return print(KeysCommand.fullMessage(for: error)) }
            let message = KeysCommand.message(for: error)
            let hint = message.contains("expected") ? "" : ": expected what --help shows"
            end(KeysFailure(code == .validationFailure ? .usage : .io, message + hint))
        }
    }

    private static func end(_ failure: KeysFailure) -> Never {
        FileHandle.standardError.write(Data("chunkwise-keys: \(failure.message)\n".utf8))
        exit(failure.code.rawValue)
    }
}

/// Why a command ends: one line for standard error, and an exit code.
struct KeysFailure: Error {
    /// Source: README.md, "Output, exit codes, shells"; the numbers from 64 on are those of sysexits(3).
    enum Code: Int32 {
        case no = 1
        case noAnswer = 2
        case usage = 64
        case badData = 65
        case missingInput = 66
        case io = 74
    }

    let code: Code
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// All commands about keys.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chunkwise-keys", abstract: "Key sessions: what they must do, and what they ask of key servers.",
        subcommands: [ScenariosCommand.self, SubjectCommand.self, LoadCommand.self, PlayCommand.self])
}
