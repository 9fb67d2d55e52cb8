import ByteSources
import Glibc
import RandomAccess
package import Results
import Support
package import SystemPackage

/// Makes one result file of the shards of a job: a section for each host, and each shard once.
///
/// Of a shard that was run more than once, the attempts of one host count: of one that finished it, or else of the one with
/// the most records. No clock is asked for an order. Of the files, no more than one shard's records are in memory.
package struct FleetMerge {
    package let job: ManifestFile
    /// The attempts that count, by shard; several of one host where none of them is complete.
    private let chosen: [Int: [ShardFile]]
    /// The attempts that do not, which must not contradict those that do.
    private let others: [Int: [ShardFile]]
    /// The shards that are not done, with what there is of them.
    package let missing: [(shard: Int, reason: String)]
    /// What was found and is left out, in sentences.
    package let warnings: [String]

    /// Looks through a job's folder.
    ///
    /// - Throws: `FleetError.externalShard` for a file of another plan or program; `DecryptionError.io`.
    package init(_ job: ManifestFile) throws {
        self.job = job
        let names = try Folder.entries(in: job.shardFolder.string).map(\.name)
            .filter { $0.hasSuffix(".jsonl") && !$0.hasPrefix(".") }.sorted()
        let outcomes = Parallel.map(names) { name in
            Result {
                var file = try ShardFile(reading: job.shardFolder.appending(name))
                try Self.requireOwn(file, of: job)
                // The same for all, and the longest that a header has.
                file.header.plan = nil
                return file
            }
        }
        var files: [Int: [ShardFile]] = [:]
        var warnings: [String] = []
        for (name, outcome) in zip(names, outcomes) {
            switch outcome {
            case .success(let file):
                files[file.shard.number, default: []].append(file)
                if !file.isSealed {
                    warnings.append("\(name) was cut: its \(file.recordCount) whole records are used")
                }
            case .failure(ShardFile.Unusable.cut), .failure(ResultsError.damagedLine):
                warnings.append("\(name) was cut within its header: nothing of it is used")
            case .failure(ShardFile.Unusable.damaged):
                warnings.append("\(name) is damaged, its digest is that of other records: nothing of it is used")
            case .failure(let error): throw error
            }
        }
        var (chosen, others, missing) = ([Int: [ShardFile]](), [Int: [ShardFile]](), [(Int, String)]())
        for shard in 0..<job.manifest.shardCount {
            guard let best = files[shard]?.sorted(by: Self.precedes), let first = best.first else {
                missing.append((shard, "no file of it"))
                continue
            }
            let isCounted = { (file: ShardFile) in
                first.isComplete ? file.path == first.path : file.host == first.host
            }
            chosen[shard] = best.filter(isCounted)
            others[shard] = best.filter { !isCounted($0) }
            if !first.isComplete { missing.append((shard, "only a part: \(first.description)")) }
        }
        let leftOutCount = others.values.reduce(0) { $0 + $1.count }
        if leftOutCount > 0 {
            warnings.append(
                "left out, as another attempt at the same shard counts: \(leftOutCount) files; nothing counts twice")
        }
        (self.chosen, self.others, self.missing, self.warnings) = (chosen, others, missing, warnings)
    }

    /// The hosts whose attempts count, each with its shards.
    package var hosts: [(host: HostKey, shards: [Int])] {
        Dictionary(grouping: chosen.keys.sorted()) { shard in chosen[shard].map { $0[0].host } }
            .compactMap { host, shards in host.map { ($0, shards) } }.sorted { $0.host < $1.host }
    }

    /// Refuses what was not made for this manifest, by this program.
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
                + "build \(file.header.programDigest?.prefix(16) ?? "unknown"), and not by "
                + "\(manifest.programVersion), build \(manifest.programDigest?.prefix(16) ?? "unknown")"
        } else if shard.manifest != job.digest {
            difference = "its manifest has the digest \(shard.manifest.prefix(16)), not \(job.digest.prefix(16))"
        } else if !(0..<manifest.shardCount).contains(shard.number) {
            difference = "its number is \(shard.number) of \(manifest.shardCount)"
        }
        if let difference { throw .externalShard(file: file.path.string, difference: difference) }
    }

    /// Complete attempts first, then those with more records; what is still equal goes by how often a scheduler had
    /// restarted it, and by the attempt's digits.
    private static func precedes(_ one: ShardFile, _ other: ShardFile) -> Bool {
        func rank(_ file: ShardFile) -> [Int] {
            [file.isComplete ? 0 : 1, file.isSealed ? 0 : 1, -file.recordCount, file.shard.restartCount ?? 0]
        }
        let (ranks, otherRanks) = (rank(one), rank(other))
        guard ranks == otherRanks else { return ranks.lexicographicallyPrecedes(otherRanks) }
        return [one.shard.attempt, one.path.string].lexicographicallyPrecedes([other.shard.attempt, other.path.string])
    }

    /// Writes the merged file: complete, on the disk, and then renamed.
    ///
    /// - Parameter path: The file; one that is there is replaced as a whole.
    /// - Returns: The vectors' outcomes, those of all hosts together.
    /// - Throws: `FleetError.contradiction`; `DecryptionError.io`; `SweepError.damaged`.
    package func write(to path: FilePath) throws -> [ConformanceRecord] {
        for (shard, files) in others where !files.isEmpty {
            var seen = ShardRecords()
            for file in (chosen[shard] ?? []) + files { try seen.requireNoContradiction(in: file) }
        }
        let sink = BufferedSink(try FileSink(path: path))
        var all: [ConformanceRecord] = []
        for (_, shards) in hosts {
            guard var header = chosen[shards[0]]?[0].header else { continue }
            header.merge = .init(manifest: job.digest, shardCount: job.manifest.shardCount, shards: shards)
            header.shard = nil
            if case .sweep(let plan, _, _) = job.manifest.work { header.plan = plan }
            try sink.write(try ResultRecord.header(header).line())
            var (rounds, outcomes) = (RoundNumbers(of: job.manifest), [ConformanceRecord]())
            for shard in shards {
                guard let files = chosen[shard] else { continue }
                if files.count == 1, files[0].isSealed, job.manifest.work.command == "sweep" {
                    // As it stands: its digest says that it is what was written.
                    if shards.count == 1 {
                        try files[0].forEachPiece { try sink.write($0) }
                    } else {
                        try files[0].forEachLine { try sink.write(rounds.renumbered($0)) }
                    }
                } else {
                    var seen = ShardRecords()
                    for file in files {
                        try file.forEachRecord { record, line in
                            guard try seen.isNew(record, in: file) else { return }
                            if case .conformance(let outcome) = record { return outcomes.append(outcome) }
                            try sink.write(rounds.renumbered(line))
                        }
                    }
                }
                rounds.endShard()
                outcomes = ConformanceRecord.sums(of: outcomes)
            }
            for record in outcomes { try sink.write(try ResultRecord.conformance(record).line()) }
            all = ConformanceRecord.sums(of: all + outcomes)
            if missing.isEmpty { try sink.write(try ResultRecord.end.line()) }
        }
        try sink.commit()
        return all
    }
}

