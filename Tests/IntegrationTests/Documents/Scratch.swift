import Foundation
import Results
import TestSupport

/// A folder in which the commands of a document can be run as its reader would: the project's files as links, and beside
/// them what a reader has of their own.
final class Scratch {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let files = FileManager.default
        for name in ["Benchmarks", "Examples", "data", "include"] {
            let target = Project.folder.appending(path: name).resolvingSymlinksInPath().path
            try files.createSymbolicLink(atPath: folder.path(name), withDestinationPath: target)
        }
        try files.createDirectory(atPath: folder.path("bin"), withIntermediateDirectories: false)
        for name in ["chunkwise", "chunkwise-subject"] {
            try files.createSymbolicLink(
                atPath: folder.path("bin/\(name)"), withDestinationPath: Programs.built(name))
        }
        try copyReports()
        try folder.file(
            "tiny.yml", "rounds: 2\ntime: 1ms\nobject-size: 64KiB\ncells:\n- {backend: openssl, window: 16KiB}\n")
        try folder.file("key", "000102030405060708090a0b0c0d0e0f\n", isSecret: true)
        try folder.file("film.mp4", Samples.bytes(3_000_000))
    }

    /// The first cells of each published run: a report of all of them takes a debug build long.
    private func copyReports() throws {
        let files = FileManager.default
        let reports = Project.folder.appending(path: "reports").path
        try files.createDirectory(atPath: folder.path("reports"), withIntermediateDirectories: false)
        for name in try files.contentsOfDirectory(atPath: reports) {
            guard let bytes = files.contents(atPath: "\(reports)/\(name)/results.jsonl") else { continue }
            var cells: Set<String> = []
            let kept = try ResultRecord.read(Array(bytes)).records.filter { record in
                guard let id = Self.cell(of: record) else { return true }
                if cells.count < Self.cellCount { cells.insert(id) }
                return cells.contains(id)
            }
            try files.createDirectory(atPath: folder.path("reports/\(name)"), withIntermediateDirectories: false)
            try folder.file("reports/\(name)/results.jsonl", kept.flatMap { try $0.line() })
        }
    }

    private static let cellCount = 8

    /// The cell that a record is about, if it is about one.
    private static func cell(of record: ResultRecord) -> String? {
        switch record {
        case .check(let record): record.cell.id
        case .memory(let record): record.cellID
        case .latency(let record): record.cellID
        case .time(let record): record.cellID
        case .failure(let record): record.cell.id
        default: nil
        }
    }

    /// Keeps a block as a file if its first line, a comment, names one: `# my_reader.py`.
    func keep(_ block: MarkdownBlock) throws {
        guard block.language == "python", let name = block.lines.first?.dropFirst(2) else { return }
        try folder.file(String(name), block.lines.joined(separator: "\n") + "\n")
    }

    /// True if the adapters in Python can be run here.
    static let hasPython = (try? CommandRun.run("/usr/bin/env", ["python3", "-c", "import cryptography"]).status) == 0

    /// Runs a command line by the shell.
    func run(_ command: String) throws -> CommandRun {
        let script = "PATH=\"$PWD/bin:$PATH\"; export PATH PYTHONPATH=Examples/subjects\n\(command)\n"
        return try CommandRun.run("/usr/bin/env", ["timeout", "600", "bash", "-c", script], in: folder.path)
    }
}
