import CommandOptions
import Glibc
import Measurement
import Report
import Results
import SystemPackage

/// Results that a user names: a run's folder, or a result file.
struct ResultFiles {
    /// The result file.
    let file: FilePath
    /// The folder that it is in.
    let folder: FilePath
    /// What is in the file.
    let results: RunResults

    /// Reads results, and says on standard error what of the file is left out.
    ///
    /// - Throws: `CommandFailure`: 65 for a file that is damaged or without results, 66 for a missing one.
    init(_ name: String, requiringCells: Bool = true) throws {
        let path = FilePath(name)
        var status = stat()
        let isFolder = stat(name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        let file = isFolder ? RunFolder(path: path).resultFile : path
        let parent = file.removingLastComponent()
        self.file = file
        folder = parent.isEmpty ? "." : parent
        let results = try attemptInput { try ResultLog.read(file).results }
        self.results = results
        // A run that was killed before its first cell may have verified backends, which is worth a report.
        let isEmpty = results.cells.isEmpty && (results.isComplete || results.conformance.isEmpty)
        if requiringCells, isEmpty {
            throw CommandFailure(.badData, "\(file) holds no cells: expected at least one record of a cell")
        }
        for text in RunReport.warnings(of: results) { Terminal.writeError("chunkwise: warning: \(file): \(text)") }
    }
}
