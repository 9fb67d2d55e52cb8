/// What an auditor files: which requirement was tested by which vectors, and what each subject did in them.
public struct Evidence: Codable, Hashable, Sendable {
    /// The version of this format that the program writes.
    public static let currentSchema = "chunkwise-evidence-1"

    /// The format's version.
    public var schema = Self.currentSchema
    /// The version of `chunkwise`.
    public var programVersion: String
    /// The command line that repeats the verification. Keys never stand in it.
    public var command: [String]
    /// When it started, in ISO 8601 with a `Z`.
    public var startedAt: String
    /// The duration of the verification, in seconds.
    public var seconds: Int
    /// The machine.
    public var host: RunHeader.Host
    /// The backends that were there, with their versions and CPU features.
    public var backends: [RunHeader.Backend]
    /// The vector files, pinned.
    public var vectorFiles: [VectorFilePin]
    /// The classes of bugs that vectors stand for, each explained once.
    public var flags: [FlagExplanation]
    /// The clauses that are tested.
    public var requirements: [Requirement]
    /// The subjects' outcomes.
    public var subjects: [ConformanceRecord]
    /// How the suite itself was tested, or `nil` if it was not in this run.
    public var mutants: [MutantOutcome]?
    /// What the subjects noticed of ciphertexts that were tampered with, or `nil` if that was not in this run.
    public var tampering: [TamperRecord]?

    /// Creates evidence.
    public init(
        programVersion: String, command: [String], startedAt: String, seconds: Int, host: RunHeader.Host,
        backends: [RunHeader.Backend], vectorFiles: [VectorFilePin], flags: [FlagExplanation],
        requirements: [Requirement], subjects: [ConformanceRecord], mutants: [MutantOutcome]?,
        tampering: [TamperRecord]? = nil
    ) {
        self.programVersion = programVersion
        self.command = command
        self.startedAt = startedAt
        self.seconds = seconds
        self.host = host
        self.backends = backends
        self.vectorFiles = vectorFiles
        self.flags = flags
        self.requirements = requirements
        self.subjects = subjects
        self.mutants = mutants
        self.tampering = tampering
    }

    /// A file by its content.
    public struct VectorFilePin: Codable, Hashable, Sendable {
        /// The file's name, without the machine's folders.
        public var name: String
        /// SHA-256 of the file, in hex.
        public var sha256: String

        /// Creates a pin.
        public init(name: String, sha256: String) {
            self.name = name
            self.sha256 = sha256
        }
    }

    /// What a class of vectors stands for.
    public struct FlagExplanation: Codable, Hashable, Sendable {
        /// The class.
        public var flag: String
        /// What goes wrong in programs that fail.
        public var explanation: String
        /// Where the class is from.
        public var source: String

        /// Creates an explanation.
        public init(flag: String, explanation: String, source: String) {
            self.flag = flag
            self.explanation = explanation
            self.source = source
        }
    }

    /// A clause that vectors test.
    public struct Requirement: Codable, Hashable, Sendable {
        /// A short name that stays, such as `cbc-iv`.
        public var id: String
        /// What must hold, in a sentence.
        public var text: String
        /// Document and section.
        public var source: String
        /// The classes of vectors that test it.
        public var flags: [String]

        /// Creates a requirement.
        public init(id: String, text: String, source: String, flags: [String]) {
            self.id = id
            self.text = text
            self.source = source
            self.flags = flags
        }
    }

    /// What became of a reader with a planted fault.
    public struct MutantOutcome: Codable, Hashable, Sendable {
        /// The mutant's name.
        public var name: String
        /// The class of bugs that its fault belongs to.
        public var flag: String
        /// The classes of vectors that it failed.
        public var killedBy: [String]

        /// Creates an outcome.
        public init(name: String, flag: String, killedBy: [String]) {
            self.name = name
            self.flag = flag
            self.killedBy = killedBy
        }

        /// Whether the vectors noticed the fault, and the right ones did.
        public var isKilled: Bool { killedBy.contains(flag) }
    }
}
