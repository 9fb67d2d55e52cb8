package import RandomAccess
internal import Support
package import Vectors

/// The number of chosen vectors that notice each injected fault. One is not enough, since the next choice might leave
/// it out.
package struct ChoiceMatrix: Sendable {
    /// The outcome of one mutant.
    package struct Outcome: Sendable {
        /// The mutant.
        package let mutant: Mutant
        /// The number of vectors that failed, at most ``ChoiceMatrix/minCount``, after which no more are run.
        package let failedCount: Int
    }

    /// The min number of vectors that must notice a fault.
    package static let minCount = 2

    /// The outcomes of the mutants that a program can be, in their order.
    package let outcomes: [Outcome]

    /// The mutants that too few vectors noticed.
    package var survivors: [Outcome] { outcomes.filter { $0.failedCount < Self.minCount } }

    /// Runs a choice of vectors against mutants as if they were programs: ranges of one object after another, with
    /// ciphertext that the harness serves.
    ///
    /// - Parameters:
    ///   - mutants: The mutants; those whose faults no program can show are left out.
    ///   - backend: A backend without faults.
    ///   - groups: The vectors from which a tier is chosen.
    ///   - threadCount: The threads that share the work.
    ///   - shouldStop: Called before each mutant; returns `true` to stop.
    /// - Returns: The matrix; `nil` if the run was stopped.
    package static func run(
        _ mutants: [Mutant] = Mutant.all, over backend: any CipherBackend, groups: [VectorGroup],
        threadCount: Int = 2, shouldStop: @escaping @Sendable () -> Bool = { false }
    ) -> ChoiceMatrix? {
        let mutants = mutants.filter { $0.isForPrograms && !hidden.contains($0.flag) }
        let tier = VectorTier(of: groups)
        let chosen = groups.indices.filter { tier.contains(group: $0) }
        let sets = InterleavedRun.sets(of: chosen, group: { groups[$0] }).map { indices in
            let members = indices.map { index -> InterleavedRun.Member in
                (groups[index].holdingShortCiphertext(), tier.reads(of: groups[index], index: index))
            }
            return (members: members, flags: Set(members.flatMap(\.group.flags)))
        }
        let found = SharedWork.run(
            itemCount: mutants.count, threadCount: threadCount, shouldStop: shouldStop, finished: { _, _ in }
        ) { item in
            let mutant = mutants[item]
            let reader = ServedReader(
                base: mutant.subject(over: backend), windowByteCount: mutant.windowByteCount)
            var tally = Tally(capacity: 0, counting: .findings)
            // Vectors of the mutant's own flag are likely to notice it, and come first.
            for isOwn in [true, false] {
                for set in sets where set.flags.contains(mutant.flag) == isOwn && tally.failedCount < minCount {
                    InterleavedRun.run(set.members, subject: reader, into: &tally)
                }
            }
            // A mutant that ran no vector is not a survivor.
            return Outcome(
                mutant: mutant, failedCount: tally.executedCount == 0 ? minCount : min(tally.failedCount, minCount))
        }.compactMap { $0 }
        guard found.count == mutants.count else { return nil }
        return ChoiceMatrix(outcomes: found)
    }

    /// Classes of bugs that do not show in a program that answers one request after another for ranges of an object of
    /// constant length: memory around a buffer, several threads, another length.
    private static let hidden: Set<VectorFlag> = [.bufferBounds, .concurrentReads, .changedLength]
}
