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
    /// Which part of a shard's vectors this is about, from 0; `nil` for a record of all.
    public var part: Int?

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

extension ConformanceRecord {
    /// The failures that a sum lists; it counts all of them.
    private static let listedFailureCount = 20

    /// Adds up outcomes of different vectors, one sum a subject, in the order in which subjects are first named.
    package static func sums(of records: some Sequence<ConformanceRecord>) -> [ConformanceRecord] {
        var sums: [ConformanceRecord] = []
        for record in records {
            if let index = sums.firstIndex(where: { $0.subject == record.subject }) {
                sums[index].add(record)
            } else {
                sums.append(record)
                sums[sums.count - 1].part = nil
            }
        }
        return sums
    }

    /// Reads of all outcomes.
    package var count: Int { passed + failed + unsupported + notRun }

    private mutating func add(_ other: ConformanceRecord) {
        (passed, failed) = (passed + other.passed, failed + other.failed)
        (unsupported, notRun) = (unsupported + other.unsupported, notRun + other.notRun)
        failures += other.failures.prefix(max(0, Self.listedFailureCount - failures.count))
        for flag in other.flags ?? [] {
            guard let index = flags?.firstIndex(where: { $0.flag == flag.flag }) else {
                flags = (flags ?? []) + [flag]
                continue
            }
            flags?[index].add(flag)
        }
    }
}

extension ConformanceRecord.FlagOutcome {
    fileprivate mutating func add(_ other: Self) {
        (passed, failed) = (passed + other.passed, failed + other.failed)
        (unsupported, notRun) = (unsupported + other.unsupported, notRun + other.notRun)
    }
}

/// How the vectors of this run did in their own test: readers with one planted fault each were put to them.
public struct MutantsRecord: Codable, Hashable, Sendable {
    /// The backend under the readers; it has no fault itself.
    public var backend: String
    /// What became of each planted fault.
    public var outcomes: [Evidence.MutantOutcome]
    /// Readers without a fault, which must pass: otherwise being killed proves nothing.
    public var controls: [Control]

    /// Creates a record.
    public init(backend: String, outcomes: [Evidence.MutantOutcome], controls: [Control]) {
        self.backend = backend
        self.outcomes = outcomes
        self.controls = controls
    }

    /// The faults that no vector of their own class noticed.
    public var survivors: [Evidence.MutantOutcome] { outcomes.filter { !$0.isKilled } }

    /// The readers without a fault that did not pass.
    public var failedControls: [Control] { controls.filter { $0.failed > 0 || $0.passed == 0 } }

    /// A reader without a fault.
    public struct Control: Codable, Hashable, Sendable {
        /// The reader's name.
        public var name: String
        /// Reads that had the expected outcome.
        public var passed: Int
        /// Reads that had another outcome.
        public var failed: Int

        /// Creates an outcome.
        public init(name: String, passed: Int, failed: Int) {
            self.name = name
            self.passed = passed
            self.failed = failed
        }
    }
}
