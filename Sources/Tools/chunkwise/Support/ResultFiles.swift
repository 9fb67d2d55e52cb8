import ByteSources
import Glibc
import Measurement
import RandomAccess
import Report
import Results
import Support
import SystemPackage

/// The results in a run's folder or a result file that the user names.
struct ResultFiles {
    /// The result file.
    let file: FilePath
    /// The folder of the file.
    let folder: FilePath
    /// The results in the file; in a merged file, those of the first host.
    let results: RunResults
    /// The results of each host of a merged file.
    private(set) var hosts: [RunResults]

    /// Reads results, and warns on standard error about parts of the file that are left out.
    ///
    /// - Throws: `CommandFailure`: 65 for a file that is damaged or without results, 66 for a missing one.
    init(_ name: String, requiringCells: Bool = true, allowingHosts: Bool = false) throws {
        let path = FilePath(name)
        var status = stat()
        let isFolder = stat(name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        let file = isFolder ? RunFolder(path: path).resultFile : path
        let parent = file.removingLastComponent()
        self.file = file
        folder = parent.isEmpty ? "." : parent
        let hosts = try attemptInput {
            allowingHosts ? try ResultLog.readHosts(file) : [try ResultLog.read(file).results]
        }
        (self.hosts, results) = (hosts, hosts[0])
        // A run that was killed before its first cell may have verified backends, and deserves a report.
        let isEmpty = hosts.allSatisfy {
            $0.cells.isEmpty && ($0.isComplete && $0.header.merge == nil || $0.conformance.isEmpty)
        }
        if requiringCells, isEmpty {
            throw CommandFailure(.badData, "\(file) holds no cells: expected at least one record of a cell")
        }
        for text in hosts.flatMap(RunReport.warnings).prefix(8) { Terminal.warn("\(file): \(text)") }
    }

    /// Returns the results of each host, and keeps only the first host's.
    mutating func takeHosts() -> [RunResults] {
        defer { hosts = [] }
        return hosts
    }
}

/// Results on keys that `chunkwise keys measure` and `chunkwise keys load` write to a folder.
enum KeyResultFiles {
    /// Reads the results in a folder.
    ///
    /// - Returns: The results. Those whose file is missing are `nil`.
    /// - Throws: `CommandFailure`: 65 for a file that is damaged or of another schema, 66 for one that cannot be
    ///   opened, 74 for a disk that fails.
    static func read(_ folder: FilePath) throws -> KeyResults {
        KeyResults(
            waits: try record(folder.appending(KeyWaitsRecord.fileName)),
            load: try record(folder.appending(KeyLoadRecord.fileName)),
            loopback: try record(folder.appending(KeyLoadRecord.loopbackFileName)))
    }

    private static func record<Record: KeyRecord>(_ path: FilePath) throws -> Record? {
        let text: String
        do throws(DecryptionError) {
            text = try TextFile.read(path.string)
        } catch {
            switch error {
            case .io(_, code: ENOENT, _): return nil
            // The file is too long.
            case .io(_, code: 0, _): throw CommandFailure(.badData, "\(error)")
            default: throw CommandFailure(error.isMissingInput ? .missingInput : .io, "\(error)")
            }
        }
        return try attempt("\(path)") { try Record(file: Array(text.utf8)) }
    }
}

/// Reads a folder of results as a history.
enum HistoryReading {
    /// Reads all results in a folder, on all CPUs. Names skipped files on standard error.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - page: The folder from which the history's page will link to the runs.
    ///   - reference: The reference backend, if the user names one.
    /// - Returns: The history.
    /// - Throws: `CommandFailure`: 66 for a missing folder, 2 if it has no results, 64 if no run has the backend, 74
    ///   for a disk that fails, because a history without one of its runs would be wrong.
    static func read(_ folder: String, linkingFrom page: FilePath, reference: String?) throws -> History {
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            let reason = errno == 0 || status.st_mode != 0 ? "it is not a folder" : String(cString: strerror(errno))
            throw CommandFailure(.missingInput, "\(folder): \(reason): expected a folder of result files")
        }
        let names = try names(in: folder)
        let (top, base) = (FilePath(folder).fromRoot, page.fromRoot)
        let outcomes = Parallel.map(names) { name in outcome(name, top: top, base: base) }
        let runs = outcomes.compactMap { try? $0.get() }
        var skipped: [SkippedFile] = []
        var others: [String: Int] = [:]
        for (name, outcome) in zip(names, outcomes) {
            switch outcome {
            case .success: break
            case .failure(.failed(let error)): throw CommandFailure(.io, "\(error)")
            case .failure(.otherKind(let schema)): others[schema, default: 0] += 1
            case .failure(.unreadable(let reason)):
                skipped.append(SkippedFile(path: name, reason: reason))
                Terminal.writeError("chunkwise: warning: skipped \(name): \(reason)")
            }
        }
        let otherCount = others.values.reduce(0, +)
        try require(
            !runs.isEmpty, .noAnswer,
            "no results in \(folder) (\(skipped.count + otherCount) files skipped): expected at least one "
                + "results.jsonl in it or in a folder below")
        if otherCount > 0 {
            let kinds = others.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }.joined(separator: ", ")
            Terminal.writeError("chunkwise: skipped \(otherCount) files that are not results of runs: \(kinds)")
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

