/// What the result files of one job on many machines have beside those of one machine.
extension RunHeader {
    /// The part of a job that a file holds the results of.
    public struct Shard: Codable, Hashable, Sendable {
        /// SHA-256 of the manifest that says what the part is, in hex.
        public var manifest: String
        /// The shard's number, from 0.
        public var number: Int
        /// How many shards the job has.
        public var count: Int
        /// What tells this attempt at the shard from any other: random digits.
        public var attempt: String
        /// The scheduler's name for the job, such as `slurm 1234_7`; `nil` without one.
        public var job: String?
        /// How often the scheduler had started the job before; `nil` where it does not say.
        public var restartCount: Int?

        /// Creates a description.
        public init(
            manifest: String, number: Int, count: Int, attempt: String, job: String? = nil, restartCount: Int? = nil
        ) {
            self.manifest = manifest
            self.number = number
            self.count = count
            self.attempt = attempt
            self.job = job
            self.restartCount = restartCount
        }
    }

    /// What a merged file says of the shards that its next records come from. All of them are of one host.
    public struct Merge: Codable, Hashable, Sendable {
        /// SHA-256 of the manifest, in hex.
        public var manifest: String
        /// How many shards the job has.
        public var shardCount: Int
        /// The numbers of the shards that this host ran.
        public var shards: [Int]

        /// Creates a description.
        public init(manifest: String, shardCount: Int, shards: [Int]) {
            self.manifest = manifest
            self.shardCount = shardCount
            self.shards = shards
        }
    }
}

/// The last record of a shard's file: without it, or with another digest, the file is not what was written.
public struct SealRecord: Codable, Hashable, Sendable {
    /// SHA-256 of all bytes before this record, in hex.
    public var sha256: String

    /// Creates a record.
    public init(sha256: String) {
        self.sha256 = sha256
    }
}
