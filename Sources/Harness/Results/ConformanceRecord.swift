/// How one subject did in the vectors of this run.
public struct ConformanceRecord: Codable, Hashable, Sendable {
    /// The subject's name; for our readers the backend's.
    public var subject: String
    /// Reads that had the expected outcome.
    public var passed: Int
    /// Reads that had another outcome.
    public var failed: Int
    /// Reads that the subject cannot do and said so.
    public var unsupported: Int
    /// Reads that were not tried.
    public var notRun: Int
    /// The first failures, smallest counterexample first; `failed` counts all of them.
    public var failures: [Failure]
    /// The same counts for each class of bugs; a read that stands for several counts in each.
    public var flags: [FlagOutcome]?

    /// Creates a record.
    public init(
        subject: String, passed: Int, failed: Int, unsupported: Int, notRun: Int, failures: [Failure],
        flags: [FlagOutcome]? = nil
    ) {
        self.subject = subject
        self.passed = passed
        self.failed = failed
        self.unsupported = unsupported
        self.notRun = notRun
        self.failures = failures
        self.flags = flags
    }

    /// How a subject did in the vectors of one class.
    public struct FlagOutcome: Codable, Hashable, Sendable {
        /// The class of bugs.
        public var flag: String
        /// Reads that had the expected outcome.
        public var passed: Int
        /// Reads that had another outcome.
        public var failed: Int
        /// Reads that the subject cannot do and said so.
        public var unsupported: Int
        /// Reads that were not tried.
        public var notRun: Int

        /// Creates an outcome.
        public init(flag: String, passed: Int, failed: Int, unsupported: Int, notRun: Int) {
            self.flag = flag
            self.passed = passed
            self.failed = failed
            self.unsupported = unsupported
            self.notRun = notRun
        }
    }

    /// One read that went wrong.
    public struct Failure: Codable, Hashable, Sendable {
        /// The vector's identifier.
        public var id: String
        /// The classes of bugs that the vector stands for.
        public var flags: [String]
        /// What was expected and what came.
        public var reason: String

        /// Creates a failure.
        public init(id: String, flags: [String], reason: String) {
            self.id = id
            self.flags = flags
            self.reason = reason
        }
    }
}
