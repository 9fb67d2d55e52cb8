package import RandomAccess
package import Results
package import Vectors

/// Which classes of vectors notice which planted faults.
package struct KillMatrix: Sendable {
    /// What came of each mutant, in their order.
    package let outcomes: [MutantOutcome]
    /// The readers that have no fault, and must pass: otherwise being killed proves nothing.
    package let controls: [ConformanceRecord]
    /// Whether every reader was put to the vectors, and nothing was stopped.
    package let isFinished: Bool

    /// The mutants that no vector of their own class noticed.
    package var survivors: [MutantOutcome] { outcomes.filter { !$0.isKilledByItsFlag } }

    /// Whether every mutant was killed by its own class, there were any, and the controls passed.
    package var isComplete: Bool {
        isFinished && !outcomes.isEmpty && survivors.isEmpty && controls.allSatisfy { $0.failed == 0 && $0.passed > 0 }
    }

    /// Puts mutants to vectors.
    ///
    /// A mutant is not put to a group whose flags have all been found to notice it. `progress` is called with how much of
    /// the work is done, on any of the threads; what `shouldStop` stops has no outcomes.
    package static func run(
        _ mutants: [Mutant] = Mutant.all, over backend: any CipherBackend, groups: [VectorGroup],
        threadCount: Int = 2, shouldStop: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) -> KillMatrix {
        let controls = [
            ConformanceSubject(backend: backend),
            TextbookReader.subject(
                "textbook", backend: backend, rules: TextbookRules(),
                openPlaylist: TextbookPlaylistReader.opening(fault: nil, over: backend)),
        ]
        let run = FlagRun(
            subjects: mutants.map { $0.subject(over: backend) } + controls, earlyCount: mutants.count,
            threadCount: threadCount)
        guard let records = run.run(groups, shouldStop: shouldStop, progress: progress) else {
            return KillMatrix(outcomes: [], controls: [], isFinished: false)
        }
        return KillMatrix(
            outcomes: zip(mutants, records).map { MutantOutcome(mutant: $0, record: $1) },
            controls: Array(records[mutants.count...]), isFinished: true)
    }
}

/// What the vectors made of one mutant.
package struct MutantOutcome: Sendable {
    /// The mutant.
    package let mutant: Mutant
    /// How it did, flag by flag.
    package let record: ConformanceRecord

    /// The flags of vectors that it failed, in the order in which flags are listed.
    ///
    /// To pass nothing is to fail everything: what only ever says `unsupported` has shown nothing.
    package var killedBy: [VectorFlag] {
        let flags = record.flags ?? []
        let failed = record.passed == 0 ? flags : flags.filter { $0.failed > 0 }
        let names = Set(failed.map(\.flag))
        return VectorFlag.allCases.filter { names.contains($0.rawValue) }
    }

    /// Whether any vector noticed it.
    package var isKilled: Bool { !killedBy.isEmpty }

    /// Whether a vector noticed it that stands for its fault.
    package var isKilledByItsFlag: Bool { killedBy.contains(mutant.flag) }
}
