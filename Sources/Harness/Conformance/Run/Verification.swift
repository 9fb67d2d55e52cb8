package import RandomAccess
package import Results
package import Vectors

/// The progress of a verification.
package struct VerificationProgress: Hashable, Sendable {
    /// The subject that finished a part.
    package let subject: String
    /// The number of finished parts, of all subjects.
    package let finished: Int
    /// The number of parts.
    package let total: Int
}

/// Runs vectors against our readers over backends, in this process.
package struct Verification: Sendable {
    /// The subjects.
    package let subjects: [InProcessSubject]
    /// The threads that share the work.
    package let threadCount: Int
    /// The max number of failures that a record lists; it counts all of them.
    package let listedFailureCount: Int

    package init(subjects: [InProcessSubject], threadCount: Int = 2, listedFailureCount: Int = 20) {
        self.subjects = subjects
        self.threadCount = max(1, threadCount)
        self.listedFailureCount = listedFailureCount
    }

    /// Runs every group against every subject, and returns a record for each subject, in order.
    ///
    /// Each vector counts once for each subject: it passes if every reader that ran it did as expected. `progress` is
    /// called after each part, and `shouldStop` before each, on any of the threads. If the run is stopped, the records
    /// cover the parts that were run.
    package func run(
        _ groups: some Sequence<VectorGroup>, progress: (@Sendable (VerificationProgress) -> Void)? = nil,
        shouldStop: @escaping @Sendable () -> Bool = { false }
    ) -> [ConformanceRecord] {
        let groups = InterleavedRun.sets(of: groups) { $0 }
        let partCount = min(16, groups.count)
        let total = subjects.count * partCount
        let (subjects, capacity) = (subjects, listedFailureCount)
        // All subjects run a part one after another, so that they share expected bytes that are costly to compute.
        let tallies = SharedWork.run(
            itemCount: total, threadCount: threadCount, shouldStop: shouldStop,
            finished: { item, finished in
                let name = subjects[item % subjects.count].name
                progress?(VerificationProgress(subject: name, finished: finished, total: total))
            },
            { item in
                var tally = Tally(capacity: capacity)
                for index in stride(from: item / subjects.count, to: groups.count, by: partCount) {
                    let members = groups[index].map { $0.holdingShortCiphertext() }
                    InterleavedRun.run(members, subject: subjects[item % subjects.count], into: &tally)
                }
                return tally
            })
        return subjects.enumerated().map { index, subject in
            var tally = Tally(capacity: capacity)
            for part in 0..<partCount { tallies[part * subjects.count + index].map { tally.merge($0) } }
            return tally.record(subject: subject.name)
        }
    }
}

extension Verification {
    /// The largest read by backend name, for backends that would take minutes over larger ones.
    package static let slowBackends = ["swift-reference": 1 << 20]

    /// Our readers over some backends. Reads that are too large for a slow one count as not run. With `relocate`, the
    /// readers read the sources that it returns instead of the groups' own.
    package init(
        backends: [any CipherBackend], threadCount: Int = 2, largestReadByteCounts: [String: Int] = slowBackends,
        relocate: InProcessSubject.Relocate? = nil
    ) {
        let subjects = backends.map {
            InProcessSubject(
                backend: $0, largestReadByteCount: largestReadByteCounts[$0.name] ?? .max, relocate: relocate)
        }
        self.init(subjects: subjects, threadCount: threadCount)
    }
}
