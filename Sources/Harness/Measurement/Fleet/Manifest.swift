import ByteSources
import FoundationEssentials
import Support
package import SystemPackage

/// A job for many machines, with the content of each shard. It is written once and never changed.
package struct Manifest: Codable, Hashable, Sendable {
    /// The version of the format that this program writes. Other versions are refused.
    package static let currentSchema = "chunkwise-manifest-1"
    /// The file's name in the job's folder.
    package static let fileName = "manifest.json"
    /// The folder for the files of shards, in the job's folder.
    package static let shardFolder = "shards"
    /// The maximum number of shards. A greater number is a mistake.
    package static let maxShardCount = 100_000

    package var schema = Manifest.currentSchema
    /// SHA-256 in hex of the file without this member, to detect changes by hand.
    fileprivate var sha256: String?
    /// The version of `chunkwise` that split the job, and the digest of its programs. The same programs must run the
    /// shards.
    package var programVersion: String
    package var programDigest: String?
    /// The number of shards.
    package var shardCount: Int
    /// The work of the job.
    package var work: Work
    /// The indivisible parts with their shards; empty for a search, whose shards are ranges of cases.
    package var parts: [Part]
    /// The working folder of a subject's command; `nil` without a subject.
    package var folder: String?

    /// The work of a job.
    package enum Work: Codable, Hashable, Sendable {
        /// The cells of a plan, with the plan's text. Every shard also measures the reference cell.
        case sweep(plan: String, planDigest: String, reference: String)
        /// The vectors that options of `verify` choose, with the SHA-256 in hex of the files that the options name.
        case vectors(options: [String], files: [String: String])
        /// The cases of a search. Each shard draws its own range of numbers for this time.
        case search(options: [String], files: [String: String], seed: UInt64, nanoseconds: UInt64)

        /// The command that runs the shards.
        package var command: String { if case .sweep = self { "sweep" } else { "verify" } }
    }

    /// An indivisible part: cells that are compared with each other, or a group of vectors.
    package struct Part: Codable, Hashable, Sendable {
        /// The part in words.
        package var name: String
        /// The shard of the part; `nil` for all shards.
        package var shard: Int?
        /// The approximate time, in seconds for cells, in another unit for vectors.
        package var cost: Double
        /// The identifiers of its cells or groups of vectors.
        package var members: [String]
        /// The number of cells, or of vectors.
        package var count: Int
        /// The backends that run this part, if other backends are in another part of the same name; `nil` for all.
        package var subjects: [String]?

        package init(name: String, cost: Double, members: [String], count: Int) {
            self.name = name
            self.cost = cost
            self.members = members
            self.count = count
        }

        /// Divides the part by subjects into enough parts that each costs at most a limit. A part with a single subject
        /// may cost more. Each subject runs all vectors in their order.
        package func divided(among subjects: [String], maxCost: Double) -> [Part] {
            guard cost > maxCost, maxCost > 0, !subjects.isEmpty else { return [self] }
            let count = Int(min(Double(subjects.count), (cost / maxCost).rounded(.up)))
            return (0..<count).map { index in
                var part = self
                part.subjects = stride(from: index, to: subjects.count, by: count).map { subjects[$0] }
                part.cost *= Double(part.subjects?.count ?? 0) / Double(subjects.count)
                return part
            }
        }
    }

    /// Splits a job.
    ///
    /// - Parameters:
    ///   - work: The work.
    ///   - parts: The indivisible parts; empty for a search.
    ///   - shardCount: The number of shards, at most the number of parts unless they are replicated.
    ///   - isReplicated: True if each shard has all parts.
    ///   - programVersion: The version of this program.
    ///   - programDigest: The digest that identifies its build.
    package init(
        _ work: Work, parts: [Part], shardCount: Int, isReplicated: Bool, programVersion: String, programDigest: String?
    ) {
        self.work = work
        self.shardCount = shardCount
        self.programVersion = programVersion
        self.programDigest = programDigest
        self.parts = parts
        guard !isReplicated else { return }
        for (index, shard) in Self.shards(ofCosts: parts.map(\.cost), count: shardCount).enumerated() {
            self.parts[index].shard = shard
        }
    }

    /// Distributes parts to shards: the most expensive part first, each to the shard with the lowest cost so far.
    ///
    /// - Source: Graham, "Bounds on Multiprocessing Timing Anomalies" (1969): at most a third more than the optimum.
    /// - Returns: A shard for each part.
    package static func shards(ofCosts costs: [Double], count: Int) -> [Int] {
        var loads = [Double](repeating: 0, count: count)
        var shards = [Int](repeating: 0, count: costs.count)
        for part in costs.indices.sorted(by: { (costs[$1], $0) < (costs[$0], $1) }) {
            let shard = loads.indices.min { (loads[$0], $0) < (loads[$1], $1) } ?? 0
            shards[part] = shard
            loads[shard] += costs[part]
        }
        return shards
    }

    /// The parts of a shard.
    package func parts(of shard: Int) -> [Part] { parts.filter { $0.shard ?? shard == shard } }

    /// The content of a shard, without an order.
    package struct Share: Sendable {
        /// The identifiers of its cells, including the reference; empty for vectors.
        package var cells: Set<String> = []
        /// The number of vectors for all subjects, and the numbers of additional vectors for some. Both are 0 for
        /// cells.
        fileprivate var (vectorCount, moreOfSubjects) = (0, [String: Int]())

        /// The number of vectors for a subject.
        func vectorCount(of subject: String) -> Int { vectorCount + moreOfSubjects[subject, default: 0] }
    }

    /// The content of each shard.
    package var shares: [Share] {
        var shared = Share()
        if case .sweep(_, _, let reference) = work { shared.cells.insert(reference) }
        let ofAll = parts.filter { $0.shard == nil }.reduce(into: shared) { $0.add($1, of: work) }
        return parts.reduce(into: Array(repeating: ofAll, count: shardCount)) { shares, part in
            if let shard = part.shard { shares[shard].add(part, of: work) }
        }
    }

    /// Returns whether two manifests have the same work, shards and program. Their costs may differ.
    func isSameJob(as other: Manifest) -> Bool {
        var (one, other) = (self, other)
        (one.sha256, other.sha256) = (nil, nil)
        for index in one.parts.indices { (one.parts[index].cost, one.parts[index].shard) = (0, isReplicated ? nil : 0) }
        for index in other.parts.indices {
            (other.parts[index].cost, other.parts[index].shard) = (0, other.isReplicated ? nil : 0)
        }
        return one == other
    }

    /// True if each shard has all parts.
    package var isReplicated: Bool { parts.contains { $0.shard == nil } }

    /// The cell that all shards measure; `nil` if all shards are the same, or have no cells.
    var sharedCell: String? {
        if case .sweep(_, _, let reference) = work, !isReplicated { reference } else { nil }
    }

    /// An inconsistency, such as one from an edit by hand; `nil` if there is none.
    fileprivate var mistake: String? {
        if (try? signed.sha256) != sha256 { return "it was changed by hand" }
        // Parts of different subjects may share members. The members of a part for all subjects are in no other part.
        let whole = parts.filter { $0.subjects == nil }.flatMap(\.members)
        let divided = parts.flatMap { part in
            (part.subjects ?? []).flatMap { subject in part.members.map { [$0, subject] } }
        }
        let shards = parts.compactMap(\.shard)
        if !(1...Self.maxShardCount).contains(shardCount) { return "its count of shards is \(shardCount)" }
        if !shards.allSatisfy({ (0..<shardCount).contains($0) }) || !shards.isEmpty && shards.count < parts.count {
            return "a part of it is in no shard"
        }
        if !parts.allSatisfy({ $0.cost >= 0 && $0.cost.isFinite && (0...1 << 40).contains($0.count) }) {
            return "a part of it has an invalid cost or count"
        }
        if Set(whole).count < whole.count || Set(divided).count < divided.count
            || !Set(whole).isDisjoint(with: divided.map { $0[0] })
        {
            return "a member is in two of its parts"
        }
        switch work {
        case .sweep(let plan, let digest, let reference):
            if Hexadecimal.encode(SHAFunction.sha256.hash(Array(plan.utf8))) != digest { return "its plan was changed" }
            if !whole.contains(reference) { return "its reference is in no part" }
            if !parts.allSatisfy({ $0.count == $0.members.count }) { return "a part of it has another number of cells" }
        case .vectors: if parts.isEmpty { return "it has no parts" }
        case .search: break
        }
        return nil
    }

    /// The numbers of the cases of a search that a shard draws.
    package func cases(of shard: Int) -> Range<Int> {
        let all = Int(UInt32.max)
        return all / shardCount * shard..<all / shardCount * (shard + 1)
    }

    /// The bytes of the file.
    package var bytes: [UInt8] {
        get throws { try signed.encoded }
    }

    private var encoded: [UInt8] {
        get throws { Array((try JSONValue.encode(self).text + "\n").utf8) }
    }

    private var signed: Manifest {
        get throws {
            var manifest = self
            manifest.sha256 = nil
            manifest.sha256 = Hexadecimal.encode(SHAFunction.sha256.hash(try manifest.encoded))
            return manifest
        }
    }
}

