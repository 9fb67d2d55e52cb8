/// What one subject noticed of ciphertexts that were tampered with, and what it delivered of them.
public struct TamperRecord: Codable, Hashable, Sendable {
    /// The version of this format that the program writes.
    public static let currentSchema = "chunkwise-tamper-1"

    /// The subject's name; for our readers the backend's.
    public var subject: String
    /// A row for each strategy.
    public var rows: [Row]

    /// Creates a record.
    public init(subject: String, rows: [Row]) {
        self.subject = subject
        self.rows = rows
    }

    /// How often the subject failed, in all rows.
    public var failed: Int { rows.reduce(0) { $0 + $1.failed } }

    /// How many cases were run, in all rows.
    public var executed: Int { rows.reduce(0) { $0 + $1.cases.count } }

    /// What became of one strategy.
    public struct Row: Codable, Hashable, Sendable {
        /// Whether it was run.
        public enum State: String, Codable, Hashable, Sendable {
            /// It was.
            case run
            /// The subject says that it cannot do it.
            case unsupported
            /// It was not tried, or not to its end.
            case notRun
        }

        /// The strategy with what tells it from others.
        public var strategy: String
        /// Whether the format says that it detects every change.
        public var isAuthenticated: Bool
        /// Whether it was run.
        public var state: State
        /// The original plaintext's length in bytes.
        public var plaintextByteCount: UInt64
        /// The original ciphertext's length in bytes.
        public var ciphertextByteCount: UInt64
        /// How many bytes the sequential reader read at once.
        public var windowByteCount: UInt64
        /// The cases that were run.
        public var cases: [Case]

        /// Creates a row.
        public init(
            strategy: String, isAuthenticated: Bool, state: State, plaintextByteCount: UInt64,
            ciphertextByteCount: UInt64, windowByteCount: UInt64, cases: [Case]
        ) {
            self.strategy = strategy
            self.isAuthenticated = isAuthenticated
            self.state = state
            self.plaintextByteCount = plaintextByteCount
            self.ciphertextByteCount = ciphertextByteCount
            self.windowByteCount = windowByteCount
            self.cases = cases
        }

        /// How many cases the subject failed.
        public var failed: Int { cases.count { $0.failure != nil } }
    }

    /// What became of one tampering.
    public struct Case: Codable, Hashable, Sendable {
        /// What was done: `truncate`, `extend`, `flip`, `swap`, `repeat`, `splice` or `header`.
        public var kind: String
        /// Where.
        public var place: String
        /// The errors, one of which opening must end with; empty where it must not.
        public var openingErrors: [String]
        /// A reader from the start to the end.
        public var sequential: Outcome
        /// A reader of the places that are other ones, and of nothing else.
        public var touching: Outcome
        /// What was not as it has to be, or `nil`.
        public var failure: String?

        /// Creates a case.
        public init(
            kind: String, place: String, openingErrors: [String], sequential: Outcome, touching: Outcome,
            failure: String?
        ) {
            self.kind = kind
            self.place = place
            self.openingErrors = openingErrors
            self.sequential = sequential
            self.touching = touching
            self.failure = failure
        }
    }

    /// What one reader met.
    public struct Outcome: Codable, Hashable, Sendable {
        /// How it ended.
        public enum State: String, Codable, Hashable, Sendable {
            /// `open` ended with an error that says that the ciphertext is not right.
            case detectedAtOpen
            /// A read did.
            case detectedAtRead
            /// There was an error that says something else.
            case otherError
            /// There was none: everything was delivered as if it were right.
            case undetected
            /// There was no proper answer.
            case noAnswer
        }

        /// How it ended.
        public var state: State
        /// The error's name, or why there was no answer.
        public var error: String?
        /// The number of the read that ended it, from 1; `nil` at opening, and where none did.
        public var read: Int?
        /// That read's plaintext offset.
        public var offset: UInt64?
        /// The reads that delivered something.
        public var readCount: Int
        /// Delivered bytes that are not those of the original, before the error or altogether.
        public var wrongByteCount: UInt64
        /// Those of them that the format takes for authentic, such as an object's of which the header was taken, too;
        /// not in files.
        public var foreignByteCount: UInt64 = 0
        /// Bytes of the original that were not delivered, though there was no error; of a sequential reader only.
        public var missingByteCount: UInt64
        /// Bytes that were delivered from behind the original's end.
        public var extraByteCount: UInt64
        /// Bytes of a refused chunk that were left where the plaintext goes.
        public var releasedByteCount: UInt64

        private enum CodingKeys: String, CodingKey {
            case state, error, read, offset, readCount, wrongByteCount, missingByteCount, extraByteCount
            case releasedByteCount
        }

        /// Creates an outcome in which nothing was delivered.
        public init(
            state: State, error: String? = nil, read: Int? = nil, offset: UInt64? = nil, readCount: Int = 0,
            wrongByteCount: UInt64 = 0, missingByteCount: UInt64 = 0, extraByteCount: UInt64 = 0,
            releasedByteCount: UInt64 = 0
        ) {
            self.state = state
            self.error = error
            self.read = read
            self.offset = offset
            self.readCount = readCount
            self.wrongByteCount = wrongByteCount
            self.missingByteCount = missingByteCount
            self.extraByteCount = extraByteCount
            self.releasedByteCount = releasedByteCount
        }

        /// Whether the change was noticed.
        public var isDetected: Bool { state == .detectedAtOpen || state == .detectedAtRead }
    }
}

extension TamperRecord.Row {
    /// What a sequential reader noticed of some cases, and got.
    public struct Counts: Hashable, Sendable {
        /// The cases.
        public var cases = 0
        /// Those that were noticed at opening.
        public var detectedAtOpen = 0
        /// Those that were noticed at a read.
        public var detectedAtRead = 0
        /// Wrong bytes delivered, before an error or altogether; what a refused read left behind is among them.
        public var wrongByteCount: UInt64 = 0
        /// Bytes that were missing at the end, without an error.
        public var missingByteCount: UInt64 = 0
        /// Bytes from behind the original's end.
        public var extraByteCount: UInt64 = 0
        /// Cases that the subject failed.
        public var failed = 0

        /// Those that were noticed.
        public var detected: Int { detectedAtOpen + detectedAtRead }

        /// Whether there was anything to be noticed, and all of it was, without a wrong byte.
        public var isClean: Bool {
            cases > 0 && detected == cases && wrongByteCount == 0 && missingByteCount == 0 && extraByteCount == 0
                && failed == 0
        }

        /// Counts of nothing.
        public init() {}
    }

    /// The kinds of tampering, in their order.
    public static let kinds = ["truncate", "extend", "flip", "swap", "repeat", "splice", "header"]

    /// The counts of one kind of tampering, or of all.
    public func counts(kind: String? = nil) -> Counts {
        cases.reduce(into: Counts()) { counts, one in
            guard kind == nil || one.kind == kind else { return }
            counts.cases += 1
            counts.detectedAtOpen += one.sequential.state == .detectedAtOpen ? 1 : 0
            counts.detectedAtRead += one.sequential.state == .detectedAtRead ? 1 : 0
            counts.wrongByteCount += one.sequential.wrongByteCount
            counts.missingByteCount += one.sequential.missingByteCount
            counts.extraByteCount += one.sequential.extraByteCount
            counts.failed += one.failure == nil ? 0 : 1
        }
    }

    /// The wrong bytes of each case of a kind that was not noticed, smallest first.
    public func undetectedWrongByteCounts(kind: String) -> [UInt64] {
        cases.filter { $0.kind == kind && !$0.sequential.isDetected }.map(\.sequential.wrongByteCount).sorted()
    }
}
