/// The evidence for an auditor's files: the requirements, the vectors that test them, and the results of each subject.
public struct Evidence: Codable, Hashable, Sendable {
    /// The version of this format that the program writes.
    public static let currentSchema = "chunkwise-evidence-1"

    /// The format's version.
    public var schema = Self.currentSchema
    /// The version of `chunkwise`.
    public var programVersion: String
    /// The command line that repeats the verification. It never contains keys.
    public var command: [String]
    /// The start of the verification, in ISO 8601 with a `Z`.
    public var startedAt: String
    /// The duration of the verification, in seconds.
    public var seconds: Int
    /// The machine.
    public var host: RunHeader.Host
    /// The backends on the machine, with their versions and CPU features.
    public var backends: [RunHeader.Backend]
    /// The vector files, with their digests.
    public var vectorFiles: [VectorFilePin]
    /// The classes of bugs that vectors stand for, each explained once.
    public var flags: [FlagExplanation]
    /// The clauses that the vectors test.
    public var requirements: [Requirement]
    /// The subjects' results.
    public var subjects: [ConformanceRecord]
    /// The results of the vectors' own test; `nil` if it was not part of this run.
    public var mutants: [MutantOutcome]?
    /// The changes of ciphertexts that the subjects noticed; `nil` if tampering was not part of this run.
    public var tampering: [TamperRecord]?

    package init(
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

    /// A file and the digest of its content.
    public struct VectorFilePin: Codable, Hashable, Sendable {
        /// The file's name, without the machine's folders.
        public var name: String
        /// SHA-256 of the file, in hex.
        public var sha256: String

        package init(name: String, sha256: String) {
            self.name = name
            self.sha256 = sha256
        }
    }

    /// The explanation of a class of vectors.
    public struct FlagExplanation: Codable, Hashable, Sendable {
        /// The class.
        public var flag: String
        /// The mistake of programs that fail these vectors.
        public var explanation: String
        /// The origin of the class.
        public var source: String

        package init(flag: String, explanation: String, source: String) {
            self.flag = flag
            self.explanation = explanation
            self.source = source
        }
    }

    /// A clause that vectors test.
    public struct Requirement: Codable, Hashable, Sendable {
        /// A short, permanent name, such as `cbc-iv`.
        public var id: String
        /// The requirement in one sentence.
        public var text: String
        /// The document and section of the clause.
        public var source: String
        /// The classes of vectors that test it.
        public var flags: [String]

        package init(id: String, text: String, source: String, flags: [String]) {
            self.id = id
            self.text = text
            self.source = source
            self.flags = flags
        }
    }

    /// The outcome of a reader with an injected fault.
    public struct MutantOutcome: Codable, Hashable, Sendable {
        /// The mutant's name.
        public var name: String
        /// The class of bugs that its fault belongs to.
        public var flag: String
        /// The classes of vectors that it failed.
        public var killedBy: [String]

        package init(name: String, flag: String, killedBy: [String]) {
            self.name = name
            self.flag = flag
            self.killedBy = killedBy
        }

        /// True if vectors of the fault's own class noticed it.
        public var isKilled: Bool { killedBy.contains(flag) }
    }
}
