package import Results
package import Vectors

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
