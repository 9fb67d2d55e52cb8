/// The members that result files of a job on many machines have, beside those of one machine.
extension RunHeader {
    /// The part of a job whose results are in a file.
    public struct Shard: Codable, Hashable, Sendable {
        /// SHA-256 of the manifest that defines the part, in hex.
        public var manifest: String
        /// The shard's number, from 0.
        public var number: Int
        /// The number of shards in the job.
        public var count: Int
        /// The identifier of this attempt at the shard: random digits.
        public var attempt: String
        /// The scheduler's name for the job, such as `slurm 1234_7`; `nil` without one.
        public var job: String?
        /// The number of times that the scheduler had started the job before; `nil` if the scheduler does not say.
        public var restartCount: Int?

        package init(
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

    /// The shards behind the next records of a merged file. All of them ran on one host.
    public struct Merge: Codable, Hashable, Sendable {
        /// SHA-256 of the manifest, in hex.
        public var manifest: String
        /// The number of shards in the job.
        public var shardCount: Int
        /// The numbers of the shards that this host ran.
        public var shards: [Int]

        package init(manifest: String, shardCount: Int, shards: [Int]) {
            self.manifest = manifest
            self.shardCount = shardCount
            self.shards = shards
        }
    }
}

/// The last record of a shard's file. If it is missing, or has another digest, the file is not as it was written.
public struct SealRecord: Codable, Hashable, Sendable {
    /// SHA-256 of all bytes before this record, in hex.
    public var sha256: String

    package init(sha256: String) {
        self.sha256 = sha256
    }
}
