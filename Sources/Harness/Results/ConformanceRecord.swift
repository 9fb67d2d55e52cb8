/// The results of one subject in the vectors of this run.
public struct ConformanceRecord: Codable, Hashable, Sendable {
    /// The subject's name; for our readers the backend's.
    public var subject: String
    /// The version that an external program reports; `nil` for our readers, as a run has the versions of their backends
    /// once.
    public var version: String?
    /// Reads that had the expected outcome.
    public var passed: Int
    /// Reads that had another outcome.
    public var failed: Int
    /// Reads that the subject says it does not support.
    public var unsupported: Int
    /// Reads that were not tried.
    public var notRun: Int
    /// The first failures, smallest counterexample first; `failed` counts all of them.
    public var failures: [Failure]
    /// The same counts for each class of bugs; a read that stands for several classes counts in each.
    public var flags: [FlagOutcome]?
    /// Errors in an external program's use of the protocol that do not count as failures. The adapter is at fault, and
    /// the code that it adapts may be right. No other count includes them.
    public var adapter: [Failure]?
    /// The injected fault whose failures are most like the subject's; `nil` if nothing failed or the run did not look
    /// for it.
    public var cause: Cause?
    /// The number of vectors among the passed and failed reads, without the checks of a program's use of the protocol.
    /// `nil` for our readers, which get vectors only, and for runs without vectors.
    public var vectorCount: Int?
    /// The most frequent kinds of failures, the largest first, each with a quarter of the failures or more; `nil` if
    /// there are none.
    public var kinds: [Kind]?
    /// The trait that all failed vectors have and most others lack, such as `keys of 24 bytes`, with its counts; `nil`
    /// if there is none.
    public var commonTrait: String?
    /// The choice of vectors for a program; `nil` for our readers, and for a program that was tested with all of them.
    public var choice: Choice?
    /// The command line of a program, and digests of the files that it names; `nil` for our readers.
    public var program: TestedProgram?
    /// The part of a shard's vectors that the record covers, from 0; `nil` for a record of all vectors.
    public var part: Int?

    /// A record without cause, kinds and trait, which are set later.
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

    /// Sentences on what the failures have in common: a trait, the largest kinds, and the injected fault that fails
    /// like them.
    package var explanations: [String] {
        [commonTrait.map { "all vectors that failed are of \($0)" }].compactMap { $0 }
            + (kinds ?? []).map(\.text) + [cause?.text].compactMap { $0 }
    }

    /// The number of vectors that were chosen, of all vectors.
    public struct Choice: Codable, Hashable, Sendable {
        /// The number of vectors that were chosen.
        public var chosenCount: Int
        /// The number of all vectors.
        public var allCount: Int

        package init(chosenCount: Int, allCount: Int) {
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

        package init(command: String, files: [Evidence.VectorFilePin]) {
            self.command = command
            self.files = files
        }
    }

    /// The results of a subject in the vectors of one class.
    public struct FlagOutcome: Codable, Hashable, Sendable {
        /// The class of bugs.
        public var flag: String
        /// Reads that had the expected outcome.
        public var passed: Int
        /// Reads that had another outcome.
        public var failed: Int
        /// Reads that the subject says it does not support.
        public var unsupported: Int
        /// Reads that were not tried.
        public var notRun: Int

        package init(flag: String, passed: Int, failed: Int, unsupported: Int, notRun: Int) {
            self.flag = flag
            self.passed = passed
            self.failed = failed
            self.unsupported = unsupported
            self.notRun = notRun
        }
    }

    /// The injected fault whose failures are most like a subject's.
    public struct Cause: Codable, Hashable, Sendable {
        /// The mutant that has the fault; `nil` if no mutant fails like the subject.
        public var mutant: String?
        /// The mutant's fault, in one sentence.
        public var fault: String?
        /// The class of bugs that the fault belongs to.
        public var flag: String?
        /// The number of wrong answers that are the same from both.
        public var sameCount: Int
        /// The number of answers in which the subject or the mutant is wrong.
        public var wrongCount: Int
        /// The mean likeness of these answers, from 0 to 1.
        public var likeness: Double
        /// The other mutants that gave the same answers as this one.
        public var others: [String]

