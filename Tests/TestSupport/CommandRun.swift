package import Foundation
import Glibc

/// A program that ran to its end, with what it said.
package struct CommandRun: Sendable {
    /// The exit status, or 128 and the number of the signal that ended it.
    package let status: Int32
    /// Its standard output.
    package let output: [UInt8]
    /// The lines that it wrote to standard error.
    package let errorLines: [String]

    /// A program that did not end, with the status that `timeout` has for one.
    package static let endless = CommandRun(status: 124, output: [], errorLines: [])

    /// Its standard output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }

    /// Runs a program. Its output goes through files, so that neither side waits for the other.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - arguments: Its arguments.
    ///   - input: What it reads.
    ///   - folder: Its working directory; this process's if there is none.
    ///   - environment: Variables that it is given besides those of this process.
    /// - Returns: How it ended.
    /// - Throws: What Foundation throws if it cannot be started.
    package static func run(
        _ program: String, _ arguments: [String], input: [UInt8] = [], in folder: String? = nil,
        environment: [String: String] = [:]
    ) throws -> CommandRun {
        let streams = try TemporaryFolder()
        let process = try start(
            program, arguments, input: input, in: folder, environment: environment, streams: streams)
        process.waitUntilExit()
        return finished(process, streams: streams)
    }

    /// Starts a program whose streams are the files `in`, `out` and `err` of a folder.
    package static func start(
        _ program: String, _ arguments: [String], input: [UInt8] = [], in folder: String? = nil,
        environment: [String: String] = [:], streams: TemporaryFolder
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        if !environment.isEmpty {
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        }
        if let folder { process.currentDirectoryURL = URL(filePath: folder) }
        let inputPath = try streams.file("in", input)
        process.standardInput = try FileHandle(forReadingFrom: URL(filePath: inputPath))
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: try streams.file("out", [])))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: try streams.file("err", [])))
        // The thread of a test blocks signals, and a child would inherit that.
        var (none, own) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &own)
        defer { pthread_sigmask(SIG_SETMASK, &own, nil) }
        try process.run()
        return process
    }

    /// Returns the results of a program that has ended.
    package static func finished(_ process: Process, streams: TemporaryFolder) -> CommandRun {
        let status = process.terminationStatus
        return CommandRun(
            status: process.terminationReason == .exit ? status : 128 + status, output: streams.bytes("out") ?? [],
            errorLines: String(decoding: streams.bytes("err") ?? [], as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
                // How often they come depends on the machine.
                .filter { !$0.hasPrefix("progress: ") })
    }
}
