import ArgumentParser
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Where the process starts: everything that goes wrong ends here, as one line and an exit code.
@main
enum EntryPoint {
    static func main() {
        do {
            var command = try Chunkwise.parseAsRoot()
            try command.run()
        } catch let failure as CommandFailure {
            end(failure)
        } catch let code as ExitCode {
            exit(code.rawValue)
        } catch {
            let code = Chunkwise.exitCode(for: error)
            guard code != .success else {
                // Help, a version, a completion script.
                print(Chunkwise.fullMessage(for: error))
                return
            }
            end(CommandFailure(code == .validationFailure ? .usage : .init(error), Chunkwise.message(for: error)))
        }
    }

    private static func end(_ failure: CommandFailure) -> Never {
        Terminal.writeError("chunkwise: \(failure.message)")
        exit(failure.code.rawValue)
    }
}