    /// The result files in a folder that exists. A history may replace other files, such as an earlier one in JSON.
    static func resultFiles(in folder: String) throws -> [String] {
        try names(in: folder).filter { $0.hasSuffix(".jsonl") }.map { "\(folder)/\($0)" }
    }

    /// A reason to skip a file.
    private enum Problem: Error {
        case unreadable(String)
        /// An error of the disk, which ends the command.
        case failed(DecryptionError)
        /// A file of another kind from this program, with its schema.
        case otherKind(String)
    }

    private static func outcome(_ name: String, top: FilePath, base: FilePath) -> Result<HistoricalRun, Problem> {
        let file = top.pushing(FilePath(name))
        do throws(SweepError) {
            let results = try ResultLog.read(file).results
            // Links to the page if there is one, because it says more than raw results.
            let page = file.removingLastComponent().appending("index.html")
            let target = access(page.string, R_OK) == 0 ? page : file
            let run = HistoricalRun(
                results, path: name, link: LinkText.path(from: base.string, to: target.string))
            return run.cells.isEmpty ? .failure(.unreadable("no cell in it has figures")) : .success(run)
        } catch .damaged(_, let error) {
            if let schema = otherKind(file, error) { return .failure(.otherKind(schema)) }
            // The message has the path already.
            return .failure(.unreadable("\(error)"))
        } catch .io(let error) where !error.isMissingInput {
            return .failure(.failed(error))
        } catch {
            return .failure(.unreadable("\(error)"))
        }
    }

    /// The schema of a file from this program that does not hold results; `nil` for any other file.
    private static func otherKind(_ file: FilePath, _ error: ResultsError) -> String? {
        let schema: String?
        if case .unknownSchema(let found) = error {
            schema = found
        } else {
            let text = try? TextFile.read(file.string)
            schema = text.flatMap { JSONValue.parse(Array($0.utf8))?["schema"]?.string }
        }
        let results = RunHeader.currentSchema.prefix { !$0.isNumber }
        return schema.flatMap { $0.hasPrefix("chunkwise-") && !$0.hasPrefix(results) ? $0 : nil }
    }

    /// The sorted paths, relative to a folder, of the files that may hold results.
    private static func names(in folder: String) throws -> [String] {
        var names: [String] = []
        var folders = [""]
        while let below = folders.popLast() {
            let entries: [Folder.Entry]
            do throws(DecryptionError) {
                entries = try Folder.entries(in: folder + "/" + below)
            } catch {
                guard case .io(_, let code, let reason) = error, [ENOENT, ENOTDIR, EACCES].contains(code) else {
                    throw error
                }
                // Skips a subfolder that was removed or that this user cannot read.
                if !below.isEmpty { continue }
                throw CommandFailure(.missingInput, "\(folder): \(reason): expected a folder that can be read")
            }
            for entry in entries where !entry.name.hasPrefix(".") {
                let path = below.isEmpty ? entry.name : "\(below)/\(entry.name)"
                if entry.isFolder {
                    folders.append(path)
                } else if entry.name.hasSuffix(".jsonl") || entry.name.hasSuffix(".json") {
                    // A report writes results.json beside the results that it is made of; it would count twice.
                    let isCopy = entry.name == "results.json" && entries.contains { $0.name == "results.jsonl" }
                    if !isCopy { names.append(path) }
                }
            }
        }
        return names.sorted()
    }
}

extension FilePath {
    /// The absolute path without `.` and `..`. Its end need not exist. The corresponding C function is `realpath`.
    var fromRoot: FilePath {
        guard let resolved = realpath(isEmpty ? "." : string, nil) else {
            guard let last = lastComponent else {
                guard isEmpty, let current = getcwd(nil, 0) else { return self }
                defer { free(current) }
                return FilePath(String(cString: current))
            }
            return removingLastComponent().fromRoot.appending(last).lexicallyNormalized()
        }
        defer { free(resolved) }
        return FilePath(String(cString: resolved))
    }
}
