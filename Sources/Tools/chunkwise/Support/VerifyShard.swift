import ArgumentParser
import BackendRegistry
import Conformance
import Glibc
import Measurement
import RandomAccess
import Results
import Support
import SystemPackage
import Vectors

/// `chunkwise verify` on many machines. A shard has groups of vectors, or a range of a search's cases.
enum VerifyShard {
    /// The approximate number of parts of a shard. Its records are complete after each part.
    private static let partsPerShard = 8
    /// The number of cases of a search after which its records are complete.
    private static let casesPerPart = 256

    /// Writes the manifest of a search's job.
    static func split(_ command: VerifyCommand.Search) throws {
        let work = Manifest.Work.search(
            options: command.tested.words, files: try files(command.tested), seed: command.seed,
            nanoseconds: UInt64(command.time / .nanoseconds(1)))
        try write(work, command.job, command.tested)
    }

    /// Writes the manifest of a job.
    static func split(_ command: VerifyCommand) throws {
        var options = command.words
        // Absolute paths, because an engine may start shards in any folder.
        for index in options.indices.dropFirst() where options[index - 1] == "--vectors" {
            options[index] = FilePath(options[index]).fromRoot.string
        }
        let (groups, _) = try command.groups()
        var parts = parts(of: groups)
        if let count = command.job.fleet.split, !command.job.fleet.replicate, !command.tested.isAsked {
            // A part may not cost more than an average shard.
            let limit = parts.reduce(0) { $0 + $1.cost } / Double(count)
            let backends = try command.backends().map(\.name)
            let missing = command.tested.own.backend.isEmpty ? Backends.unavailableNames() : []
            // Slow backends get no long reads, and missing backends get no reads, so that these are distributed last.
            let slow = backends.filter { Verification.slowBackends[$0] != nil }
            let subjects = backends.filter { !slow.contains($0) } + slow + missing
            parts = parts.flatMap { $0.divided(among: subjects, maxCost: limit) }
        }
        try write(
            .vectors(options: options, files: try files(command.tested, vectors: command.vectors)), command.job,
            command.tested, parts: parts)
    }

    private static func write(
        _ work: Manifest.Work, _ job: VerifyJobOptions, _ tested: TestedSubjects, parts: [Manifest.Part] = []
    ) throws {
        try job.fleet.write(
            work, parts: parts, program: [], to: job.folder ?? "",
            folder: tested.isAsked ? FilePath(".").fromRoot.string : nil)
    }

    /// The digests of the files that a job's options name: vectors, plug-ins, and the words of a subject's command that
    /// name files on this machine. Programs from PATH are not among them.
    private static func files(_ tested: TestedSubjects, vectors: [String] = []) throws -> [String: String] {
        var files: [String: String] = [:]
        for path in vectors.map({ FilePath($0).fromRoot.string }) + tested.libraries {
            files[path] = try attemptInput { try FileDigest.sha256(FilePath(path)) }
        }
        for word in tested.subject.flatMap(ShellText.words) {
            files[word] = try? FileDigest.sha256(FilePath(word))
        }
        return files
    }

    /// Checks that the files that a job's options name are the same as when it was split.
    private static func requireSame(_ files: [String: String], _ manifest: FilePath) throws {
        for (path, digest) in files.sorted(by: { $0.key < $1.key }) {
            let found = try attemptInput { try FileDigest.sha256(FilePath(path)) }
            try require(
                found == digest, .badData,
                "\(path) has the digest \(found.prefix(16)), and \(digest.prefix(16)) in \(manifest): expected the "
                    + "same file on all machines")
        }
    }

    /// The groups with their costs. Groups that are open at the same time form one part.
    static func parts(of groups: [VectorGroup]) -> [Manifest.Part] {
        Dictionary(grouping: groups) { $0.interleaving ?? $0.id }.sorted { $0.key < $1.key }.map { name, groups in
            Manifest.Part(
                name: name, cost: groups.reduce(0) { $0 + $1.cost }, members: groups.map(\.id),
                count: groups.reduce(0) { $0 + $1.vectorCount })
        }
    }

    /// Runs a shard.
    static func run(_ options: VerifyJobOptions, threads: Int?) throws {
        let run = try ShardRun(options.fleet, command: "verify", program: [], output: options.folder)
        if let folder = run.job.manifest.folder {
            try require(
                chdir(folder) == 0, .missingInput,
                "\(folder): \(String(cString: strerror(errno))): expected the folder in which the job was split, for "
                    + "its subject"
            )
        }
        switch run.job.manifest.work {
        case .sweep: break
        case .vectors(let options, let files):
            try requireSame(files, run.job.path)
            var command = try parsed(VerifyCommand.self, options, run.job.path)
            command.threads.threads = threads ?? command.threads.threads
            try vectors(command, run, threadCount: try command.threads.count)
        case .search(let options, let files, let seed, let nanoseconds):
            try requireSame(files, run.job.path)
            try search(
                try parsed(TestedSubjects.self, options, run.job.path), run, seed: seed,
                duration: .nanoseconds(Int64(clamping: nanoseconds))
            )
        }
    }

    private static func parsed<Options: ParsableArguments>(
        _ type: Options.Type, _ options: [String], _ manifest: FilePath
    ) throws -> Options {
        // Also fails for `--help`, which throws.
        guard let command = try? Options.parse(options) else {
            throw CommandFailure(
                .badData,
                "\(manifest): unknown options of verify: \(ShellText.joined(options)): expected a manifest that verify "
                    + "--split wrote")
        }
        return command
    }

