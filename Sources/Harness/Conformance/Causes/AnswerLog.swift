internal import RandomAccess
internal import Vectors

/// A subject's answer, reduced to the part that can be compared with another subject's.
enum LoggedAnswer: Hashable, Sendable {
    case opened(plaintextByteCount: UInt64?, isFetchedWrong: Bool)
    /// An error, without its message, which each subject words as it likes.
    case refused(String)
    case delivered(Delivery)
    /// The subject gave no proper answer.
    case none

    /// Bytes that were delivered.
    struct Delivery: Hashable, Sendable {
        let byteCount: Int
        /// The digest of the bytes, for this process only.
        let digest: Int
        /// The range from the first wrong byte to the last; `nil` if there is none or the plaintext is unknown.
        let wrong: Range<Int>?
        /// True if more or less was fetched than the range needs.
        let isFetchedWrong: Bool
    }

    /// Says whether the answer is right while the source fails. One of our readers without a fault may answer
    /// differently, since it may have kept what another one fetches again.
    func isRight(despite fault: SourceFault) -> Bool {
        switch (self, fault) {
        case (.refused(let name), .failure), (.refused(let name), .failureFrom): name == ErrorName.io.rawValue
        case (.refused(let name), .end): name == ErrorName.truncatedCiphertext.rawValue
        case (.delivered(let delivery), .failure), (.delivered(let delivery), .failureFrom),
            (.delivered(let delivery), .end):
            delivery.wrong == nil
        default: false
        }
    }
}

/// The answers of a subject, by request.
final class AnswerLog {
    /// A request. The same one may be made several times.
    struct Request: Hashable, Sendable {
        /// The group's index among those that are open together.
        let group: Int
        /// The range of a read, or `nil` for opening.
        let offset: UInt64?
        let count: Int
        let fault: SourceFault
        var turn = 0
    }

    private(set) var answers: [Request: LoggedAnswer] = [:]

    func note(_ answer: LoggedAnswer, to request: Request) {
        var request = request
        while answers[request] != nil { request.turn += 1 }
        answers[request] = answer
    }
}

/// A subject whose answers are logged. Otherwise it is the same as the subject it wraps.
struct LoggedSubject: SubjectUnderTest {
    let base: any SubjectUnderTest
    let log: AnswerLog
    /// The indices of the logged groups, by name.
    let groups: [String: Int]

    var name: String { base.name }
    var maxGuessCount: Int { base.maxGuessCount }

    func supports(_ strategy: Strategy, keyByteCount: Int) -> Bool {
        base.supports(strategy, keyByteCount: keyByteCount)
    }

    func promises(_ group: VectorGroup) -> Bool { base.promises(group) }
    func supportStatus(for group: VectorGroup) -> SupportStatus { base.supportStatus(for: group) }
    func takes(offset: UInt64, count: Int) -> Bool { base.takes(offset: offset, count: count) }
    func setups(for group: VectorGroup) -> [ReaderSetup] { base.setups(for: group) }

    func object(_ group: VectorGroup, setup: ReaderSetup) throws(DecryptionError) -> any ObjectUnderTest {
        let object = try base.object(group, setup: setup)
        guard let number = groups[group.id] else { return object }
        return LoggedObject(base: object, plaintext: group.plaintext, number: number, log: log)
    }

    func openForThreads(_ group: VectorGroup) throws(DecryptionError) -> [any ObjectUnderTest] {
        try base.openForThreads(group)
    }

    func isWorthAsking(_ flags: @autoclosure () -> [String]) -> Bool { base.isWorthAsking(flags()) }
    func attempt(_ flags: @autoclosure () -> [String], _ body: () -> Void) { base.attempt(flags(), body) }
    func recover() { base.recover() }
}

/// An object whose answers are logged.
private final class LoggedObject: ObjectUnderTest {
    private let base: any ObjectUnderTest
    private let plaintext: GroupPlaintext
    private let number: Int
    private let log: AnswerLog

    init(base: any ObjectUnderTest, plaintext: GroupPlaintext, number: Int, log: AnswerLog) {
        self.base = base
        self.plaintext = plaintext
        self.number = number
        self.log = log
    }

    func open() -> OpeningAnswer {
        let answer = base.open()
        let logged: LoggedAnswer =
            switch answer {
            case .opened(let byteCount):
                .opened(
                    plaintextByteCount: byteCount,
                    isFetchedWrong: base.rule?.openingMismatch(base.fetches ?? []) != nil)
            case .refused(let refusal): .refused(refusal.name)
            case .noAnswer: .none
            }
        log.note(logged, to: AnswerLog.Request(group: number, offset: nil, count: 0, fault: .none))
        return answer
    }

    func read(at offset: UInt64, count: Int, _ fault: SourceFault) -> ReadAnswer {
        let answer = base.read(at: offset, count: count, fault)
        let logged: LoggedAnswer =
            switch answer {
            case .delivered(let bytes): .delivered(delivery(bytes, from: offset, fault))
            case .refused(let refusal, _): .refused(refusal.name)
            case .noAnswer: .none
            }
        log.note(logged, to: AnswerLog.Request(group: number, offset: offset, count: count, fault: fault))
        return answer
    }

    private func delivery(
        _ bytes: AnswerBytes, from offset: UInt64, _ fault: SourceFault
    ) -> LoggedAnswer.Delivery {
        // There is no rule for what a range beyond the end needs.
        let end = offset + UInt64(bytes.count)
        let isFetchedWrong =
            fault == .none && end <= plaintext.byteCount
            && base.rule?.mismatch(in: base.fetches ?? [], delivering: offset..<end, having: base.kept) != nil
        return bytes.withBytes { bytes in
            var hasher = Hasher()
            hasher.combine(bytes: bytes)
            return LoggedAnswer.Delivery(
                byteCount: bytes.count, digest: hasher.finalize(), wrong: wrong(bytes, from: offset),
                isFetchedWrong: isFetchedWrong)
        }
    }

    private func wrong(_ bytes: UnsafeRawBufferPointer, from offset: UInt64) -> Range<Int>? {
        guard offset < plaintext.byteCount else { return nil }
        let count = min(UInt64(bytes.count), plaintext.byteCount - offset)
        return try? ExpectedBytes(of: plaintext, offset: offset, count: Int(count)).wrongBytes(in: bytes)
    }

    func close() -> String? { base.close() }

    var label: String? { base.label }
    var extraReads: ExtraReads { base.extraReads }
    var hasDelivered: Bool { base.hasDelivered }
    var rule: FetchRule? { base.rule }
    var fetches: [FetchRule.Fetch]? { base.fetches }
    var kept: RangeSet<UInt64> { base.kept }
    var meetsFaults: Bool { base.meetsFaults }
    func supply(forRead number: Int, byteCount: Int) -> SourceFault {
        base.supply(forRead: number, byteCount: byteCount)
    }
    var hasFaulted: Bool { base.hasFaulted }
    func mayHaveKept(despite fault: SourceFault) -> Bool { base.mayHaveKept(despite: fault) }
    func overrun(delivered: Int) -> String? { base.overrun(delivered: delivered) }
}
