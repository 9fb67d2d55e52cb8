/// The facts of a whole run: program, host, backends, plan and seed. The header is the first record of a result file.
public struct RunHeader: Codable, Hashable, Sendable {
    /// The version of the result format that this program writes; files of another version are refused.
    public static let currentSchema = "chunkwise-results-1"

    /// The schema of the file that begins with this header.
    public var schema: String

    /// The version of `chunkwise` that measured.
    public var programVersion: String

    /// The command line that repeats the run. It never contains keys.
    public var command: [String]

    /// The start of the run, in ISO 8601 with a `Z`.
    public var startedAt: String

    /// The machine.
    public var host: Host

    /// The backends that were available, with their versions and CPU features.
    public var backends: [Backend]

    /// The text of the plan; `nil` if a single cell was measured.
    public var plan: String?

    /// The seed of the random workloads, and of the order of cells in each round.
    public var seed: UInt64

    /// SHA-256 of the programs that measured, in hex: this program's, and the subject's if that is a different one;
    /// `nil` if it is unknown.
    public var programDigest: String?

    /// The name and version of the user's object that all cells were measured on; `nil` if the program made the
    /// objects.
    public var input: String?

    /// The reason for measuring memory without cgroups; `nil` if cgroups were used.
    public var cgroupAbsence: String?

    /// The shard of a job on many machines; `nil` for a run of its own.
    public var shard: Shard?

    /// The shards that were merged; `nil` in a file that was not merged.
    public var merge: Merge?

    /// The limits of the machine, measured at the run's start; `nil` if they were not measured.
    package var limits: MachineLimits?

    /// The facts of the strategies, by their texts in cells; `nil` if they are unknown.
    public var strategies: [String: StrategyFacts]?

    /// A header without digest, input, shard and limits, which are set later.
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
        /// The kernel's setting for transparent huge pages (`always`, `madvise`, `never`); `nil` if unknown.
        public var transparentHugePages: String?
        /// The CPU frequency governor; `nil` if the kernel shows none.
        public var frequencyGovernor: String?
        /// True if the CPU may raise its frequency above the nominal one; `nil` if unknown.
        public var isTurboOn: Bool?
        /// A scheduler's name for the machine, as several machines may share a host's name; `nil` without a scheduler.
        public var nodeName: String?
        /// The kernel's identifier of this start of the machine; `nil` if the kernel has none.
        public var bootID: String?
        /// The identifier of the machine: a keyed digest of `/etc/machine-id`, because the file itself is confidential.
        /// `nil` without that file.
        public var machineID: String?
        /// The revision of the CPU's microcode, as the kernel gives it; `nil` if the kernel has none.
        public var microcode: String?
        /// The CPUs that the run may use, such as `0-3,8`; `nil` if they are unknown.
        public var cpuset: String?
        /// The number of CPUs that the run may use; `nil` if it is unknown.
        public var cpusetCount: Int?
        /// The peculiarity of these CPUs: they belong to several NUMA nodes, or have another capacity than the
        /// machine's fastest CPU. `nil` for all other CPUs, and if the kernel does not say.
        public var cpuKind: String?

        /// A host without names and identifiers of scheduler, kernel and CPU set, which are set later.
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

        /// The host's name in a list of several: the scheduler's, or else the host's own.
        package var label: String { nodeName ?? name }

        /// The number of CPUs that the run may use, or else of those that are online.
        package var usableCPUCount: Int { cpusetCount ?? cpuCount }
    }

    /// A crypto library on the machine that measured.
    public struct Backend: Codable, Hashable, Sendable {
        /// The name that selects it, such as `libgcrypt`.
        public var name: String
        /// The library's version.
        public var version: String
        /// The CPU features that the library uses.
        public var cpuFeatures: [String]

        package init(name: String, version: String, cpuFeatures: [String]) {
            self.name = name
            self.version = version
            self.cpuFeatures = cpuFeatures
        }
    }
}
