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
