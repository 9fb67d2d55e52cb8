/// How one subject did in the vectors of this run.
public struct ConformanceRecord: Codable, Hashable, Sendable {
    /// The subject's name; for our readers the backend's.
    public var subject: String
    /// The version that an external program gives itself; `nil` for our readers, whose backends' versions a run has once.
    public var version: String?
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
    /// What is wrong with how an external program speaks the protocol, where that is no failure: its adapter is at fault, and
    /// what it adapts may be right. These count nowhere else.
    public var adapter: [Failure]?
    /// What its failures are most like; `nil` where there are none, or that was not looked for.
    public var cause: Cause?
    /// The vectors among those that passed or failed, beside checks of how a program speaks the protocol; `nil` for our
    /// readers, which get vectors only, and where no vectors were asked for.
    public var vectorCount: Int?
    /// The kinds that most failures are of, the largest first; `nil` where there are none.
    public var kinds: [Kind]?
    /// The trait that all failed vectors have and most others lack, such as `keys of 24 bytes`, with its counts; `nil` if
    /// there is none.
    public var commonTrait: String?
    /// The choice of vectors for a program; `nil` where all were put to it, and for our readers.
    public var choice: Choice?
    /// The command line of a program, and the files that it names, by their content; `nil` for our readers.
    public var program: TestedProgram?
    /// Which part of a shard's vectors this is about, from 0; `nil` for a record of all.
    public var part: Int?

    /// Creates a record.
    public init(
        subject: String, passed: Int, failed: Int, unsupported: Int, notRun: Int, failures: [Failure],
        flags: [FlagOutcome]? = nil, adapter: [Failure]? = nil
    ) {
        self.subject = subject
        self.passed = passed
        self.failed = failed
        self.unsupported = unsupported
        self.notRun = notRun
        self.failures = failures
        self.flags = flags
        self.adapter = adapter
    }

    /// Sentences on what the failures have in common: a trait, the largest kinds, the planted fault that fails like them.
    package var explanations: [String] {
        [commonTrait.map { "all vectors that failed are of \($0)" }].compactMap { $0 }
            + (kinds ?? []).map(\.text) + [cause?.text].compactMap { $0 }
    }

    /// A choice of vectors.
    public struct Choice: Codable, Hashable, Sendable {
        /// The vectors that were chosen.
        public var chosenCount: Int
        /// All vectors.
        public var allCount: Int

        /// Creates a choice.
        public init(chosenCount: Int, allCount: Int) {
            self.chosenCount = chosenCount
            self.allCount = allCount
        }

        /// The choice in a sentence.
        package var text: String {
            "a choice of \(chosenCount) of \(allCount) vectors, the same in every run; --all runs all of them"
        }
    }

    /// A program that was tested.
    public struct TestedProgram: Codable, Hashable, Sendable {
        /// The command line, for `/bin/sh -c`.
        public var command: String
        /// The files that the command line names, such as an interpreter and its script.
        public var files: [Evidence.VectorFilePin]

        /// Creates a program.
        public init(command: String, files: [Evidence.VectorFilePin]) {
            self.command = command
            self.files = files
        }
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

    /// The planted fault whose failures are most like a subject's.
    public struct Cause: Codable, Hashable, Sendable {
        /// The mutant that has the fault; `nil` where none is alike.
        public var mutant: String?
        /// What it does wrong, in one sentence.
        public var fault: String?
        /// The class of bugs that it belongs to.
        public var flag: String?
        /// The wrong answers that are the same from both.
        public var sameCount: Int
        /// The answers in which the subject or the mutant is wrong.
        public var wrongCount: Int
        /// How alike these are in the mean, from 0 to 1.
        public var likeness: Double
        /// Other mutants that answered just like this one.
        public var others: [String]

        /// Creates a cause.
        public init(
            mutant: String?, fault: String?, flag: String?, sameCount: Int, wrongCount: Int, likeness: Double,
            others: [String] = []
        ) {
            self.mutant = mutant
            self.fault = fault
            self.flag = flag
            self.sameCount = sameCount
            self.wrongCount = wrongCount
            self.likeness = likeness
            self.others = others
        }

        /// The cause in a sentence.
        package var text: String {
            let agreement = "\(sameCount) of \(wrongCount) wrong answers are the same"
            guard let mutant, let fault else {
                return sameCount == 0
                    ? "no planted fault fails like it" : "no planted fault fails like it: of the nearest, \(agreement)"
            }
            let names = ([mutant] + others).joined(separator: ", ")
            return (likeness >= 0.995 ? "fails as \(names) does" : "fails most like \(names)")
                + " (\(agreement)): \(fault)"
        }
    }

    /// Failures that are of one kind: of one reason but for its figures.
    public struct Kind: Codable, Hashable, Sendable {
        /// The failures of this kind.
        public var count: Int
        /// All failures.
        public var failedCount: Int
        /// The smallest one of them.
        public var id: String
        /// The fault of that one.
        public var reason: String

        /// Creates a kind.
        public init(count: Int, failedCount: Int, id: String, reason: String) {
            self.count = count
            self.failedCount = failedCount
            self.id = id
            self.reason = reason
        }

        /// The kind in a sentence.
        package var text: String { "\(count) of \(failedCount) failures are like that of \(id): \(reason)" }
    }

    /// One read that went wrong.
    public struct Failure: Codable, Hashable, Sendable {
        /// The vector's identifier.
        public var id: String
        /// The classes of bugs that the vector stands for.
        public var flags: [String]
        /// What was expected and what came.
        public var reason: String

        /// The reason of reads of an object that did not open: what is wrong, its opening says.
        package static let notOpened = "the object was not opened as it should be"

        /// A reason without its figures, decimal and hexadecimal: the same for failures of one kind.
        package static func pattern(of reason: some StringProtocol) -> String {
            func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }
            return String(decoding: reason.utf8.filter { !isDigit($0) }, as: UTF8.self)
        }

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
        // Of several parts, the one with the most to go by.
        cause = [cause, other.cause].compactMap(\.self).max { $0.wrongCount < $1.wrongCount }
        if let more = other.vectorCount { vectorCount = (vectorCount ?? 0) + more }
        if let more = other.adapter { adapter = (adapter ?? []) + more }
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
