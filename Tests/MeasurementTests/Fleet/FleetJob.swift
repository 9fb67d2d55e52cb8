import ByteSources
import Foundation
import Measurement
import RandomAccess
import Results
import Support
import SystemPackage
import TestSupport

/// A job of cells, two a shard, whose shards are made up instead of measured.
struct FleetJob {
    let folder: TemporaryFolder
    let file: ManifestFile
    static let plan = "# made up\n"

    /// The contents of the shards. Of vectors, each has ``vectorCount``.
    enum Work {
        case cells, vectors, search
    }

    static let vectorCount = 30

    // `subjects`: for each shard of vectors that are put to some subjects only, these.
    init(shards: Int, isReplicated: Bool = false, of kind: Work = .cells, subjects: [Int: [String]] = [:]) throws {
        folder = try TemporaryFolder()
        // Those that have all have the same.
        var parts = (0..<(isReplicated ? 1 : shards)).map { shard in
            switch kind {
            case .cells: Manifest.Part(name: "\(shard)", cost: 1, members: Self.cells(shard).map(\.id), count: 2)
            default: Manifest.Part(name: "\(shard)", cost: 1, members: ["g\(shard)"], count: Self.vectorCount)
            }
        }
        for (shard, names) in subjects { parts[shard].subjects = names }
        let digest = Hexadecimal.encode(SHAFunction.sha256.hash(Array(Self.plan.utf8)))
        let work: Manifest.Work =
            switch kind {
            case .cells: .sweep(plan: Self.plan, planDigest: digest, reference: Self.cells(0)[0].id)
            case .vectors: .vectors(options: [], files: [:])
            case .search: .search(options: [], files: [:], seed: 1, nanoseconds: 1)
            }
        let manifest = Manifest(
            work, parts: kind == .search ? [] : parts, shardCount: shards, isReplicated: isReplicated,
            programVersion: "1", programDigest: "d")
        file = try ManifestFile.write(manifest, to: FilePath(folder.path("job")))
    }

    static func cells(_ shard: Int) -> [Cell] {
        (1...2).map { index in
            Cell(
                backend: "openssl", strategy: "ctr", windowByteCount: UInt64(2 * shard + index) << 10,
                objectByteCount: 1 << 20)
        }
    }

    /// The outcomes of a shard's vectors in three parts, some of which have failed.
    static func outcomes(
        _ subject: String = "s", failed: Int = 0, count: Int = FleetJob.vectorCount
    ) -> [ResultRecord] {
        (0..<3).map { part in
            let failures = (0..<failed).map { ConformanceRecord.Failure(id: "v\($0)", flags: ["f"], reason: "r") }
            var record = ConformanceRecord(
                subject: subject, passed: count / 3 - failed - 1, failed: failed, unsupported: 1, notRun: 0,
                failures: failures,
                flags: [.init(flag: "f", passed: count / 3 - failed - 1, failed: failed, unsupported: 1, notRun: 0)])
            record.part = part
            return .conformance(record)
        }
    }

    /// The results of a shard: its own cells and the reference, in two rounds.
    static func records(_ shard: Int, digest: String = "00", nanoseconds: UInt64 = 1000) -> [ResultRecord] {
        let cells = self.cells(shard) + (shard == 0 ? [] : [self.cells(0)[0]])
        let checks = cells.map { cell in
            ResultRecord.check(
                CheckRecord(
                    cell: cell, digest: digest, deliveredByteCount: 1 << 20, fetchedByteCount: 1 << 20,
                    decryptedByteCount: 1 << 20))
        }
        let times = cells.flatMap { cell in
            (0..<2).map { round in
                ResultRecord.time(TimeRecord(cellID: cell.id, round: round, nanoseconds: [nanoseconds + UInt64(round)]))
            }
        }
        return checks + times
    }

    func header(
        _ shard: Int, on node: String, attempt: String, startedAt: String = "2026-01-01T00:00:00Z"
    ) -> RunHeader {
        var header = RunHeader(
            programVersion: "1", command: [], startedAt: startedAt,
            host: RunHeader.Host(
                name: "host", cpuModel: "CPU", cpuCount: 2, cpuFlags: [], memoryByteCount: 1, kernel: "Linux"),
            backends: [], plan: Self.plan, seed: 1)
        header.host.nodeName = node
        header.programDigest = "d"
        header.shard = .init(
            manifest: file.digest, number: shard, count: file.manifest.shardCount, attempt: attempt)
        return header
    }

    /// Hands over an attempt, and returns its file.
    @discardableResult
    func put(
        _ header: RunHeader, _ records: [ResultRecord], isComplete: Bool = true
    ) throws -> FilePath {
        let log = FilePath(folder.path("log"))
        try? FileManager.default.removeItem(atPath: log.string)
        let writer = try ResultLog(path: log)
        for record in [.header(header)] + records + (isComplete ? [.end] : []) { try writer.append(record) }
        let shard = header.shard ?? .init(manifest: "", number: 0, count: 0, attempt: "")
        let path = file.shardFolder.appending(ShardFile.name(shard, header.host))
        try ShardFile.publish(log, as: path)
        return path
    }

    /// Hands over a whole shard.
    @discardableResult
    func put(_ shard: Int, on node: String, attempt: String = "a") throws -> FilePath {
        try put(header(shard, on: node, attempt: attempt), Self.records(shard))
    }

    /// Merges what is there.
    @discardableResult
    func merged(_ name: String = "merged") throws -> (merge: FleetMerge, hosts: [RunResults]) {
        let merge = try FleetMerge(file)
        let path = FilePath(folder.path(name))
        _ = try merge.write(to: path)
        return (merge, try ResultLog.readHosts(path))
    }
}
