import ArgumentParser
import CLinux
import Glibc
import RandomAccess
import Support

/// The program: it parses the command line, runs the command, and turns every error into one line and an exit code.
@main
enum EntryPoint {
    static func main() {
        ProcessStart.prepare()
        do {
            var command = try parsedCommand()
            if let asynchronous = command as? any AsyncParsableCommand {
                nonisolated(unsafe) var asynchronous = asynchronous
                try Waiting.wait { try await asynchronous.run() }
            } else {
                try command.run()
            }
            try flushOutput()
        } catch let failure as CommandFailure {
            end(failure)
        } catch let code as ExitCode {
            exit(code.rawValue)
        } catch {
            guard Chunkwise.exitCode(for: error) == .success else {
                end(CommandFailure(.init(error), Chunkwise.message(for: error)))
            }
            // Help, a version, a completion script.
            print(HelpText.wrappedUsage(Chunkwise.fullMessage(for: error), columns: Terminal.columns))
            do { try flushOutput() } catch let failure as CommandFailure { end(failure) } catch {}
        }
    }

    /// Parses the command line. Every fault in it is an error of usage.
    private static func parsedCommand() throws -> any ParsableCommand {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            try refuseUnknownCommand(arguments)
            return try Group<VerifyCommand>.command(arguments) ?? Group<ReportCommand>.command(arguments)
                ?? Group<GateCommand>.command(arguments) ?? Chunkwise.parseAsRoot(arguments)
        } catch let failure as CommandFailure {
            throw failure
        } catch  where Chunkwise.exitCode(for: error) != .success {
            throw CommandFailure(
                .usage, ParserMessage.line(Chunkwise.message(for: error), full: Chunkwise.fullMessage(for: error)))
        }
    }

    /// A command with options and subcommands, without its options. The parser would take the options of a subcommand
    /// that have the same names for those of the command, and ignore others.
    private struct Group<Command: ParsableCommand>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "chunkwise \(Command._commandName)", version: Program.version,
                subcommands: Command.configuration.subcommands)
        }

        /// Parses a command line if it begins with the command.
        static func command(_ arguments: [String]) throws -> (any ParsableCommand)? {
            guard arguments.first == Command._commandName else { return nil }
            let names = Command.configuration.subcommands.map { command in command._commandName }
            if arguments.count > 1, names.contains(arguments[1]) {
                return try parseAsRoot(Array(arguments.dropFirst()))
            }
            let command = try Chunkwise.parseAsRoot(arguments)
            let name = type(of: command)._commandName
            try require(!names.contains(name), "options before \"\(name)\": expected them after it")
            return command
        }
    }

    /// Refuses a command that does not exist, and suggests a similar name. The parser would report a superfluous
    /// argument, or show the root's help for `help`.
    private static func refuseUnknownCommand(_ arguments: [String]) throws {
        var type: any ParsableCommand.Type = Chunkwise.self
        for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let commands = type.configuration.subcommands
            guard !commands.isEmpty, !word.hasPrefix("-") else { return }
            let found = commands.first { command in command._commandName == word }
            if let found {
                type = found
                continue
            }
            // What follows report may be a folder.
            if word == "help" || type == ReportCommand.self { return }
            let names = commands.map { command in command._commandName }
            let meant = Nearest.name(to: word, in: names)
            throw CommandFailure(
                .usage,
                "unknown command \"\(word)\": expected "
                    + (meant.map { "\($0)? chunkwise --help lists all commands" } ?? names.joined(separator: ", ")))
        }
    }

    /// Flushes standard output. A result counts only if its reader got all of it. The corresponding C function is
    /// `fflush`.
    static func flushOutput() throws {
        let code = chunkwise_flush_output()
        guard code != 0 else { return }
        if code == EPIPE { ProcessStart.endWithoutReader() }
        throw CommandFailure(
            .io, "write to standard output failed: \(String(cString: strerror(code))): expected it to take the result")
    }

    /// Prints the failure and exits with its code.
    static func end(_ failure: CommandFailure) -> Never {
        Terminal.writeError("chunkwise: \(failure.message)")
        exit(failure.code.rawValue)
    }
}

/// The root of the command line.
struct Chunkwise: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chunkwise",
        abstract: "Tests and benchmarks random-access decryption: reads from the middle of encrypted files.",
        discussion: helpText(
            """
            EXAMPLES
              chunkwise run               verify, measure, report: the main job
              chunkwise backends          which crypto libraries are there?
              chunkwise verify            are all ranges right, in every backend?
              chunkwise vectors generate  write the range reads as files for any language
              chunkwise limits            how fast can any reader be on this machine?
              chunkwise plan --latency 20ms --bandwidth 100MB/s --memory 64MiB
              chunkwise measure --backend openssl --window 256KiB
              chunkwise recommend reports/2026-11-21-host --memory 64MiB --workload playback
              chunkwise gate --baseline 'old subject' --candidate 'new subject'
              chunkwise decrypt --key-file k film.enc - --range 0-1023
              chunkwise serve --key-file k film.enc
              chunkwise format list       the built-in formats

            EXIT CODES
              0 yes; 1 the answer is no; 2 no answer; 64 usage; 65 bad data; 66 missing input; 74 I/O
            """),
        version: Program.version,
        subcommands: [
            RunCommand.self, BackendsCommand.self, VerifyCommand.self, VectorsCommand.self, LimitsCommand.self,
            MeasureCommand.self, SweepCommand.self, MergeCommand.self, PlanCommand.self, GateCommand.self,
            ReportCommand.self, RecommendCommand.self, EncryptCommand.self, DecryptCommand.self, ServeCommand.self,
            KeyServerCommand.self, KeysCommand.self, TLSCheckCommand.self, SubjectCommand.self,
            PluginCommand.self, FormatCommand.self, KeyCommand.self,
        ])
}
