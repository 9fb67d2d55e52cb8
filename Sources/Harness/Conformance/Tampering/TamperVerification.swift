package import Results
internal import SubjectProtocol
package import Vectors

/// The integrity matrix: the changes of ciphertexts that subjects detect, and the bytes that they deliver before.
package struct TamperVerification: Sendable {
    /// An object and the changes to be made to it.
    package struct Plan: Sendable {
        /// The object.
        package let target: TamperTarget
        /// The changes.
        package let cases: [TamperCase]

        /// Lists the cases of an object.
        package init(_ target: TamperTarget) {
            self.target = target
            self.cases = target.cases
        }
    }

    /// The objects.
    package let plans: [Plan]
    /// Returns `true` to skip the rest.
    private let isInterrupted: @Sendable () -> Bool

    /// Once `isInterrupted` returns `true`, the rest counts as not run.
    package init(
        targets: [TamperTarget] = TamperTarget.all, isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) {
        self.plans = targets.map(Plan.init)
        self.isInterrupted = isInterrupted
    }

    /// Runs everything against subjects in this process.
    ///
    /// - Parameters:
    ///   - subjects: Our readers, or mutants of them.
    ///   - threadCount: The threads that share the work.
    ///   - progress: Called after each row, on any thread.
    /// - Returns: A record for each subject, in order.
    package func run(
        _ subjects: [InProcessSubject], threadCount: Int = 2,
        progress: (@Sendable (VerificationProgress) -> Void)? = nil
    ) -> [TamperRecord] {
        let total = subjects.count * plans.count
        let rows = SharedWork.run(
            itemCount: total, threadCount: threadCount,
            finished: { item, finished in
                let name = subjects[item / plans.count].name
                progress?(VerificationProgress(subject: name, finished: finished, total: total))
            },
            { item in row(plans[item % plans.count], subject: subjects[item / plans.count]) })
        return subjects.enumerated().map { index, subject in
            TamperRecord(subject: subject.name, rows: plans.indices.compactMap { rows[index * plans.count + $0] })
        }
    }

    /// Runs everything against a program that speaks the subject protocol.
    ///
    /// - Parameters:
    ///   - command: The subject's command line, for `/bin/sh -c`.
    ///   - timeout: The time that each answer may take.
    ///   - progress: Called after each row.
    /// - Returns: The record, under the name that the subject reports.
    /// - Throws: `ExternalVerification.Failure.notStarted`, also if the subject does not say hello properly.
    package func run(
        command: String, timeout: Duration = .seconds(10), progress: ((_ finished: Int, _ total: Int) -> Void)? = nil
    ) throws(ExternalVerification.Failure) -> TamperRecord {
        let subject = try ExternalSubject(command: command, timeout: timeout, isInterrupted: isInterrupted)
        var rows: [TamperRecord.Row] = []
        for plan in plans {
            rows.append(row(plan, subject: subject) { subject.session.reasonToGiveUp != nil })
            progress?(rows.count, plans.count)
        }
        return TamperRecord(subject: subject.name, rows: rows)
    }

    /// Runs all cases of one object. If `shouldStop` returns `true` before the last case, the row counts as not run.
    private func row(
        _ plan: Plan, subject: any SubjectUnderTest, shouldStop: () -> Bool = { false }
    ) -> TamperRecord.Row {
        let target = plan.target
        if case .unsupported = subject.supportStatus(for: target.group(of: target.original)) {
            return emptyRow(plan, .unsupported)
        }
        var row = emptyRow(plan, .run)
        for tampering in plan.cases {
            guard !isInterrupted(), !shouldStop() else {
                row.state = .notRun
                break
            }
            let check = TamperCheck(target: target, tampering: tampering, subject: subject)
            let (sequential, touching) = (check.sequential(), check.touching())
            row.cases.append(
                TamperRecord.Case(
                    kind: tampering.kind.rawValue, place: tampering.location,
                    openingErrors: tampering.openingErrors.map(\.rawValue), sequential: sequential,
                    touching: touching,
                    failure: TamperVerdict(target: target, tampering: tampering)
                        .failure(sequential: sequential, touching: touching)))
        }
        return row
    }

    private func emptyRow(_ plan: Plan, _ state: TamperRecord.Row.State) -> TamperRecord.Row {
        let target = plan.target
        return TamperRecord.Row(
            strategy: target.label, isAuthenticated: target.isAuthenticated, state: state,
            plaintextByteCount: UInt64(target.plaintext.count),
            ciphertextByteCount: UInt64(target.original.bytes.count), windowByteCount: UInt64(target.windowByteCount),
            cases: [])
    }
}
