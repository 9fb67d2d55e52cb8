import ArgumentParser
package import ByteSources
import CommandOptions
import Glibc
import SystemPackage

/// The command line: everything that goes wrong ends here, as one line and an exit code.
package enum CommandLineProgram {
    /// Runs what this process was asked for, and ends it if that fails.
    ///
    /// - Parameter network: What reads objects on servers; `nil` for a program that starts another one for them.
    package static func run(network: (any NetworkSources)? = nil) {
        if network == nil { Network.goOnAtOnce(CommandLine.arguments) }
        Network.$sources.withValue(network) { main() }
    }

    private static func main() {
        do {
            var command = try Chunkwise.parseAsRoot()
            try command.run()
            try flushOutput()
        } catch let failure as CommandFailure {
            end(failure)
        } catch let code as ExitCode {
            exit(code.rawValue)
        } catch {
            let code = Chunkwise.exitCode(for: error)
            guard code != .success else {
                // Help, a version, a completion script.
                print(Chunkwise.fullMessage(for: error))
                do { try flushOutput() } catch let failure as CommandFailure { end(failure) } catch {}
                return
            }
            let message = Chunkwise.message(for: error)
            guard code == .validationFailure else { end(CommandFailure(.init(error), message)) }
            // Of options that do not exist or lack a value, the parser says only what is wrong.
            let hint = message.contains("expected") ? "" : ": expected what --help shows"
            end(CommandFailure(.usage, message + hint))
        }
    }

    /// A result that nobody could be told is none. The corresponding C function is `fflush`.
    private static func flushOutput() throws {
        guard fflush(nil) == 0 else {
            throw CommandFailure(
                .io,
                "write to standard output failed: \(String(cString: strerror(errno))): expected it to take the result")
        }
    }

    private static func end(_ failure: CommandFailure) -> Never {
        Terminal.writeError("chunkwise: \(failure.message)")
        exit(failure.code.rawValue)
    }
}
