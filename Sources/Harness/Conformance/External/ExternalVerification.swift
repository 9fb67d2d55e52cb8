package import RandomAccess
package import Results
internal import SubjectProtocol
internal import Support
internal import Synchronization
package import Vectors

/// Runs vectors against a program that speaks the subject protocol.
///
/// A process of the program gets its requests one after another. If it hangs, dies or breaks the framing, only the
/// current check is lost.
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
    /// The number of processes that share the vectors; one if the cause of failures is looked for.
    package let processCount: Int

    /// Returns `true` to skip the rest.
    private let isInterrupted: @Sendable () -> Bool

    /// The backend of the mutants whose failures are compared with the subject's; `nil` to skip the search for a cause.
    private let backend: (any CipherBackend)?

    /// Once `isInterrupted` returns `true`, the rest counts as not run.
    package init(
        command: String, timeout: Duration = .seconds(10), runsEverything: Bool = false, checksProtocol: Bool = true,
        isStrict: Bool = true, listedFailureCount: Int = 40, processCount: Int = 1,
        explainingWith backend: (any CipherBackend)? = nil, isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) {
        self.command = command
        self.timeout = timeout
        self.runsEverything = runsEverything
        self.checksProtocol = checksProtocol
        self.isStrict = isStrict
        self.listedFailureCount = listedFailureCount
        self.processCount = backend == nil ? max(1, processCount) : 1
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
    ///   - progress: Called after each set of groups that are open together, on any thread.
    /// - Returns: The record, under the name that the subject reports.
    /// - Throws: `Failure.notStarted`.
    package func run(
        _ groups: [VectorGroup], tier: VectorTier? = nil,
        progress: (@Sendable (_ finished: Int, _ total: Int) -> Void)? = nil
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
        let sets = InterleavedRun.sets(of: chosen, group: \.element)
        var shares = [Share(subject: subject, tally: tally, finder: backend.map { CauseFinder(backend: $0) })]
        for _ in 1..<processCount {
            let more = ExternalSession(command: command, timeout: timeout, isInterrupted: isInterrupted)
            let tally = Tally(capacity: listedFailureCount, counting: .findings)
            shares.append(Share(subject: ExternalSubject(session: more, hello: hello), tally: tally))
        }
        let finishedCount = Mutex(0)
        shares = Parallel.map(Array(shares.enumerated()), threadCount: processCount) { first, share in
            var share = share
            for index in stride(from: first, to: sets.count, by: processCount) {
                share.run(
                    sets[index].map { index, group in
                        (group, tier.map { Array($0.reads(of: group, index: index)) } ?? group.reads.numbered)
                    })
                let count = finishedCount.withLock { count in
                    count += 1
                    return count
                }
                progress?(count, sets.count)
            }
            return share
        }
        tally = shares[0].tally
        for share in shares.dropFirst() { tally.merge(share.tally) }
        if !isInterrupted(), let reason = shares.lazy.compactMap(\.subject.session.reasonToGiveUp).first {
            tally.add(
                .adapter(
                    "protocol/given up", .subjectProtocol,
                    "\(reason): expected answers; what was left is not run"))
        }
        var record = tally.record(subject: hello.name)
        record.version = hello.version
        record.commonTrait = CommonTrait.sum(of: shares.map(\.trait)).text
        if !groups.isEmpty { record.vectorCount = tally.vectorCount }
        record.choice = tier.map { tier in
            .init(
                chosenCount: chosen.reduce(0) { $0 + 1 + tier.reads(of: $1.element, index: $1.offset).count },
                allCount: groups.reduce(0) { $0 + $1.vectorCount })
        }
        record.cause = isInterrupted() ? nil : shares[0].finder?.cause()
        return Outcome(
            record: record, version: hello.version, readCount: shares.reduce(0) { $0 + $1.subject.session.readCount })
    }

    /// The vectors of one process, and their outcome. One thread at a time uses it.
    private struct Share: @unchecked Sendable {
        let subject: ExternalSubject
        var tally: Tally
        var trait = CommonTrait()
        var finder: CauseFinder?

        /// Runs groups that are open together.
        mutating func run(_ members: [InterleavedRun.Member]) {
            let (executedCount, failedCount) = (tally.executedCount, tally.failedCount)
            if var finder = finder.take() {
                finder.run(members, subject: subject, into: &tally)
                self.finder = finder
            } else {
                InterleavedRun.run(members, subject: subject, into: &tally)
            }
            trait.note(
                members.map(\.group), executed: tally.executedCount - executedCount,
                failed: tally.failedCount - failedCount)
        }
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
            let (name, message) = (answer.members["error"]?.text ?? "none", answer.members["message"]?.text ?? "none")
            return .failure(
                ExternalHello.Mismatch(
                    description: "hello is answered with the error \(name.prefix(80)), message \(message.prefix(200)): "
                        + "expected success"))
        }
        do throws(ExternalHello.Mismatch) {
            return .success(try ExternalHello(answer.members))
        } catch {
            return .failure(error)
        }
    }
}
