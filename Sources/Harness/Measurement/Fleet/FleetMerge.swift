import ByteSources
import Glibc
import RandomAccess
package import Results
import Support
import Synchronization
package import SystemPackage

/// A merge of the shards of a job into one result file, with a section for each host, and with each shard once.
///
/// If a shard ran more than once, the attempts of one host count: that of a host that finished it, or else those of the
/// host with the most records. In a search, whose cases are not figures, all attempts count. The order does not depend
/// on clocks. At most one shard's records are in memory.
package struct FleetMerge {
    package let job: ManifestFile
    /// The attempts that count, by shard. There are several if none is complete, and in a search.
    private let chosen: [Int: [ShardFile]]
    /// The attempts that do not count, by shard. They must not contradict those that count.
    private let others: [Int: [ShardFile]]
    /// The shards that are not complete, with the reasons.
    package let missing: [(shard: Int, reason: String)]
    /// Sentences about files that are left out.
    package let warnings: [String]

    /// Reads a job's folder.
    ///
    /// - Throws: `FleetError.externalShard` for a file of another plan or program, or with cells of another shard;
    ///   `FleetError.contradiction` for two plaintexts of one cell; `DecryptionError.io`.
    package init(_ job: ManifestFile) throws {
        self.job = job
        let entries = try Folder.entries(in: job.shardFolder.string)
            .filter { $0.name.hasSuffix(".jsonl") && !$0.name.hasPrefix(".") }
        let names = entries.filter(\.isFile).map(\.name).sorted()
        let (plaintexts, shares) = (SharedPlaintexts(of: job.manifest), job.manifest.shares)
        let outcomes = Parallel.map(names) { name in
            Result {
                var file = try ShardFile(reading: job.shardFolder.appending(name))
                try Self.requireOwn(file, of: job)
                // All files have the same plan, the longest part of a header, so that it is dropped here.
                file.header.plan = nil
                try file.check(shares[file.shard.number], plaintexts)
                return file
            }
        }
        var files: [ShardFile] = []
        var unusable = entries.filter { !$0.isFile }.map { ($0.name, "is no regular file") }
        for (name, outcome) in zip(names, outcomes) {
            switch outcome {
            case .success(let file): files.append(file)
            case .failure(let error as FleetError): throw error
            case .failure(let reason as ShardFile.Unusable): unusable.append((name, "\(reason)"))
            case .failure(let error): unusable.append((name, "cannot be read: \(error)"))
            }
        }
        var warnings = unusable.map { "\($0) \($1): nothing of it is used" }
        // All backends of a job run all of its vectors, each on a host that has it.
        let subjects = Set(files.flatMap(\.vectorCounts.keys))
        let backends = Set(files.flatMap { $0.header.backends.map(\.name) })
        for index in files.indices {
            files[index].requireVectors(of: subjects, backends, shares[files[index].shard.number])
            if let flaw = files[index].flaw { warnings.append("\(Self.fileName(files[index])) \(flaw)") }
        }
        let byShard = Dictionary(grouping: files, by: \.shard.number)
        var (chosen, others, missing) = ([Int: [ShardFile]](), [Int: [ShardFile]](), [(Int, String)]())
        var isSearch = false
        if case .search = job.manifest.work { isSearch = true }
        for shard in 0..<job.manifest.shardCount {
            guard let best = byShard[shard]?.sorted(by: Self.precedes), let first = best.first else {
                let isThere = unusable.contains { Int($0.0.prefix { $0.isASCII && $0.isNumber }) == shard }
                missing.append((shard, isThere ? "no file of it that can be used" : "no file of it"))
                continue
            }
            let isCounted = { (file: ShardFile) in
                isSearch || (first.isComplete ? file.path == first.path : file.host == first.host)
            }
            chosen[shard] = best.filter(isCounted)
            others[shard] = best.filter { !isCounted($0) }
            if !first.isComplete { missing.append((shard, "only a part: \(first.description)")) }
        }
        let leftOutCount = others.values.reduce(0) { $0 + $1.count }
        if leftOutCount > 0 {
            warnings.append(
                "left out, as another attempt at the same shard counts: \(leftOutCount) "
                    + (leftOutCount == 1 ? "file" : "files") + "; nothing counts twice")
        }
        (self.chosen, self.others, self.missing, self.warnings) = (chosen, others, missing, warnings)
    }

    /// The hosts whose attempts count, with their shards.
    package var hosts: [(host: HostKey, shards: [Int])] {
        var shards: [HostKey: [Int]] = [:]
        for (shard, files) in chosen.sorted(by: { $0.key < $1.key }) {
            for host in Set(files.map(\.host)) { shards[host, default: []].append(shard) }
        }
        return shards.map { ($0.key, $0.value) }.sorted { $0.host < $1.host }
    }

    /// The number of failed cells in the attempts that count.
    package var failedCellCount: Int { chosen.values.joined().reduce(0) { $0 + $1.failedCellCount } }

    /// Refuses a file of another manifest or another program.
    private static func requireOwn(_ file: ShardFile, of job: ManifestFile) throws(FleetError) {
        let (shard, manifest) = (file.shard, job.manifest)
        var difference: String?
        if case .sweep(let plan, _, _) = manifest.work, let other = file.header.plan, other != plan {
            difference = "its plan is another one"
        } else if file.header.programVersion != manifest.programVersion
            || file.header.programDigest != manifest.programDigest
        {
            difference =
                "its program is another one, chunkwise \(file.header.programVersion), "
                + "build \(file.header.programDigest?.prefix(16) ?? "unknown"), and the manifest's is "
                + "\(manifest.programVersion), build \(manifest.programDigest?.prefix(16) ?? "unknown")"
        } else if shard.manifest != job.digest {
            difference = "its manifest has the digest \(shard.manifest.prefix(16)), not \(job.digest.prefix(16))"
        } else if !(0..<manifest.shardCount).contains(shard.number) {
            difference = "its number is \(shard.number) of \(manifest.shardCount)"
        }
        if let difference { throw .externalShard(file: file.path.string, difference: difference) }
    }

    /// Returns whether an attempt precedes another one. Complete attempts come first, then those with more records,
    /// then those with fewer restarts by a scheduler. The attempt's digits decide the rest.
    private static func precedes(_ one: ShardFile, _ other: ShardFile) -> Bool {
        func rank(_ file: ShardFile) -> [Int] {
            [file.isComplete ? 0 : 1, file.isSealed ? 0 : 1, -file.recordCount, file.shard.restartCount ?? 0]
        }
        let (ranks, otherRanks) = (rank(one), rank(other))
        guard ranks == otherRanks else { return ranks.lexicographicallyPrecedes(otherRanks) }
        return [one.shard.attempt, one.path.string].lexicographicallyPrecedes([other.shard.attempt, other.path.string])
    }

    /// Refuses attempts at one shard that contradict each other. Figures may differ between attempts, but plaintexts
    /// and verdicts may not.
    private static func requireAgreement(_ files: [ShardFile]) throws {
        var first: [RecordLine.Key: (line: RecordLine, file: Int)] = [:]
        // The files with a cell's plaintext, by cell, and the failures.
        var (checked, failures) = ([String: Set<Int>](), [(failure: FailureRecord, file: Int)]())
        for (index, file) in files.enumerated() {
            try file.forEachRecord { line in
                switch line.verdict {
                case .check(let check): checked[check.cell.id, default: []].insert(index)
                case .failure(let failure): failures.append((failure, index))
                default: break
                }
                guard let earlier = first[line.key] else { return first[line.key] = (line, index) }
                let isSameAttempt = files[earlier.file].shard == file.shard
                if let what = contradiction(earlier.line, line, isSameAttempt: isSameAttempt) {
                    throw FleetError.contradiction(
                        one: files[earlier.file].path.string, other: file.path.string, what: what)
                }
            }
        }
        for (failure, file) in failures {
            let checked = checked[failure.cell.id] ?? []
            let failed = Set(failures.filter { $0.failure.cell.id == failure.cell.id }.map(\.file))
            // A contradiction: the cell failed before its plaintext here and has a plaintext there, or it failed later
            // here and the other file is complete without a failure.
            let passed = checked.subtracting(failed).filter { !checked.contains(file) || files[$0].isComplete }
            guard let other = passed.min() else { continue }
            throw FleetError.contradiction(
                one: files[file].path.string, other: files[other].path.string,
                what: "\(failure.cell.name) has failed in the first, \(failure.reason), and not in the other")
        }
    }

    private static func contradiction(_ one: RecordLine, _ other: RecordLine, isSameAttempt: Bool) -> String? {
        switch (one.verdict, other.verdict) {
        case (.check(let one)?, .check(let other)?) where one.digest != other.digest:
            "the plaintext of \(one.cell.name) has the digests \(one.digest) and \(other.digest)"
        case (.conformance(let one)?, .conformance(let other)?): contradiction(one, other)
        case _ where isSameAttempt && one.bytes != other.bytes: "two different records of one process in one attempt"
        default: nil
        }
    }

    /// The contradiction between two outcomes of the same vectors; `nil` if there is none. The outcome of a host
    /// without the backend contradicts no other.
    private static func contradiction(_ one: ConformanceRecord, _ other: ConformanceRecord) -> String? {
        func text(_ record: ConformanceRecord) -> String {
            "passed \(record.passed), failed \(record.failed), unsupported \(record.unsupported), not run "
                + "\(record.notRun)"
        }
        guard one != other, one.notRun < one.count, other.notRun < other.count else { return nil }
        return "\(one.subject) \(text(one)) of part \(one.part ?? 0), and \(text(other))"
    }

    /// Writes the merged file. It is complete and on the disk before it gets its name.
    ///
    /// - Parameter path: The file. A file of an earlier merge of the job is replaced.
    /// - Returns: The outcomes of the vectors: those of all hosts together, or for each host if all had the same
    ///   vectors.
    /// - Throws: `FleetError.output` for a file of another run; `FleetError.contradiction`; `DecryptionError.io`;
    ///   `ShardFile.Unusable` for a file that changed since it was read.
    package func write(to path: FilePath) throws -> [ConformanceRecord] {
        if access(path.string, F_OK) == 0 {
            let merge = ShardFile.header(of: path)?.merge
            guard merge?.manifest == job.digest else { throw FleetError.output(path.string) }
        }
        for (shard, files) in chosen where files.count > 1 || others[shard]?.isEmpty == false {
            try Self.requireAgreement(files + (others[shard] ?? []))
        }
        var seen: [Int: Set<RecordLine.Key>] = [:]
        let sink = BufferedSink(try FileSink(path: path))
        var all: [ConformanceRecord] = []
        let hosts = self.hosts
        let names = HostKey.names(of: hosts.map(\.host))
        for (host, shards) in hosts {
            guard var header = chosen[shards[0]]?.first(where: { $0.host == host })?.header else { continue }
            if let name = names[host], name != host.name { header.host.nodeName = name }
            header.merge = .init(
                manifest: job.digest, shardCount: job.manifest.shardCount, shards: shards)
            header.shard = nil
            if case .sweep(let plan, _, _) = job.manifest.work { header.plan = plan }
            try sink.write(try ResultRecord.header(header).line())
            var (rounds, outcomes) = (RoundNumbers(of: job.manifest), [ConformanceRecord]())
            for shard in shards {
                let files = chosen[shard] ?? []
                if case .sweep = job.manifest.work, shards.count == 1, files.count == 1 {
                    // No rounds have to be renumbered.
                    try files[0].forEachPiece { try sink.write($0) }
                    continue
                }
                var own: [ConformanceRecord] = []
                for file in files where file.host == host {
                    try file.forEachRecord { line in
                        // A single file has each record once.
                        guard files.count == 1 || seen[shard, default: []].insert(line.key).inserted else { return }
                        if case .conformance(let outcome)? = line.verdict { return own.append(outcome) }
                        try sink.write(rounds.numbered(line))
                    }
                }
                rounds.endShard()
                own = ConformanceRecord.sums(of: own)
                // If all shards have the same vectors, a host's second shard repeats its first one.
                outcomes =
                    job.manifest.isReplicated
                    ? try Self.repeated(outcomes, own, of: files[0], shards)
                    : ConformanceRecord.sums(of: outcomes + own)
            }
            // If hosts had the same vectors, their names distinguish the subjects.
            if job.manifest.isReplicated {
                for index in outcomes.indices { outcomes[index].subject += " on \(names[host] ?? host.name)" }
            }
            for record in outcomes { try sink.write(try ResultRecord.conformance(record).line()) }
            all = ConformanceRecord.sums(of: all + outcomes)
            if missing.isEmpty { try sink.write(try ResultRecord.end.line()) }
        }
        try sink.commit()
        return all
    }

    /// The outcomes of a host that ran the same vectors twice. For each subject, those of more vectors count.
    ///
    /// - Throws: `FleetError.contradiction` if they differ, or if fewer vectors have more failures.
    private static func repeated(
        _ outcomes: [ConformanceRecord], _ others: [ConformanceRecord], of file: ShardFile, _ shards: [Int]
    ) throws(FleetError) -> [ConformanceRecord] {
        var all = outcomes
        for other in others {
            guard let index = all.firstIndex(where: { $0.subject == other.subject }) else {
                all.append(other)
                continue
            }
            let (fewer, more) = all[index].count < other.count ? (all[index], other) : (other, all[index])
            if fewer.count == more.count || fewer.failed > more.failed, let what = contradiction(all[index], other) {
                throw .contradiction(one: "an earlier one of shards \(shards)", other: file.path.string, what: what)
            }
            all[index] = more
        }
        return all
    }

    private static func fileName(_ file: ShardFile) -> String { file.path.lastComponent?.string ?? file.path.string }
}

