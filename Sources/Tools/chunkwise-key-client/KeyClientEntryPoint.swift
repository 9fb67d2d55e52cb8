import ArgumentParser
import CommandOptions
import Glibc

/// `chunkwise-key-client`, which `chunkwise key-client` starts.
struct KeyClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chunkwise key-client", abstract: "Asks key servers for keys, and measures how long players wait.",
        subcommands: [FetchKeyCommand.self, MeasureKeysCommand.self])
}

/// Where the process starts: everything that goes wrong ends here, as one line and an exit code.
@main
enum KeyClientEntryPoint {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try KeyClientCommand.parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            end(failure)
        } catch {
            let code = KeyClientCommand.exitCode(for: error)
            guard code != .success else {
                print(KeyClientCommand.fullMessage(for: error))
                return
            }
            let message = KeyClientCommand.message(for: error)
            guard code == .validationFailure else { end(CommandFailure(.io, message)) }
            let hint = message.contains("expected") ? "" : ": expected what --help shows"
            end(CommandFailure(.usage, message + hint))
        }
    }

    private static func end(_ failure: CommandFailure) -> Never {
        Terminal.writeError("chunkwise key-client: \(failure.message)")
        exit(failure.code.rawValue)
    }
}
