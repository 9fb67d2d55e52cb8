import Foundation
import TestSupport
import Testing

@Suite("a gate's formats from the command line")
struct GateFormatCommandTests {
    private static let subject = "'\(Programs.chunkwise)' subject"

    /// One short cell, hardly measured: what comes out is not of interest here.
    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file(
            "plan", "object-size: 64KiB\ncells:\n- {backend: openssl, strategy: ctr, window: 16KiB}\n")
        return folder
    }

    private func gate(
        _ options: [String], _ folder: TemporaryFolder, summary: String? = nil
    ) throws -> CommandRun {
        let gate = [
            Programs.chunkwise, "gate", "--baseline", Self.subject, "--candidate", Self.subject, "--plan", "plan",
            "--seconds", "0.1", "--seed", "1",
        ]
        let variable = summary.map { "GITHUB_STEP_SUMMARY=\($0)" }.map { [$0] } ?? ["-u", "GITHUB_STEP_SUMMARY"]
        return try CommandRun.run("/usr/bin/env", variable + gate + options, in: folder.path)
    }

    @Test("annotations go to standard output, the summary to the end of the file that the environment names")
    func github() throws {
        let folder = try folder()
        try folder.file("summary", "what an earlier step wrote\n")
        let run = try gate(
            ["--format", "github", "--write", "json=gate.json"], folder, summary: folder.path("summary"))
        #expect(run.status == Chunkwise.status(ofGate: folder.bytes("gate.json")), "\(run.errorLines)")
        #expect(run.text.split(separator: "\n").allSatisfy { $0.hasPrefix("::") } && run.text.contains("::notice"))
        let summary = String(decoding: folder.bytes("summary") ?? [], as: UTF8.self)
        #expect(summary.hasPrefix("what an earlier step wrote\n### Gate: "))
    }

    @Test("no summary is written where none is asked for", arguments: ["github", "markdown"])
    func noSummary(format: String) throws {
        let folder = try folder()
        let names = folder.names
        let summary = format == "github" ? nil : folder.path("summary")
        let run = try gate(["--format", format], folder, summary: summary)
        #expect(!run.text.isEmpty && folder.names == names)
    }

    @Test("a summary that cannot be written is an error")
    func unwritable() throws {
        let folder = try folder()
        let run = try gate(["--format", "github"], folder, summary: folder.path("none/summary"))
        #expect(run.status == 74 && run.errorLines.last?.contains("GITHUB_STEP_SUMMARY") == true)
    }

    @Test("further files are written in their formats beside what is printed")
    func files() throws {
        let folder = try folder()
        let run = try gate(
            ["--format", "json", "--write", "junit=gate.xml", "--write", "markdown=gate.md"], folder)
        #expect(run.status == Chunkwise.status(ofGate: run.output), "\(run.errorLines) \(run.text)")
        #expect(String(decoding: folder.bytes("gate.xml") ?? [], as: UTF8.self).contains("<testsuites"))
        #expect(String(decoding: folder.bytes("gate.md") ?? [], as: UTF8.self).contains("### Gate"))
    }

    @Test("a format that is none is an error of usage", arguments: [["--format", "xml"], ["--write", "gate.xml"]])
    func wrong(options: [String]) throws {
        let folder = try folder()
        Chunkwise.expectFailure(try gate(options, folder), 64)
    }
}
