/// The changes of ciphertexts that one subject noticed, and the bytes that it delivered of changed ciphertexts.
public struct TamperRecord: Codable, Hashable, Sendable {
    /// The version of this format that the program writes.
    public static let currentSchema = "chunkwise-tamper-1"

    /// The subject's name; for our readers the backend's.
    public var subject: String
    /// A row for each object: one of each strategy, or of each set of fields that its header can have.
    public var rows: [Row]

    package init(subject: String, rows: [Row]) {
        self.subject = subject
        self.rows = rows
    }

    /// The number of cases that the subject failed, in all rows.
    public var failed: Int { rows.reduce(0) { $0 + $1.failed } }

    /// The number of cases that were run, in all rows.
    public var executed: Int { rows.reduce(0) { $0 + $1.cases.count } }

    /// The results of one object.
    public struct Row: Codable, Hashable, Sendable {
        /// The state of a row.
        public enum State: String, Codable, Hashable, Sendable {
            /// The cases were run.
            case run
            /// The subject says that it does not support the strategy.
            case unsupported
            /// The cases were not run, or not all of them.
            case notRun
        }

        /// The strategy's name, with the parameters that tell it from others, and the number of a further header.
        public var strategy: String
        /// True if the format claims to detect every change.
        public var isAuthenticated: Bool
        /// The state of the row.
        public var state: State
        /// The original plaintext's length in bytes.
        public var plaintextByteCount: UInt64
        /// The original ciphertext's length in bytes.
        public var ciphertextByteCount: UInt64
        /// The length of the sequential reader's reads, in bytes.
        public var windowByteCount: UInt64
        /// The cases that were run.
        public var cases: [Case]

        package init(
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

        /// The number of cases that the subject failed.
        public var failed: Int { cases.count { $0.failure != nil } }
    }

    /// The results of one tampering.
    public struct Case: Codable, Hashable, Sendable {
        /// The kind of change: `truncate`, `extend`, `flip`, `swap`, `repeat`, `splice` or `header`.
        public var kind: String
        /// The place of the change.
        public var place: String
        /// The errors of which opening must report one; empty if opening need not fail.
        public var openingErrors: [String]
        /// The outcome of a reader from start to end.
        public var sequential: Outcome
        /// The outcome of a reader that reads only the changed places.
        public var touching: Outcome
        /// The reason why the subject failed the case; `nil` if it passed.
        public var failure: String?

        package init(
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

    /// The outcome of one reader.
    public struct Outcome: Codable, Hashable, Sendable {
        /// The end of a reader's work.
        public enum State: String, Codable, Hashable, Sendable {
            /// `open` failed with an error that names the ciphertext as wrong.
            case detectedAtOpen
            /// A read failed with such an error.
            case detectedAtRead
            /// The subject failed with another error.
            case otherError
            /// The subject reported no error and delivered everything as if it were right.
            case undetected
            /// The subject gave no proper answer.
            case noAnswer
        }

        /// The end of the reader's work.
        public var state: State
        /// The error's name, or the reason for a missing answer.
        public var error: String?
        /// The number of the read that failed, from 1; `nil` if opening failed, or nothing did.
        public var read: Int?
        /// The failed read's plaintext offset.
        public var offset: UInt64?
        /// The number of reads that delivered something.
        public var readCount: Int
        /// The number of bytes that differ from the original: delivered ones, and those that a refused read left in the
        /// buffer.
        public var wrongByteCount: UInt64
        /// The delivered wrong bytes that are authentic to the format, such as those of an object whose header was
        /// taken too. Not written to files.
        public var foreignByteCount: UInt64 = 0
        /// The bytes of the original that were not delivered although there was no error; only for a sequential reader.
        public var missingByteCount: UInt64
        /// The number of bytes that were delivered from behind the original's end.
        public var extraByteCount: UInt64
        /// The bytes of a refused chunk that the subject left in the plaintext buffer.
        public var releasedByteCount: UInt64

        private enum CodingKeys: String, CodingKey {
            case state, error, read, offset, readCount, wrongByteCount, missingByteCount, extraByteCount
            case releasedByteCount
        }

        /// An outcome; without counts, the subject delivered nothing.
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

        /// True if the subject noticed the change.
        public var isDetected: Bool { state == .detectedAtOpen || state == .detectedAtRead }
    }
}

extension TamperRecord.Row {
    /// The counts of a sequential reader: the cases that it noticed, and the bytes that it got wrong.
    public struct Counts: Encodable, Hashable, Sendable {
        /// The number of cases.
        public var cases = 0
        /// The number of cases that were noticed at opening.
        public var detectedAtOpen = 0
        /// The number of cases that were noticed at a read.
        public var detectedAtRead = 0
        /// The wrong bytes that were delivered or left behind by a refused read.
        public var wrongByteCount: UInt64 = 0
        /// The bytes that were missing at the end, without an error.
        public var missingByteCount: UInt64 = 0
        /// The bytes that were delivered from behind the original's end.
        public var extraByteCount: UInt64 = 0
        /// The number of cases that the subject failed.
        public var failed = 0

        /// The number of cases that were noticed.
        public var detected: Int { detectedAtOpen + detectedAtRead }

        /// True if there were cases, and all were noticed without a wrong, missing or extra byte or a failure.
        public var isClean: Bool {
            cases > 0 && detected == cases && wrongByteCount == 0 && missingByteCount == 0 && extraByteCount == 0
                && failed == 0
        }

        package init() {}
    }

    /// The kinds of tampering, in order.
    public static let kinds = ["truncate", "extend", "flip", "swap", "repeat", "splice", "header"]

    /// Returns the counts of one kind of tampering, or of all kinds.
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

    /// Returns the wrong bytes of each case of a kind that was not noticed, in ascending order.
    public func undetectedWrongByteCounts(kind: String) -> [UInt64] {
        cases.filter { $0.kind == kind && !$0.sequential.isDetected }.map(\.sequential.wrongByteCount).sorted()
    }
}
