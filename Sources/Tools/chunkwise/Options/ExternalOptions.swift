import ArgumentParser
import BackendRegistry
import ByteSources
import Conformance
import Measurement
import Results
import Support
import SystemPackage
import Vectors

/// The options of `sweep` and `run` that add plug-ins and programs to a plan's backends.
struct AddedOptions: ParsableArguments {
    @Option(
        help: .taking(
            "library",
            """
            Also measure this plug-in, given by the absolute path of its shared library, in all cells for which the \
            plan names backends; see docs/plugins.md. May be repeated.
            """), completion: .file(extensions: ["so"]))
    var plugin: [String] = []

    @Option(
        help: .taking(
            "command",
            """
            Also measure this program, which speaks the subject protocol, in all cells for which the plan names \
            backends and that read a file on one thread. May be repeated.
            """))
    var subject: [String] = []

    /// The names of the plug-ins and programs.
    var backends: [String] {
        plugin.map { BackendRegistry.pluginPrefix + $0 } + subject.map { MeasuredProgram.prefix + $0 }
    }
}

/// The options of `verify` and its subcommands that say what is tested: backends, or programs that speak the subject
/// protocol.
struct TestedSubjects: ParsableArguments {
    @OptionGroup var own: TestedBackends

    @Option(
        help: .taking(
            "command", "Test this program, which speaks the subject protocol, instead of backends. May be repeated."))
    var subject: [String] = []

    @Option(
        help: .taking(
            "library", "Test this plug-in, given by the absolute path of its shared library. May be repeated."),
        completion: .file(extensions: ["so"]))
    var plugin: [String] = []

    @Option(
        help: .taking(
            "time", "The timeout for each reply of a subject, in seconds or as a time such as 500ms. (default: 10s)"),
        transform: Duration.argument(.seconds, 0.1...3600))
    var timeout: Duration?
    /// The timeout for each reply.
    var answerTime: Duration { timeout ?? .seconds(10) }

    /// The names of backends from outside of this program: plug-ins and OpenSSL's providers.
    var foreign: [String] = []

    /// The names of plug-ins and providers.
    var foreignNames: [String] { plugin.map { BackendRegistry.pluginPrefix + $0 } + foreign }

    /// The paths of plug-ins.
    var libraries: [String] {
        foreignNames.filter { $0.hasPrefix(BackendRegistry.pluginPrefix) }
            .map { String($0.dropFirst(BackendRegistry.pluginPrefix.count)) }
    }

    /// The commands of all subjects, plug-ins and providers.
    var commands: [String] { subject + foreignNames.map(ForeignBackend.command) }

    /// Loads each plug-in and provider once, so that one that does not load is an error instead of a failed test.
    func check() throws {
        for name in foreignNames { _ = try ForeignBackend(name, timeout: timeout ?? .seconds(60)) }
    }

    /// True if there is a subject.
    var isAsked: Bool { !commands.isEmpty }

    enum CodingKeys: String, CodingKey {
        case own, subject, plugin, timeout
    }

    mutating func validate() throws {
        foreign = own.backend.filter(BackendRegistry.isForeign)
        subject += own.backend.compactMap(MeasuredProgram.command)
        own.backend.removeAll(where: ForeignBackend.isForeign)
        try requireValid(
            !isAsked || own.backend.isEmpty, "--subject or --plugin beside --backend: expected it alone, or none")
    }

    /// The options as words, for the shards of a job.
    var words: [String] {
        func options(_ name: String, _ values: [String]) -> [String] { values.flatMap { [name, $0] } }
        return options("--backend", own.backend + foreign) + options("--subject", subject)
            + options("--plugin", plugin) + options("--timeout", timeout.map { [TimeText.text($0)] } ?? [])
    }

    /// The subjects as a differential search takes them.
    func searchSubjects() throws -> [any SubjectUnderTest] {
        guard isAsked else { return Backends.subjects(try own.backends()) }
        Interruption.ignoreBrokenPipes()
        return try commands.map { command in
            do throws(ExternalVerification.Failure) {
                return try ExternalSubject(
                    command: command, timeout: answerTime, isInterrupted: { Interruption.wasRequested })
            } catch {
                throw Self.failure(error, command)
            }
        }
    }

    /// The failure for a subject that does not start.
    static func failure(_ error: ExternalVerification.Failure, _ command: String) -> CommandFailure {
        switch error {
        case .notStarted(let reason):
            CommandFailure(
                .missingInput, "subject \"\(command)\" did not start: \(reason): expected a command for /bin/sh")
        }
    }

    /// Runs the vectors on every subject, one after the other.
    ///
    /// With `checksProtocol`, also runs the checks of the protocol, which belong to no group. With `all`, runs all
    /// vectors instead of a selection. With `isStrict`, errors of the protocol are failures.
    func verify(
        _ groups: [VectorGroup], checksProtocol: Bool, all: Bool, isStrict: Bool
    ) throws -> [ConformanceRecord] {
        // Ctrl-C ends the check that is running, and its subject with it.
        Interruption.install()
        defer { Terminal.clearProgress() }
        let tier = all ? nil : VectorTier(of: groups)
        var records: [ConformanceRecord] = []
        for command in commands {
            let verification = ExternalVerification(
                command: command, timeout: answerTime, runsEverything: all, checksProtocol: checksProtocol,
                isStrict: isStrict, explainingWith: Backends.available().first,
                isInterrupted: { Interruption.wasRequested })
            do throws(ExternalVerification.Failure) {
                let display = ProgressDisplay()
                var record = try verification.run(groups, tier: tier) { finished, total in
                    display.show(finished, of: total, "groups of vectors", name: command)
                }.record
                record.program = .init(command: command, files: CommandFiles.pins(of: command))
                records.append(record)
            } catch {
                throw Self.failure(error, command)
            }
        }
        return records
    }
}

/// The files that a command line names.
enum CommandFiles {
    /// The files in a command line with their digests: each word that is a file's path, and the program, which is found
    /// as a shell finds it. Of a script, the files with the same extension in its folder are included, because it may
    /// import them.
    static func pins(of command: String) -> [Evidence.VectorFilePin] {
        let words = command.split(whereSeparator: { " \t\n'\"=".contains($0) }).map(String.init)
        var seen: Set<FilePath> = []
        return words.enumerated().flatMap { index, word -> [FilePath] in
            guard let path = path(word, isProgram: index == 0) else { return [] }
            return [path] + (index == 0 ? [] : siblings(of: path))
        }.compactMap { path in
            guard seen.insert(path.lexicallyNormalized()).inserted, let digest = try? FileDigest.sha256(path) else {
                return nil
            }
            return .init(name: path.lastComponent?.string ?? path.string, sha256: digest)
        }
    }

    private static let maxSiblings = 100

    private static func siblings(of path: FilePath) -> [FilePath] {
        let folder = path.removingLastComponent()
        guard let suffix = path.extension,
            let entries = try? Folder.entries(in: folder.isEmpty ? "." : folder.string)
        else { return [] }
        return entries.map(\.name).filter { $0.hasSuffix("." + suffix) }.sorted().prefix(maxSiblings)
            .map { folder.appending($0) }
    }

    private static func path(_ word: String, isProgram: Bool) -> FilePath? {
        let folders = ThisHost.variable("PATH")?.split(separator: ":").map(String.init) ?? []
        let paths = isProgram && !word.contains("/") ? folders.map { FilePath($0).appending(word) } : [FilePath(word)]
        return paths.first { OutputFile.identity(of: $0.string) != nil }
    }
}