/// The plaintexts of cells that several shards have. They must be the same on all hosts.
final class SharedPlaintexts: Sendable {
    /// The cell that all shards have; `nil` for all cells.
    private let reference: String?
    private let first = Mutex<[String: (digest: String, path: String)]>([:])

    init(of manifest: Manifest) { reference = manifest.sharedCell }

    /// Notes a plaintext from a shard's file.
    ///
    /// - Throws: `FleetError.contradiction` if another file has a different one.
    func note(_ check: CheckRecord, in file: ShardFile) throws(FleetError) {
        let cell = check.cell.id
        guard reference == nil || reference == cell else { return }
        let earlier = first.withLock { first in
            let earlier = first[cell]
            if earlier == nil { first[cell] = (check.digest, file.path.string) }
            return earlier
        }
        if let earlier, earlier.digest != check.digest {
            throw .contradiction(
                one: earlier.path, other: file.path.string,
                what: "the plaintext of \(cell) has the digests \(earlier.digest) and \(check.digest)")
        }
    }
}

/// The round numbers of cells that several shards of a host measured. They continue from shard to shard, because every
/// round was a fresh process.
private struct RoundNumbers {
    /// The cell that all shards measure; `nil` for all cells.
    private let reference: String?
    private var before: [RecordLine.Key: Int] = [:]
    private var next: [RecordLine.Key: Int] = [:]

    init(of manifest: Manifest) { reference = manifest.sharedCell }

    /// Returns the line of a record with its new round number.
    mutating func numbered(_ line: RecordLine) -> [UInt8] {
        guard line.verdict == nil, reference == nil || reference == line.key.subject else { return line.bytes }
        var key = line.key
        key.number = 0
        let number = before[key, default: 0] + line.key.number
        next[key] = max(next[key, default: 0], number + 1)
        return line.numbered(number)
    }

    mutating func endShard() { before = next }
}

/// A buffered writer of records to a file.
private final class BufferedSink {
    private let sink: FileSink
    private var bytes: [UInt8] = []
    private var offset: UInt64 = 0

    init(_ sink: FileSink) { self.sink = sink }

    func write(_ more: some Collection<UInt8>) throws {
        bytes += more
        if bytes.count >= 1 << 20 { try flush() }
    }

    private func flush() throws {
        try bytes.withUnsafeBytes { try sink.write($0, at: offset) }
        offset += UInt64(bytes.count)
        bytes.removeAll(keepingCapacity: true)
    }

    func commit() throws {
        try flush()
        try sink.commit()
    }
}
