import CommandOptions
import Glibc
import Measurement
import Report
import Results
import Support
import SystemPackage

/// Reads a folder of results as a history.
enum HistoryReading {
    /// Reads all results in a folder, on all CPUs; says on standard error what is skipped.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - page: The folder from which the history's page will link to the runs.
    ///   - reference: The reference backend that was asked for.
    /// - Returns: The history.
    /// - Throws: `CommandFailure`: 66 for a missing folder, 2 if nothing in it could be read, 64 if no run has the backend.
    static func read(_ folder: String, linkingFrom page: FilePath, reference: String?) throws -> History {
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            let reason = errno == 0 || status.st_mode != 0 ? "it is no folder" : String(cString: strerror(errno))
            throw CommandFailure(.missingInput, "\(folder): \(reason): expected a folder of result files")
        }
        let names = try names(in: folder)
        let (top, base) = (absolute(FilePath(folder)), absolute(page))
        let outcomes = Parallel.map(names) { name in outcome(name, top: top, base: base) }
        let runs = outcomes.compactMap { try? $0.get() }
        var skipped: [SkippedFile] = []
        for (name, outcome) in zip(names, outcomes) {
            guard case .failure(let problem) = outcome else { continue }
            skipped.append(SkippedFile(path: name, reason: problem.reason))
            Terminal.writeError("chunkwise: warning: skipped \(name): \(problem.reason)")
        }
        guard !runs.isEmpty else {
            throw CommandFailure(
                .noAnswer,
                "no results in \(folder) (\(skipped.count) files skipped): expected at least one results.jsonl in it or "
                    + "in a folder below")
        }
        let history = History(runs, skipped: skipped, reference: reference)
        if let reference, !history.backends.contains(reference) {
            throw CommandFailure(
                .usage,
                "no run in \(folder) has figures of \"\(reference)\": expected --reference to be one of "
                    + history.backends.joined(separator: ", "))
        }
        return history
    }

    /// Why a file is skipped.
    private struct Problem: Error {
        var reason: String
    }

    private static func outcome(_ name: String, top: FilePath, base: FilePath) -> Result<HistoricalRun, Problem> {
        let file = top.pushing(FilePath(name))
        do {
            let results = try ResultLog.read(file).results
            // A page says more than raw results, where there is one.
            let page = file.removingLastComponent().appending("index.html")
            let target = access(page.string, R_OK) == 0 ? page : file
            let run = HistoricalRun(
                results, path: name, link: LinkText.path(from: base.string, to: target.string))
            return run.cells.isEmpty ? .failure(Problem(reason: "no cell in it has figures")) : .success(run)
        } catch {
            // The path is said already.
            if case .damaged(_, let error) = error { return .failure(Problem(reason: "\(error)")) }
            return .failure(Problem(reason: "\(error)"))
        }
    }

    /// The files that may hold results, by their paths below a folder, in order.
    private static func names(in folder: String) throws -> [String] {
        var names: [String] = []
        var folders = [""]
        while let below = folders.popLast() {
            let entries = FolderEntries.list(folder + "/" + below)
            guard !entries.isEmpty || !below.isEmpty || access(folder, R_OK | X_OK) == 0 else {
                throw CommandFailure(
                    .missingInput, "\(folder): \(String(cString: strerror(errno))): expected a folder that can be read")
            }
            for entry in entries where !entry.name.hasPrefix(".") {
                let path = below.isEmpty ? entry.name : "\(below)/\(entry.name)"
                if entry.isFolder {
                    folders.append(path)
                } else if entry.name.hasSuffix(".jsonl") || entry.name.hasSuffix(".json") {
                    // What a report wrote beside the results it was made of says the same again.
                    let isCopy = entry.name == "results.json" && entries.contains { $0.name == "results.jsonl" }
                    if !isCopy { names.append(path) }
                }
            }
        }
        return names.sorted()
    }

    /// A path without `.` and `..`, from the root. The corresponding C function is `realpath`.
    private static func absolute(_ path: FilePath) -> FilePath {
        let name = path.isEmpty ? "." : path.string
        guard let resolved = realpath(name, nil) else { return path.lexicallyNormalized() }
        defer { free(resolved) }
        return FilePath(String(cString: resolved))
    }
}
