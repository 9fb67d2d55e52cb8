import ArgumentParser
import CAllocator
import CommandOptions

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Where the process starts: everything that goes wrong ends here, as one line and an exit code.
@main
enum ServeEntryPoint {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        // Chunks of a megabyte are nobody's once their reader has ended.
        chunkwise_allocator_return(512 << 10)
        do {
            let command = try ServeCommand.parse()
            try await command.run()
        } catch let failure as CommandFailure {
            end(failure)
        } catch {
            let code = ServeCommand.exitCode(for: error)
            guard code != .success else {
                print(ServeCommand.fullMessage(for: error))
                return
            }
            let message = ServeCommand.message(for: error)
            guard code == .validationFailure else { end(CommandFailure(.io, message)) }
            let hint = message.contains("expected") ? "" : ": expected what --help shows"
            end(CommandFailure(.usage, message + hint))
        }
    }

    private static func end(_ failure: CommandFailure) -> Never {
        Terminal.writeError("chunkwise serve: \(failure.message)")
        exit(failure.code.rawValue)
    }
}