/// What a record is about: of a shard, each is there once.
private struct RecordKey: Hashable {
    var kind: String
    var subject: String
    var round: Int

    init?(_ record: ResultRecord) {
        switch record {
        case .conformance(let outcome): (kind, subject, round) = ("vectors", outcome.subject, outcome.part ?? 0)
        case .check(let check): (kind, subject, round) = ("check", check.cell.id, 0)
        case .failure(let failure): (kind, subject, round) = ("failure", failure.cell.id, 0)
        case .time(let time): (kind, subject, round) = ("time", time.cellID, time.round)
        case .latency(let latency): (kind, subject, round) = ("latency", latency.cellID, latency.round ?? 0)
        case .memory(let memory): (kind, subject, round) = ("memory", memory.cellID, memory.round ?? 0)
        case .header, .mutants, .end, .seal: return nil
        }
    }
}

/// The records of one shard, from all its attempts.
private struct ShardRecords {
    private var first: [RecordKey: (record: ResultRecord, file: ShardFile)] = [:]

    /// Whether a record is the first of its kind.
    ///
    /// - Throws: `FleetError.contradiction` if an earlier one says otherwise of what can only be one: a figure may differ from
    ///   attempt to attempt, a plaintext and a verdict may not.
    mutating func isNew(_ record: ResultRecord, in file: ShardFile) throws(FleetError) -> Bool {
        guard let key = RecordKey(record) else { return false }
        guard let earlier = first[key] else {
            first[key] = (record, file)
            return true
        }
        if let what = contradiction(earlier.record, record, isSameAttempt: earlier.file.shard == file.shard) {
            throw .contradiction(one: earlier.file.path.string, other: file.path.string, what: what)
        }
        return false
    }

