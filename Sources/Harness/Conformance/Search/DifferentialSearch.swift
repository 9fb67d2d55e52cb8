import ByteSources
import RandomAccess
import Vectors

/// Compares subjects with the oracle on random cases, and shrinks the cases that differ.
package struct DifferentialSearch {
    /// A difference, shrunk as far as possible.
    package struct Difference: Sendable {
        /// The subject that differs.
        package let subject: String
        /// The case's number, counted from 0. With the seed, it is enough to draw the case again.
        package let number: Int
        /// The case, shrunk as far as time allowed.
        package let searchCase: SearchCase
        /// False if the time was over before all smaller cases were tried.
        package let isShrunk: Bool
        /// A description of the difference.
        package let reason: String
    }

    /// The outcome of a search.
    package struct Outcome: Sendable {
        /// The number of cases that were drawn.
        package let drawn: Int
        /// The number of cases that ran, counted for each subject.
        package let executed: Int
        /// The number of reads in these.
        package let readCount: Int
        /// The number of cases that subjects do not support, counted for each subject.
        package let unsupported: Int
        /// The number of cases that each subject ran, and of those that it does not support, by its name.
        package let casesBySubject: [String: (executed: Int, unsupported: Int)]
        /// The first difference of each subject that has one.
        package let differences: [Difference]
    }

    /// The subjects.
    package let subjects: [any SubjectUnderTest]
    /// The seed from which the cases are drawn.
    package let seed: UInt64
    /// The number of the first case.
    package let firstNumber: Int

    /// Returns `true` once the user has interrupted; the subjects may then be gone.
    private let isInterrupted: @Sendable () -> Bool

    package init(
        subjects: [any SubjectUnderTest], seed: UInt64, firstNumber: Int = 0,
        isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) {
        self.subjects = subjects
        self.isInterrupted = isInterrupted
        self.seed = seed
        self.firstNumber = firstNumber
    }

    /// Draws cases, and shrinks those that show a difference. A subject takes no further part once it has differed.
    ///
    /// - Parameters:
    ///   - goesOn: Returns whether there is time left, given the number of cases drawn and, while one is shrunk, the
    ///     number of smaller cases tried.
    ///   - found: Called with a difference before it is shrunk.
    /// - Returns: The outcome.
    package func run(
        while goesOn: (_ drawn: Int, _ tried: Int?) -> Bool, found: (Difference) -> Void = { _ in }
    ) -> Outcome {
        var trials = subjects.map { SearchTrial(subject: $0) }
        var (drawn, readCount) = (0, 0)
        var cases: [String: (executed: Int, unsupported: Int)] = [:]
        var differences: [Difference] = []
        while !trials.isEmpty, !isInterrupted(), goesOn(drawn, nil) {
            let number = firstNumber + drawn
            let searchCase = SearchDraws.draw(seed: seed, number: number)
            for trial in trials {
                guard trial.isSupported(searchCase) else {
                    cases[trial.subject.name, default: (0, 0)].unsupported += 1
                    continue
                }
                cases[trial.subject.name, default: (0, 0)].executed += 1
                readCount += searchCase.reads.count
                guard let first = trial.mismatch(in: searchCase), !isInterrupted() else { continue }
                func difference(_ smallest: SearchCase, _ reason: String, isShrunk: Bool) -> Difference {
                    Difference(
                        subject: trial.subject.name, number: number, searchCase: smallest, isShrunk: isShrunk,
                        reason: reason)
                }
                found(difference(searchCase, first, isShrunk: false))
                var reason = first
                let shrinking = SearchShrinking()
                let (smallest, isFinished) = shrinking.shrink(searchCase) { candidate in
                    guard trial.isSupported(candidate), let mismatch = trial.mismatch(in: candidate), !isInterrupted()
                    else { return false }
                    reason = mismatch
                    return true
                } while: {
                    !isInterrupted() && goesOn(drawn, $0)
                }
                // A subject's state from earlier cases can cause a failure that does not show again.
                if isFinished { reason = trial.mismatch(in: smallest) ?? "a difference that did not show again" }
                differences.append(difference(smallest, reason, isShrunk: isFinished))
            }
            let found = Set(differences.map(\.subject))
            trials.removeAll { found.contains($0.subject.name) }
            drawn += 1
        }
        return Outcome(
            drawn: drawn, executed: cases.values.reduce(0) { $0 + $1.executed }, readCount: readCount,
            unsupported: cases.values.reduce(0) { $0 + $1.unsupported }, casesBySubject: cases, differences: differences
        )
    }
}

/// Runs one case against one subject.
struct SearchTrial {
    let subject: any SubjectUnderTest

    /// Says whether the subject claims to support the whole case.
    func isSupported(_ searchCase: SearchCase) -> Bool {
        searchCase.objects.allSatisfy { subject.supports($0.strategy, keyByteCount: $0.key.count) }
            && searchCase.reads.allSatisfy { subject.takes(offset: $0.offset, count: $0.count) }
    }

    /// Returns how the subject differs from the oracle, or `nil`; `nil` also if the case is impossible.
    func mismatch(in searchCase: SearchCase) -> String? {
        var opened: [(object: any ObjectUnderTest, check: ReadCheck, group: VectorGroup)] = []
        defer { for (object, _, _) in opened { object.close() } }
        for (number, object) in searchCase.objects.enumerated() {
            guard let group = try? object.group(id: "object \(number)") else { return nil }
            guard let object = try? subject.object(group, setup: searchCase.setup) else { return nil }
            opened.append((object, ReadCheck(group: group, maxGuesses: subject.maxGuessCount), group))
            if let found = object.open().mismatch(expecting: group.opening) { return "object \(number): \(found)" }
        }
        for (number, read) in searchCase.reads.enumerated() {
            let (object, check, group) = opened[read.object]
            let vector = RangeRead(offset: read.offset, count: read.count, of: group.plaintext.byteCount, flags: [])
            guard let expectation = try? check.expectation(of: vector) else { return nil }
            if let found = mismatch(in: object, read, vector, check, expectation) {
                return "read \(number), \(read.offset)+\(read.count) of object \(read.object): \(found)"
            }
        }
        return nil
    }

    private func mismatch(
        in object: any ObjectUnderTest, _ read: SearchCase.Read, _ vector: RangeRead, _ check: ReadCheck,
        _ expectation: ReadCheck.Expectation
    ) -> String? {
        switch expectation {
        case .error(let name):
            return check.mismatch(in: object, at: read.offset, count: read.count, expecting: name)
        case .bytes(let bytes):
            let found = read.failsFirst ? check.faultMismatch(in: object, read: vector, expected: bytes) : nil
            return found ?? check.mismatch(in: object, at: read.offset, count: read.count, expecting: bytes)
        }
    }
}