        package init(
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
                    ? "no injected fault fails like it"
                    : "no injected fault fails like it: of the nearest, \(agreement)"
            }
            let names = ([mutant] + others).joined(separator: ", ")
            return (likeness >= 0.995 ? "fails as \(names) does" : "fails most like \(names)")
                + " (\(agreement)): \(fault)"
        }
    }

    /// Failures of one kind: their reasons differ only in figures.
    public struct Kind: Codable, Hashable, Sendable {
        /// The number of failures of this kind.
        public var count: Int
        /// The number of all failures, without those of reads whose object did not open.
        public var failedCount: Int
        /// The vector of the smallest failure of this kind.
        public var id: String
        /// The reason of that failure.
        public var reason: String

        /// A kind with its smallest failure.
        public init(count: Int, failedCount: Int, id: String, reason: String) {
            self.count = count
            self.failedCount = failedCount
            self.id = id
            self.reason = reason
        }

        /// The kind in a sentence.
        package var text: String { "\(count) of \(failedCount) failures are like that of \(id): \(reason)" }
    }

    /// A read whose outcome was not the expected one.
    public struct Failure: Codable, Hashable, Sendable {
        /// The vector's identifier.
        public var id: String
        /// The classes of bugs that the vector stands for.
        public var flags: [String]
        /// The expected outcome, and the outcome that came instead.
        public var reason: String

        /// The reason that reads get if their object did not open; the failure of its opening has the details.
        package static let notOpened = "the object was not opened as it should be"

        /// Returns a reason without its figures, decimal and hexadecimal: the same text for all failures of one kind.
        package static func pattern(of reason: some StringProtocol) -> String {
            func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }
            return String(decoding: reason.utf8.filter { !isDigit($0) }, as: UTF8.self)
        }

        package init(id: String, flags: [String], reason: String) {
            self.id = id
            self.flags = flags
            self.reason = reason
        }
    }
}

extension ConformanceRecord {
    /// The max number of failures that a sum lists; it counts all of them.
    private static let listedFailureCount = 20

    /// Adds up the records of different vectors.
    ///
    /// - Returns: One sum a subject, in the order in which subjects are first named.
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

    /// The number of reads with any outcome.
    package var count: Int { passed + failed + unsupported + notRun }

    private mutating func add(_ other: ConformanceRecord) {
        (passed, failed) = (passed + other.passed, failed + other.failed)
        (unsupported, notRun) = (unsupported + other.unsupported, notRun + other.notRun)
        failures += other.failures.prefix(max(0, Self.listedFailureCount - failures.count))
        // Of several parts, the cause with the most evidence.
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
    /// Adds the results in other vectors.
    package mutating func add(_ other: Self) {
        (passed, failed) = (passed + other.passed, failed + other.failed)
        (unsupported, notRun) = (unsupported + other.unsupported, notRun + other.notRun)
    }
}

/// The results of the vectors in their own test, in which they run against readers with one injected fault each.
public struct MutantsRecord: Codable, Hashable, Sendable {
    /// The backend under the readers, which has no fault itself.
    public var backend: String
    /// The outcome of each injected fault.
    public var outcomes: [Evidence.MutantOutcome]
    /// The readers without a fault. They must pass: otherwise a killed mutant proves nothing.
    public var controls: [Control]

    package init(backend: String, outcomes: [Evidence.MutantOutcome], controls: [Control]) {
        self.backend = backend
        self.outcomes = outcomes
        self.controls = controls
    }

    /// The faults that no vector of their class noticed.
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

        package init(name: String, passed: Int, failed: Int) {
            self.name = name
            self.passed = passed
            self.failed = failed
        }
    }
}
