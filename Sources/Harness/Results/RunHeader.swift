/// What is true of a whole run: program, host, backends, plan and seed. The first record of a result file.
public struct RunHeader: Codable, Hashable, Sendable {
    /// The version of the result format that this program writes; another number is refused, not guessed at.
    public static let currentSchema = "chunkwise-results-1"

    /// The schema of the file that this header stands in.
    public var schema: String

    /// The version of `chunkwise` that measured.
    public var programVersion: String

    /// The command line that repeats the run. Keys never stand in it.
    public var command: [String]

    /// When the run started, in ISO 8601 with a `Z`.
    public var startedAt: String

    /// The machine.
    public var host: Host

    /// The backends that were available, with their versions and CPU features.
    public var backends: [Backend]

    /// The text of the plan, or `nil` where a single cell was measured.
    public var plan: String?

    /// The seed from which the order of the cells in each round, and the random workloads, are drawn.
    public var seed: UInt64

    /// SHA-256 of the programs that measured, in hex: this one, and the subject if that is another; `nil` in results
    /// that do not say.
    public var programDigest: String?

    /// Which version of which object of the user's all cells were measured on; `nil` where objects were made, and in
    /// results that do not say.
    public var input: String?

    /// Why memory was measured without cgroups; `nil` where it was measured with them, and in results that do not say.
    public var cgroupAbsence: String?

    /// Which part of a job on many machines this is; `nil` for a run of its own.
    public var shard: Shard?

    /// Which shards were merged; `nil` in any file that was not.
    public var merge: Merge?

    /// What the machine can do at most, measured at the run's start; `nil` where it was not.
    package var limits: MachineLimits?

    /// The facts of the strategies, by their texts in cells; empty in results that do not say.
    public var strategies: [String: StrategyFacts]?

    /// Creates a header.
    public init(
        programVersion: String, command: [String], startedAt: String, host: Host, backends: [Backend], plan: String?,
        seed: UInt64
    ) {
        self.schema = Self.currentSchema
        self.programVersion = programVersion
        self.command = command
        self.startedAt = startedAt
        self.host = host
        self.backends = backends
        self.plan = plan
        self.seed = seed
    }

    /// The machine that measured.
    public struct Host: Codable, Hashable, Sendable {
        /// The host's name.
        public var name: String
        /// The CPU's model name, as the kernel gives it.
        public var cpuModel: String
        /// The number of CPUs that were online.
        public var cpuCount: Int
        /// The CPU flags that matter here, such as `aes`, `vaes`, `avx2`.
        public var cpuFlags: [String]
        /// The machine's memory in bytes.
        public var memoryByteCount: UInt64
        /// The kernel's name and release.
        public var kernel: String
        /// Sizes of the data caches by level, smallest first, in bytes.
        public var cacheByteCounts: [UInt64]
        /// The kernel's setting for transparent huge pages (`always`, `madvise`, `never`), or `nil` where unknown.
        public var transparentHugePages: String?
        /// The CPU frequency governor, or `nil` where there is none to be seen.
        public var frequencyGovernor: String?
        /// Whether the CPU may raise its frequency above the nominal one, or `nil` where it is not known.
        public var isTurboOn: Bool?
        /// What a scheduler calls the machine, of which several may share a host's name; `nil` without one.
        public var nodeName: String?
        /// What tells this start of the machine from others, as the kernel gives it; `nil` where it does not.
        public var bootID: String?
        /// What tells the machine from others: a digest of `/etc/machine-id`, which is nobody else's business; `nil`
        /// without one.
        public var machineID: String?
        /// The revision of the CPU's microcode, as the kernel gives it; `nil` where it does not.
        public var microcode: String?
        /// The CPUs that the run may use, such as `0-3,8`; `nil` in results that do not say.
        public var cpuset: String?
        /// The number of CPUs that the run may use; `nil` in results that do not say.
        public var cpusetCount: Int?
        /// What is special about these CPUs: that they are of several NUMA nodes, or have another capacity than the
        /// machine's fastest; `nil` for all others, and where the kernel does not say.
        public var cpuKind: String?

        /// Creates a host description.
        public init(
            name: String, cpuModel: String, cpuCount: Int, cpuFlags: [String], memoryByteCount: UInt64, kernel: String,
            cacheByteCounts: [UInt64] = [], transparentHugePages: String? = nil, frequencyGovernor: String? = nil,
            isTurboOn: Bool? = nil
        ) {
            self.name = name
            self.cpuModel = cpuModel
            self.cpuCount = cpuCount
            self.cpuFlags = cpuFlags
            self.memoryByteCount = memoryByteCount
            self.kernel = kernel
            self.cacheByteCounts = cacheByteCounts
            self.transparentHugePages = transparentHugePages
            self.frequencyGovernor = frequencyGovernor
            self.isTurboOn = isTurboOn
        }

        /// What it is called among several: by a scheduler, or else by itself.
        package var label: String { nodeName ?? name }

        /// The number of CPUs that the run may use, as far as it is known.
        package var usableCPUCount: Int { cpusetCount ?? cpuCount }
    }

    /// A crypto library as it was found.
    public struct Backend: Codable, Hashable, Sendable {
        /// The name that selects it, such as `libgcrypt`.
        public var name: String
        /// The library's version.
        public var version: String
        /// The CPU features that it uses.
        public var cpuFeatures: [String]

        /// Creates a backend description.
        public init(name: String, version: String, cpuFeatures: [String]) {
            self.name = name
            self.version = version
            self.cpuFeatures = cpuFeatures
        }
    }
}