    mutating func requireNoContradiction(in file: ShardFile) throws {
        try file.forEachRecord { record, _ in _ = try isNew(record, in: file) }
    }

    private func contradiction(_ one: ResultRecord, _ other: ResultRecord, isSameAttempt: Bool) -> String? {
        switch (one, other) {
        case (.check(let one), .check(let other)) where one.digest != other.digest:
            "the plaintext of \(one.cell.id) has the digests \(one.digest) and \(other.digest)"
        case (.conformance(let one), .conformance(let other)) where one != other:
            "\(one.subject) passed \(one.passed) and failed \(one.failed) of part \(one.part ?? 0), and passed "
                + "\(other.passed) and failed \(other.failed)"
        case _ where isSameAttempt && one != other: "two different records of one process in one attempt"
        default: nil
        }
    }
}

/// The rounds of cells that several shards of a host measured: each shard's count on from those of the one before, since
/// all of them were fresh processes. Lines are changed as they stand: to decode them all would take minutes.
private struct RoundNumbers {
    /// The cell that all shards measure; `nil` for all cells.
    private let reference: String?
    private var before: [String: Int] = [:]
    private var next: [String: Int] = [:]

    init(of manifest: Manifest) {
        if case .sweep(_, _, let reference) = manifest.work, !manifest.isReplicated {
            self.reference = reference
        } else {
            reference = nil
        }
    }

    /// The line of a record under its number.
    mutating func renumbered(_ line: [UInt8]) -> [UInt8] {
        guard let idStart = Self.end(of: Self.idMember, in: line),
            let idEnd = line[idStart...].firstIndex(of: UInt8(ascii: "\"")),
            reference.map({ line[idStart..<idEnd].elementsEqual($0.utf8) }) ?? true,
            let start = Self.end(of: Self.roundMember, in: line),
            let round = Int(String(decoding: line[start...].prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
        else { return line }
        // The record's name, which tells rounds of time from those of memory, and the cell's.
        let key = String(decoding: line.prefix(8) + line[idStart..<idEnd], as: UTF8.self)
        let number = before[key, default: 0] + round
        next[key] = max(next[key, default: 0], number + 1)
        guard number != round else { return line }
        return [UInt8](line[..<start]) + Array("\(number)".utf8) + line[(start + "\(round)".utf8.count)...]
    }

    /// How the members begin, which no text in a line can hold: quotes in it are escaped.
    private static let (idMember, roundMember) = (Array(#""cellID":""#.utf8), Array(#""round":"#.utf8))

    /// Where a member's value begins. The corresponding C functions are `memchr` and `memcmp`.
    private static func end(of member: [UInt8], in line: [UInt8]) -> Int? {
        line.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            var start = 0
            while let quote = memchr(base + start, Int32(member[0]), bytes.count - start) {
                start = UnsafeRawPointer(quote) - base
                guard start + member.count <= bytes.count else { return nil }
                if memcmp(quote, member, member.count) == 0 { return start + member.count }
                start += 1
            }
            return nil
        }
    }

    mutating func endShard() { before = next }
}

/// Writes records to a file, many at a time.
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
