import ArgumentParser
import CommandOptions
import Glibc

/// Where the process starts: everything that goes wrong ends here, as one line and an exit code.
@main
enum TLSCheckEntryPoint {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            let command = try TLSCheckCommand.parse()
            try await command.run()
        } catch let failure as CommandFailure {
            end(failure)
        } catch {
            let code = TLSCheckCommand.exitCode(for: error)
            guard code != .success else {
                print(TLSCheckCommand.fullMessage(for: error))
                return
            }
            let message = TLSCheckCommand.message(for: error)
            guard code == .validationFailure else { end(CommandFailure(.io, message)) }
            let hint = message.contains("expected") ? "" : ": expected what --help shows"
            end(CommandFailure(.usage, message + hint))
        }
    }

    private static func end(_ failure: CommandFailure) -> Never {
        Terminal.writeError("chunkwise tls-check: \(failure.message)")
        exit(failure.code.rawValue)
    }
}
