package import RandomAccess
package import Results
internal import SubjectProtocol
package import Vectors

/// Runs vectors against a program that speaks the subject protocol.
///
/// The program gets all requests one after another, in one process at a time. If it hangs, dies or breaks the framing,
/// only the current check is lost.
package struct ExternalVerification: Sendable {
    /// The reason that there is no record.
    package enum Failure: Error, Hashable, Sendable {
        /// The shell could not start the command.
        case notStarted(reason: String)
    }

    /// The subject's command line, for `/bin/sh -c`.
    package let command: String
    /// The time that each answer may take.
    package let timeout: Duration
    /// True if the subject gets all vectors, false if it gets the tier.
    package let runsEverything: Bool
    /// True if the use of the protocol is checked, too, which belongs to no group of vectors.
    package let checksProtocol: Bool
    /// True if protocol errors are failures, false if they are findings beside the verdict; see
    /// ``ExternalFlag/mending``.
    package let isStrict: Bool
    /// The max number of failures that the record lists; it counts all of them.
    package let listedFailureCount: Int

    /// Returns `true` to skip the rest.
    private let isInterrupted: @Sendable () -> Bool

    /// The backend of the mutants whose failures are compared with the subject's; `nil` to skip the search for a cause.
    private let backend: (any CipherBackend)?

    /// Once `isInterrupted` returns `true`, the rest counts as not run.
    package init(
        command: String, timeout: Duration = .seconds(10), runsEverything: Bool = false, checksProtocol: Bool = true,
        isStrict: Bool = true, listedFailureCount: Int = 40, explainingWith backend: (any CipherBackend)? = nil,
        isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) {
        self.command = command
        self.timeout = timeout
        self.runsEverything = runsEverything
        self.checksProtocol = checksProtocol
        self.isStrict = isStrict
        self.listedFailureCount = listedFailureCount
        self.backend = backend
        self.isInterrupted = isInterrupted
    }

    /// The outcome of a verification.
    package struct Outcome: Sendable {
        /// The counts and failures.
        package let record: ConformanceRecord
        /// The version that the subject reports.
        package let version: String
        /// The number of `read` requests that the subject got.
        package let readCount: Int
    }

    /// Runs everything against the subject.
    ///
    /// - Parameters:
    ///   - groups: All vectors, from which this function chooses a tier.
    ///   - tier: The choice, if it was already made for another subject.
    ///   - progress: Called after each group.
    /// - Returns: The record, under the name that the subject reports.
    /// - Throws: `Failure.notStarted`.
    package func run(
        _ groups: [VectorGroup], tier: VectorTier? = nil, progress: ((_ finished: Int, _ total: Int) -> Void)? = nil
    ) throws(Failure) -> Outcome {
        let session = ExternalSession(command: command, timeout: timeout, isInterrupted: isInterrupted)
        var tally = Tally(capacity: listedFailureCount, counting: .findings)
        let hello: ExternalHello
        switch try greet(session) {
        case .success(let greeting): hello = greeting
        case .failure(let mismatch):
            tally.add(.adapter("protocol/hello", .subjectProtocol, mismatch.description))
            var record = tally.record(subject: command)
            record.vectorCount = 0
            return Outcome(record: record, version: "", readCount: 0)
        }
        let subject = ExternalSubject(session: session, hello: hello)
        if checksProtocol {
            tally.add(.adapter("protocol/hello", .subjectProtocol, nil))
            // These are formats that the protocol knows, but this version has no vectors for.
            for name in hello.strategies
            where !ExternalHello.knownStrategies.contains(name) {
                tally.note(.notRun, flags: [ExternalFlag.subjectProtocol.rawValue])
            }
            var formats: [Format] = []
            for format in groups.lazy.filter(\.hasStrategy).map(\.strategy.format)
            where formats.last != format && !formats.contains(format) {
                formats.append(format)
            }
            let fixtures = ExternalFixture.strategies(of: hello, among: formats, opens: subject.opens)
            ProtocolRun(subject: subject, fixtures: fixtures, isStrict: isStrict).run(into: &tally)
            ExternalOrders(subject: subject, fixtures: fixtures).run(into: &tally)
            ExternalPaths(subject: subject, fixtures: fixtures).run(into: &tally)
            ExternalReplacements(subject: subject, fixtures: fixtures).run(into: &tally)
            ExternalGrowth(subject: subject).run(into: &tally)
        }
        let tier = runsEverything ? nil : tier ?? VectorTier(of: groups)
        let chosen = groups.enumerated().filter { tier?.contains(group: $0.offset) ?? true }
        var finder = backend.map { CauseFinder(backend: $0) }
        var trait = CommonTrait()
        for members in InterleavedRun.sets(of: chosen, group: \.element) {
            let (executedCount, failedCount) = (tally.executedCount, tally.failedCount)
            defer {
                trait.note(
                    members.map(\.element), executed: tally.executedCount - executedCount,
                    failed: tally.failedCount - failedCount)
            }
            let asked = members.map { index, group -> InterleavedRun.Member in
                (group, tier.map { Array($0.reads(of: group, index: index)) } ?? group.reads.numbered)
            }
            if finder != nil {
                finder?.run(asked, subject: subject, into: &tally)
            } else {
                InterleavedRun.run(asked, subject: subject, into: &tally)
            }
            progress?((members.last?.offset ?? 0) + 1, groups.count)
        }
        if !isInterrupted(), let reason = session.reasonToGiveUp {
            tally.add(
                .adapter(
                    "protocol/given up", .subjectProtocol,
                    "\(reason): expected answers; what was left is not run"))
        }
        var record = tally.record(subject: hello.name)
        record.version = hello.version
        record.commonTrait = trait.text
        if !groups.isEmpty { record.vectorCount = tally.vectorCount }
        record.choice = tier.map { tier in
            .init(
                chosenCount: chosen.reduce(0) { $0 + 1 + tier.reads(of: $1.element, index: $1.offset).count },
                allCount: groups.reduce(0) { $0 + $1.vectorCount })
        }
        record.cause = isInterrupted() ? nil : finder?.cause()
        return Outcome(
            record: record, version: hello.version, readCount: session.readCount)
    }

    /// Returns the subject's description of itself, or what is wrong with it.
    private func greet(_ session: ExternalSession) throws(Failure) -> Result<ExternalHello, ExternalHello.Mismatch> {
        let answer: SubjectAnswer
        do {
            answer = try session.start().answer
        } catch .notStarted(_, let reason) {
            throw .notStarted(reason: reason)
        } catch .died(let status, let log) where [126, 127].contains(status >> 8) {
            // Source: POSIX.1-2017, sh: 127 for a command that is not found, 126 for one that cannot be run.
            throw .notStarted(reason: log.isEmpty ? "it exited with status \(status >> 8)" : log)
        } catch {
            return .failure(ExternalHello.Mismatch(description: "hello: \(error)"))
        }
        guard answer.isGood else {
            return .failure(
                ExternalHello.Mismatch(description: "hello is answered with an error: expected success"))
        }
        do throws(ExternalHello.Mismatch) {
            return .success(try ExternalHello(answer.members))
        } catch {
            return .failure(error)
        }
    }
}