    private static func vectors(_ command: VerifyCommand, _ run: ShardRun, threadCount: Int) throws {
        let backends = try command.backends()
        let (all, unsupportedCount) = try command.groups()
        let byID = Dictionary(grouping: all, by: \.id)
        let shard = run.shard.number
        let parts = run.job.manifest.parts(of: shard)
        for part in parts {
            let count = part.members.reduce(0) { $0 + (byID[$1]?.reduce(0) { $0 + $1.vectorCount } ?? 0) }
            try require(
                count == part.count, .badData,
                "the vectors of \(part.name) are \(count) here, and \(part.count) in the manifest: expected the same "
                    + "files on all machines")
        }
        // Every attempt has the same parts, because their costs are in the manifest.
        let limit = parts.reduce(0) { $0 + $1.cost } / Double(partsPerShard)
        var chunks: [(cost: Double, groups: [VectorGroup], subjects: [String]?)] = []
        if shard == 0, unsupportedCount > 0, !command.tested.isAsked {
            // Unsupported vectors belong to no group, and count for every backend, not only for those of the first
            // group.
            chunks.append((limit, [], nil))
        }
        for part in parts {
            let groups = part.members.flatMap { byID[$0] ?? [] }
            if let last = chunks.last, last.cost + part.cost <= limit, last.subjects == part.subjects {
                chunks[chunks.count - 1] = (last.cost + part.cost, last.groups + groups, part.subjects)
            } else {
                chunks.append((part.cost, groups, part.subjects))
            }
        }
        try run.runVectors(
            chunks.enumerated().lazy.map { number, chunk in
                {
                    let isFirst = shard == 0 && number == 0
                    func isAsked(_ name: String) -> Bool { chunk.subjects?.contains(name) ?? true }
                    return try command.verify(
                        backends.filter { isAsked($0.name) }, chunk.groups,
                        unsupportedCount: isFirst ? unsupportedCount : 0, isFirst: isFirst, threadCount: threadCount
                    ).filter { isAsked($0.subject) }
                }
            })
    }

    private static func search(_ tested: TestedSubjects, _ run: ShardRun, seed: UInt64, duration: Duration) throws {
        var subjects = try tested.searchSubjects()
        let cases = run.job.manifest.cases(of: run.shard.number)
        let clock = ContinuousClock()
        let end = clock.now.advanced(by: duration)
        let starts = stride(from: cases.lowerBound, to: cases.upperBound, by: casesPerPart)
        // The shard ends between two parts when its time is over.
        let parts = starts.lazy.prefix { $0 == cases.lowerBound || clock.now < end && !subjects.isEmpty }
        try run.runVectors(
            parts.map { start in
                {
                    let search = DifferentialSearch(
                        subjects: subjects, seed: seed, firstNumber: start,
                        isInterrupted: { Interruption.wasRequested })
                    let count = min(casesPerPart, cases.upperBound - start)
                    let outcome = search.run { drawn, tried in tried.map { _ in clock.now < end } ?? (drawn < count) }
                    let differing = Set(outcome.differences.map(\.subject))
                    defer { subjects.removeAll { differing.contains($0.name) } }
                    return subjects.map { subject in
                        let (executed, unsupported) = outcome.casesBySubject[subject.name] ?? (0, 0)
                        let failures = outcome.differences.filter { $0.subject == subject.name }.map {
                            ConformanceRecord.Failure(
                                id: "search/\(seed)/\($0.number)", flags: [],
                                reason: "\($0.searchCase.setup): \($0.reason)")
                        }
                        return ConformanceRecord(
                            subject: subject.name, passed: executed - failures.count, failed: failures.count,
                            unsupported: unsupported, notRun: 0, failures: failures)
                    }
                }
            })
    }
}

extension VectorGroup {
    /// The approximate time for all backends of a machine, in microseconds. The figures are fitted to the time of each
    /// group.
    ///
    /// A byte of a read above a mebibyte costs less, because slow backends do not get such reads.
    fileprivate var cost: Double {
        var readCost =
            if !hasStrategy {
                28.0
            } else if !strategy.isStreaming {
                60.0
            } else {
                strategy.cipher == .aesCTR ? 10.0 : strategy.chunkByteCount == nil ? 14.0 : 16.0
            }
        if threadCount > 1 { readCost += 80 }
        // Most of the time is that of the slowest backend, and grows with the rounds of AES. Source: FIPS 197, section
        // 5, table 3.
        let roundCount = Double(6 + min(32, key.byteCount) / 4)
        let byteCost = (supply == .shortReads ? 0.02 : 0.008) * roundCount
        var cost = 170.0
        for read in reads {
            let byteCount =
                switch read.expected {
                case .plaintext(let byteCount): byteCount
                case .bytes(let bytes): bytes.count
                case .error: 0
                }
            cost += readCost + Double(byteCount) * (byteCount <= 1 << 20 ? byteCost : 0.0096)
            // The reader decrypts every chunk of the read as a whole.
            if !strategy.isStreaming, let chunk = strategy.chunkByteCount, byteCount > 0 {
                let last = read.offset + UInt64(byteCount) - 1
                cost += 0.006 * Double(last / chunk - read.offset / chunk + 1) * Double(chunk)
            }
        }
        return cost
    }
}