extension Manifest.Share {
    fileprivate mutating func add(_ part: Manifest.Part, of work: Manifest.Work) {
        switch (work, part.subjects) {
        case (.sweep, _): cells.formUnion(part.members)
        case (_, let subjects?): for subject in subjects { moreOfSubjects[subject, default: 0] += part.count }
        case (_, nil): vectorCount += part.count
        }
    }
}

/// A manifest with its file.
package struct ManifestFile: Sendable {
    package let path: FilePath
    package let manifest: Manifest
    /// SHA-256 of the file, in hex. It connects a shard's results with this manifest.
    package let digest: String

    /// The command that runs a shard, without the shard's number at its end.
    package func shardCommand(program: String = "chunkwise") -> String {
        ShellText.joined([program, manifest.work.command, "--manifest", path.string, "--shard"])
    }

    /// The folder for the files of shards.
    package var shardFolder: FilePath { path.removingLastComponent().appending(Manifest.shardFolder) }

    /// Reads a manifest.
    ///
    /// - Throws: `DecryptionError.io` for a file that cannot be read; `FleetError.manifest` for a file of another
    ///   version, or one that is not a manifest.
    package init(_ path: FilePath) throws {
        let bytes = Array(try TextFile.read(path.string).utf8)
        try self.init(path, bytes)
    }

    private init(_ path: FilePath, _ bytes: [UInt8]) throws {
        struct Schema: Decodable { var schema: String }
        let decoder = JSONDecoder()
        guard let schema = try? decoder.decode(Schema.self, from: Data(bytes)).schema else {
            throw FleetError.manifest("\(path)", "not a manifest: expected one that --split wrote")
        }
        guard schema == Manifest.currentSchema else {
            throw FleetError.manifest(
                "\(path)", "its schema is \(schema): expected \(Manifest.currentSchema); split the job again")
        }
        guard let manifest = try? decoder.decode(Manifest.self, from: Data(bytes)) else {
            throw FleetError.manifest("\(path)", "it is damaged: expected it as --split wrote it")
        }
        if let mistake = manifest.mistake {
            throw FleetError.manifest("\(path)", "\(mistake): expected it as --split wrote it")
        }
        (self.path, self.manifest) = (path, manifest)
        digest = Hexadecimal.encode(SHAFunction.sha256.hash(bytes))
    }

    /// Writes a manifest into a folder, which is created if necessary. An existing manifest of the same job stays as it
    /// is, because its costs come from a measurement and its shards may have run.
    ///
    /// - Returns: The file.
    /// - Throws: `DecryptionError.io`; `FleetError.manifest` if another job is there.
    package static func write(_ manifest: Manifest, to folder: FilePath) throws -> ManifestFile {
        try Folder.create(folder.appending(Manifest.shardFolder))
        let path = folder.appending(Manifest.fileName)
        if let earlier = try? ManifestFile(path), earlier.manifest.isSameJob(as: manifest) { return earlier }
        // The shards of another job may be running or queued without results so far.
        guard try Folder.entries(in: folder.string).allSatisfy({ $0.name != Manifest.fileName }),
            try Folder.entries(in: folder.appending(Manifest.shardFolder).string).isEmpty
        else {
            throw FleetError.manifest("\(path)", "another job is there: expected another --output, or nothing in it")
        }
        let bytes = try manifest.bytes
        try TextFile.write(String(decoding: bytes, as: UTF8.self), to: path)
        return try ManifestFile(path, bytes)
    }
}

/// An error that stops a job on many machines.
package enum FleetError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// A manifest is wrong.
    case manifest(String, String)
    /// A shard's file belongs to another job.
    case externalShard(file: String, difference: String)
    /// Two files contradict each other.
    case contradiction(one: String, other: String, what: String)
    /// The output file exists, and belongs to another job.
    case output(String)

    /// The message: what failed, the value, what was expected.
    package var description: String {
        switch self {
        case .manifest(let path, let reason): "\(path): \(reason)"
        case .externalShard(let file, let difference):
            "\(file) belongs to another job: \(difference); expected shards of this manifest only: move it elsewhere"
        case .contradiction(let one, let other, let what):
            "\(one) and \(other) contradict each other: \(what); expected the same of both: find out which machine is "
                + "wrong, and move its file elsewhere"
        case .output(let path):
            "\(path) holds other results: expected those of an earlier merge of this job, or no file"
        }
    }
}
