/// What came of examining one subject's memory.
package struct MemoryOutcome: Hashable, Sendable {
    /// How a check ended.
    package enum Verdict: String, Hashable, Sendable {
        /// The figure is within the limit.
        case passed
        /// It is not, or the subject failed on the way.
        case failed
        /// The check is not for this subject, or the kernel does not tell.
        case notRun
    }

    /// One check.
    package struct Check: Hashable, Sendable {
        /// What is checked.
        package var name: String
        /// How it ended.
        package var verdict: Verdict
        /// What was measured, in bytes; `nil` where nothing was.
        package var byteCount: UInt64?
        /// The most that it may be, in bytes; `nil` where nothing is known.
        package var limitByteCount: UInt64?
        /// What was measured and expected, in words.
        package var reason: String

        /// Judges a figure.
        init(_ name: String, byteCount: UInt64, limitByteCount: UInt64, reason: String) {
            self.name = name
            self.verdict = byteCount <= limitByteCount ? .passed : .failed
            self.byteCount = byteCount
            self.limitByteCount = limitByteCount
            self.reason = reason
        }

        /// A check without a figure.
        init(_ name: String, _ verdict: Verdict, reason: String) {
            self.name = name
            self.verdict = verdict
            self.reason = reason
        }
    }

    /// What the subject calls itself.
    package var subject: String
    /// The checks, in the order in which they were made.
    package var checks: [Check]

    /// How many checks ended so.
    package func count(_ verdict: Verdict) -> Int {
        checks.filter { $0.verdict == verdict }.count
    }
}
