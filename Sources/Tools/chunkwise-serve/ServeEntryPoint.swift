import ArgumentParser
import CLinux
import CommandOptions
import Glibc

/// Where the process starts: everything that goes wrong ends here, as one line and an exit code.
@main
enum ServeEntryPoint {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        // Chunks of a megabyte are nobody's once their reader has ended.
        chunkwise_allocator_return(512 << 10)
        // A file that is called so is served as ./key-server.
        if CommandLine.arguments.dropFirst().first == KeyServerCommand.name {
            await run(KeyServerCommand.self, "chunkwise key-server", skipping: 1)
        } else {
            await run(ServeCommand.self, "chunkwise serve", skipping: 0)
        }
    }

    private static func run<Command: AsyncParsableCommand>(
        _ type: Command.Type, _ name: String, skipping count: Int
    ) async {
        do {
            var command = try Command.parse(Array(CommandLine.arguments.dropFirst(1 + count)))
            try await command.run()
        } catch let failure as CommandFailure {
            end(failure, name)
        } catch {
            let code = Command.exitCode(for: error)
            guard code != .success else {
                print(Command.fullMessage(for: error))
                return
            }
            let message = Command.message(for: error)
            guard code == .validationFailure else { end(CommandFailure(.io, message), name) }
            let hint = message.contains("expected") ? "" : ": expected what --help shows"
            end(CommandFailure(.usage, message + hint), name)
        }
    }

    private static func end(_ failure: CommandFailure, _ name: String) -> Never {
        Terminal.writeError("\(name): \(failure.message)")
        exit(failure.code.rawValue)
    }
}
