import RandomAccess
import Vectors

/// Puts one subject to one read, and some reads to a source that delivers little, fails, or ends early.
struct ExternalReadRun {
    let object: ExternalObject
    let read: RangeRead
    /// The identifier, where it is not the group's.
    var id: String?
    /// The classes of bugs, where they are not the read's.
    var flags: [String]?

    /// One read in so many meets each fault. A prime, so that the faults meet every kind of a regular list of reads.
    private static let faultStride = 19

    private var group: VectorGroup { object.group }
    private var name: String { id ?? group.id(of: read) }
    private var size: [UInt64] { [group.ciphertext.byteCount, UInt64(read.count), read.offset] }

    /// Reads, and adds what came of it; every few reads, by their `number`, also what came of faults.
    func run(number: Int, session: ExternalSession, into tally: inout ExternalTally) {
        guard group.supply == .any || group.supply == .whole else {
            return runSupplied(number: number, session: session, into: &tally)
        }
        guard runPlain(session: session, into: &tally), deliveredByteCount > 0, object.served != nil else { return }
        switch number % Self.faultStride {
        case 3:
            add([.shortReads], "in short reads", mismatch(object.read(read, .short(largest: 7))), session, &tally)
        case 7:
            runFault(.failure, .io, .sourceFailure, session, into: &tally)
        case 11:
            guard group.playlist == nil else {
                return runFault(.end(at: 0), .truncatedCiphertext, .sourceEndsEarly, session, into: &tally)
            }
            guard let end = object.rule.needed(for: range).ranges.last?.upperBound else { return }
            runFault(.end(at: end - 1), .truncatedCiphertext, .sourceEndsEarly, session, into: &tally)
        default: break
        }
    }

    /// Reads, and adds the verdicts on bytes and fetches.
    ///
    /// - Returns: Whether the bytes were right.
    @discardableResult
    func runPlain(session: ExternalSession, into tally: inout ExternalTally) -> Bool {
        let outcome = object.read(read)
        let found = mismatch(outcome)
        tally.add(
            ExternalVerdict(id: name, flags: flags ?? read.flags.map(\.rawValue), mismatch: found, size: size))
        if case .answered = outcome, case .error = read.expected {
        } else if case .answered = outcome, object.isGraded {
            let fetches = object.fetchComplaint(delivering: range)
            tally.add(ExternalGroupRun.fetchVerdict(name, size: size, mismatch: fetches))
        } else if !object.isGraded {
            tally.addNotRun([ExternalFlag.fetches.rawValue])
        }
        if found != nil { session.resynchronize() }
        return found == nil
    }

    /// Reads as the group's source is to behave: one verdict on all of it.
    private func runSupplied(number: Int, session: ExternalSession, into tally: inout ExternalTally) {
        var found: String?
        if deliveredByteCount > 0, group.supply != .shortReads {
            for (fault, expected) in faults(number) {
                let mismatch = self.mismatch(fault: fault, expected)
                if group.supply != .recovering { found = found ?? mismatch.map { "\(fault): \($0)" } }
            }
        }
        // Each part is a message: long reads come in larger ones.
        let largest = [1, 7, 15, 16, 17, 31, 33, 64, 100][number % 9] * (deliveredByteCount > 4096 ? 97 : 1)
        found = found ?? mismatch(object.read(read, group.supply == .shortReads ? .short(largest: largest) : .none))
        tally.add(ExternalVerdict(id: name, flags: flags ?? read.flags.map(\.rawValue), mismatch: found, size: size))
        if found != nil { session.resynchronize() }
    }

    /// What goes wrong before a read of this `number`, and the error that is to come of it: in turn at the first, a
    /// middle, and the last byte that is needed.
    private func faults(_ number: Int) -> [(ServedCiphertext.Fault, ErrorName)] {
        let ranges = object.rule.needed(for: range).ranges
        guard let start = ranges.first?.lowerBound, let end = ranges.last?.upperBound else { return [] }
        let place = [start, start + (end - start) / 2, end - 1][number % 3]
        switch group.supply {
        case .failing: return [(place == start ? .failure : .failureFrom(place), .io)]
        case .endingEarly: return [(.end(at: place), .truncatedCiphertext)]
        case .recovering: return [(.failureFrom(place), .io), (.end(at: place), .truncatedCiphertext)]
        case .any, .whole, .shortReads, .changing: return []
        }
    }

    private var deliveredByteCount: Int {
        switch read.expected {
        case .bytes(let bytes): bytes.count
        case .plaintext(let byteCount): byteCount
        case .error: 0
        }
    }

    private var range: Range<UInt64> { read.offset..<read.offset + UInt64(deliveredByteCount) }

    /// Lets the source go wrong, and then reads once more to see that the subject has got over it.
    ///
    /// A subject that kept what it needs fetches nothing and meets no fault, and its bytes are as good as the error.
    private func runFault(
        _ fault: ServedCiphertext.Fault, _ expected: ErrorName, _ flag: ExternalFlag, _ session: ExternalSession,
        into tally: inout ExternalTally
    ) {
        let found = mismatch(fault: fault, expected)
        add([flag], fault == .failure ? "as the source fails" : "as the source ends early", found, session, &tally)
        add(
            [flag, .afterFailure], fault == .failure ? "after the source failed" : "after the source ended early",
            mismatch(object.read(read)), session, &tally)
    }

    /// What is wrong with how a read ends while the source goes wrong, or `nil`.
    private func mismatch(fault: ServedCiphertext.Fault, _ expected: ErrorName) -> String? {
        let outcome = object.read(read, fault)
        let hasFaulted = object.served?.hasFaulted ?? false
        switch outcome {
        case .refused(expected.rawValue) where hasFaulted: return nil
        case .refused(let name): return "the error \(name): expected the error \(expected.rawValue)"
        case .answered where hasFaulted: return "an answer: expected the error \(expected.rawValue)"
        case .answered, .broke: return mismatch(outcome)
        }
    }

    private func add(
        _ flags: [ExternalFlag], _ occasion: String, _ mismatch: String?, _ session: ExternalSession,
        _ tally: inout ExternalTally
    ) {
        tally.add(
            ExternalVerdict(
                id: "\(name) \(occasion)", flags: flags.map(\.rawValue), mismatch: mismatch, size: size))
        if mismatch != nil { session.resynchronize() }
    }

    /// What is wrong with an answer to the read, or `nil`.
    private func mismatch(_ outcome: ExternalObject.Outcome) -> String? {
        switch (outcome, read.expected) {
        case (.broke(let reason), _):
            return reason
        case (.refused(let name), .error(let expected)):
            return name == expected.rawValue ? nil : "the error \(name): expected the error \(expected.rawValue)"
        case (.refused(let name), _):
            return "the error \(name): expected \(deliveredByteCount) bytes"
        case (.answered(let answer), .error(let expected)):
            return "\(answer.payload.count) bytes delivered: expected the error \(expected.rawValue)"
        case (.answered(let answer), .bytes(let bytes)):
            return wrongBytes(answer.payload, expected: bytes.count, listed: bytes)
        case (.answered(let answer), .plaintext(let byteCount)):
            return wrongBytes(answer.payload, expected: byteCount, listed: nil)
        }
    }

    private func wrongBytes(_ delivered: [UInt8], expected: Int, listed: [UInt8]?) -> String? {
        do throws(DecryptionError) {
            return try WrongBytes(group: group, offset: read.offset, expectedByteCount: expected, listed: listed)
                .mismatch(in: delivered)
        } catch {
            return "the expected bytes cannot be had: \(error)"
        }
    }
}
