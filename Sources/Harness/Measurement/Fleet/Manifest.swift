import ByteSources
import FoundationEssentials
package import Support
package import SystemPackage

/// A job that is split into shards for many machines: what each shard holds. It is written once and never changed.
package struct Manifest: Codable, Hashable, Sendable {
    /// The version of the format that this program writes; another one is refused.
    package static let currentSchema = "chunkwise-manifest-1"
    /// The file's name in the job's folder.
    package static let fileName = "manifest.json"
    /// Where shards put their files, in the job's folder.
    package static let shardFolder = "shards"
    /// More shards than this are a mistake.
    package static let maxShardCount = 100_000

    package var schema = Manifest.currentSchema
    /// SHA-256 in hex of the file without this member: what is changed by hand afterwards is refused.
    fileprivate var sha256: String?
    /// The version of `chunkwise` that split the job, and the digest of its programs; shards are run by the same ones.
    package var programVersion: String
    package var programDigest: String?
    /// The number of shards.
    package var shardCount: Int
    /// What is to be done.
    package var work: Work
    /// What is never split, with the shard that it is in; empty for a search, whose shards are ranges of cases.
    package var parts: [Part]
    /// The folder that a subject's command is run in; `nil` without one.
    package var folder: String?

    /// What is to be done.
    package enum Work: Codable, Hashable, Sendable {
        /// The cells of a plan, whose text this is. Every shard measures the reference cell as well.
        case sweep(plan: String, planDigest: String, reference: String)
        /// Vectors, chosen by the options of `verify`, and the SHA-256 in hex of the files that these name.
        case vectors(options: [String], files: [String: String])
        /// Cases of a search: each shard draws its own range of numbers for so long.
        case search(options: [String], files: [String: String], seed: UInt64, nanoseconds: UInt64)

        /// The command whose shards these are.
        package var command: String { if case .sweep = self { "sweep" } else { "verify" } }
    }

    /// What is never split: cells that are compared with each other, or a group of vectors.
    package struct Part: Codable, Hashable, Sendable {
        /// What it is, in words.
        package var name: String
        /// The shard that it is in; `nil` for all of them.
        package var shard: Int?
        /// About how long it takes, in seconds for cells, in a unit of its own for vectors.
        package var cost: Double
        /// What is in it: cells or groups of vectors, by their identifiers.
        package var members: [String]
        /// The number of cells, or of vectors.
        package var count: Int
        /// The backends that are put to it here, where others are in another part of the same name; `nil` for all.
        package var subjects: [String]?

        package init(name: String, cost: Double, members: [String], count: Int) {
            self.name = name
            self.cost = cost
            self.members = members
            self.count = count
        }

        /// Shares the part among as many as it takes for each to cost no more than a limit: each has some of the subjects, by
        /// turns. Those of one subject have all vectors, in their order.
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
    ///   - work: What is to be done.
    ///   - parts: What is never split; none for a search.
    ///   - shardCount: The number of shards; at most that of the parts, unless they are replicated.
    ///   - isReplicated: Whether each shard has all parts.
    ///   - programVersion: The version of this program.
    ///   - programDigest: What tells its build from others.
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

    /// Distributes work: the costliest part first, each to the shard with the least so far.
    ///
    /// - Source: Graham, "Bounds on Multiprocessing Timing Anomalies" (1969): at most a third more than the best.
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

    /// What a shard holds.
    package func parts(of shard: Int) -> [Part] { parts.filter { $0.shard ?? shard == shard } }

    /// What a shard holds, without an order.
    package struct Share: Sendable {
        /// The identifiers of its cells, the reference among them; none of vectors.
        package var cells: Set<String> = []
        /// The number of vectors that are put to all subjects, 0 of cells, and of more that are put to some.
        fileprivate var (vectorCount, moreOfSubjects) = (0, [String: Int]())

        /// The number of vectors that are put to a subject.
        func vectorCount(of subject: String) -> Int { vectorCount + moreOfSubjects[subject, default: 0] }
    }

    /// What each shard holds.
    package var shares: [Share] {
        var shared = Share()
        if case .sweep(_, _, let reference) = work { shared.cells.insert(reference) }
        let ofAll = parts.filter { $0.shard == nil }.reduce(into: shared) { $0.add($1, of: work) }
        return parts.reduce(into: Array(repeating: ofAll, count: shardCount)) { shares, part in
            if let shard = part.shard { shares[shard].add(part, of: work) }
        }
    }

    /// Whether two manifests are of the same work, shards and program, whatever they say that it costs.
    func isSameJob(as other: Manifest) -> Bool {
        var (one, other) = (self, other)
        (one.sha256, other.sha256) = (nil, nil)
        for index in one.parts.indices { (one.parts[index].cost, one.parts[index].shard) = (0, isReplicated ? nil : 0) }
        for index in other.parts.indices {
            (other.parts[index].cost, other.parts[index].shard) = (0, other.isReplicated ? nil : 0)
        }
        return one == other
    }

    /// Whether each shard has all parts.
    package var isReplicated: Bool { parts.contains { $0.shard == nil } }

    /// The cell that all shards measure; `nil` where all have the same, or none.
    var sharedCell: String? {
        if case .sweep(_, _, let reference) = work, !isReplicated { reference } else { nil }
    }

    /// What does not fit together, as after an edit by hand; `nil` if all does.
    fileprivate var mistake: String? {
        if (try? signed.sha256) != sha256 { return "it was changed by hand" }
        // A part of some subjects holds its members for these; one of all is alone with them.
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
            return "a part of it has a cost or count that is none"
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

    /// The cases of a search that a shard draws, by their numbers.
    package func cases(of shard: Int) -> Range<Int> {
        let all = Int(UInt32.max)
        return all / shardCount * shard..<all / shardCount * (shard + 1)
    }

    /// The bytes of the file.
    package var bytes: [UInt8] {
        get throws { try signed.encoded }
    }

    private var encoded: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
            return try Array(encoder.encode(self)) + [0x0A]
        }
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

/// A manifest in its file.
package struct ManifestFile: Sendable {
    package let path: FilePath
    package let manifest: Manifest
    /// SHA-256 of the file, in hex: a shard's results belong to it, and to no other.
    package let digest: String

    /// The command that runs a shard, up to the shard's number.
    package func shardCommand(program: String = "chunkwise") -> String {
        ShellText.joined([program, manifest.work.command, "--manifest", path.string, "--shard"])
    }

    /// Where shards put their files.
    package var shardFolder: FilePath { path.removingLastComponent().appending(Manifest.shardFolder) }

    /// Reads a manifest.
    ///
    /// - Throws: `DecryptionError.io` for a file that cannot be read; `FleetError.manifest` for one of another version, or
    ///   that is none.
    package init(_ path: FilePath) throws {
        let bytes = Array(try TextFile.read(path.string).utf8)
        try self.init(path, bytes)
    }

    private init(_ path: FilePath, _ bytes: [UInt8]) throws {
        struct Schema: Decodable { var schema: String }
        let decoder = JSONDecoder()
        guard let schema = try? decoder.decode(Schema.self, from: Data(bytes)).schema else {
            throw FleetError.manifest("\(path)", "it is none: expected one that --split wrote")
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

    /// Writes a manifest into a folder, which is created if need be. One of the same job stays as it is: costs are from a
    /// timing, and shards may have been run.
    ///
    /// - Returns: The file.
    /// - Throws: `DecryptionError.io`; `FleetError.manifest` if another job is there.
    package static func write(_ manifest: Manifest, to folder: FilePath) throws -> ManifestFile {
        try Folder.create(folder.appending(Manifest.shardFolder))
        let path = folder.appending(Manifest.fileName)
        if let earlier = try? ManifestFile(path), earlier.manifest.isSameJob(as: manifest) { return earlier }
        // Its shards may be running, or wait in a queue, and have handed nothing over.
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

/// Why a job on many machines cannot go on.
package enum FleetError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// A manifest is not what it should be.
    case manifest(String, String)
    /// A shard's file belongs to another job.
    case externalShard(file: String, difference: String)
    /// Two files say different things of what can only be one.
    case contradiction(one: String, other: String, what: String)
    /// The file to be written is there, and is not of this job.
    case output(String)

    /// What failed, the value, what was expected.
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

    /// All of it is bad data.
    package var exitStatus: ExitStatus { .badData }
}
