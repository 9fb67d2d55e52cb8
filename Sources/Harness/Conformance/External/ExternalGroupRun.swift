import RandomAccess
import Vectors

/// Puts one subject in another process to one group: the opening and some reads, bytes and fetches apart.
struct ExternalGroupRun {
    let group: VectorGroup
    let session: ExternalSession
    let hello: ExternalHello

    /// The verdicts on fetches have an identifier and a flag of their own.
    static func fetchVerdict(_ id: String, size: [UInt64], mismatch: String?) -> ExternalVerdict {
        ExternalVerdict(
            id: "\(id) fetches", flags: [ExternalFlag.fetches.rawValue], mismatch: mismatch, size: size)
    }

    /// Runs everything and adds what came of it.
    func run(_ reads: some Sequence<(number: Int, read: RangeRead)>, into tally: inout ExternalTally) {
        guard let opened = open(reads, into: &tally) else { return }
        for (number, read) in reads { run(read, number: number, of: opened, into: &tally) }
        close(opened, into: &tally)
    }

    /// An object that was asked to be opened.
    struct Opened {
        let object: ExternalObject
        /// Whether it is open, so that there is something to read.
        let isReadable: Bool
    }

    /// Opens the object, a vector of its own; `nil` if the group is not for this subject, which is counted.
    func open(
        _ reads: some Sequence<(number: Int, read: RangeRead)>, into tally: inout ExternalTally
    ) -> Opened? {
        let flags = group.flags.map(\.rawValue)
        guard hello.supports(group) else {
            tally.addUnsupported(flags)
            for (_, read) in reads { tally.addUnsupported(read.flags.map(\.rawValue)) }
            return nil
        }
        // The protocol has one request at a time, and no source that changes its length.
        guard session.isWorthAsking(flags), isFeasible, group.threadCount == 1, group.supply != .changing,
            group.supply == .any || hello.isServed,
            let object = try? ExternalObject(group, session: session, hello: hello)
        else {
            addNotRun(reads, into: &tally)
            return nil
        }
        return Opened(object: object, isReadable: session.noteTrouble(flags) { runOpening(object, into: &tally) })
    }

    /// Puts one read to an opened object.
    func run(_ read: RangeRead, number: Int, of opened: Opened, into tally: inout ExternalTally) {
        let flags = read.flags.map(\.rawValue)
        // Integers end at 2⁵³ in the protocol, so that what lies beyond cannot be asked for.
        guard session.isWorthAsking(flags), read.offset < 1 << 53 else { return tally.addNotRun(flags) }
        guard opened.isReadable else {
            return tally.add(verdict(read, mismatch: "the object was not opened as it should be"))
        }
        session.noteTrouble(flags) {
            ExternalReadRun(object: opened.object, read: read).run(number: number, session: session, into: &tally)
        }
    }

    /// Closes the object.
    func close(_ opened: Opened, into tally: inout ExternalTally) {
        if let mismatch = opened.object.close() {
            tally.add(
                ExternalVerdict(
                    id: "\(group.id) close", flags: [ExternalFlag.subjectProtocol.rawValue], mismatch: mismatch,
                    size: [group.ciphertext.byteCount, 0, 0]))
        }
    }

    /// Whether the object is none that this subject would have to fetch or hold whole, and is too large for that.
    private var isFeasible: Bool {
        let byteCount = group.ciphertext.byteCount
        if !hello.isServed { return byteCount <= TemporaryCiphertext.largestByteCount }
        return hello.granularity == .block || group.strategy.chunkByteCount != nil
            || byteCount <= TemporaryCiphertext.largestByteCount
    }

    private func addNotRun(_ reads: some Sequence<(number: Int, read: RangeRead)>, into tally: inout ExternalTally) {
        tally.addNotRun(group.flags.map(\.rawValue))
        for (_, read) in reads { tally.addNotRun(read.flags.map(\.rawValue)) }
    }

    private func verdict(_ read: RangeRead, mismatch: String?) -> ExternalVerdict {
        ExternalVerdict(
            id: group.id(of: read), flags: read.flags.map(\.rawValue), mismatch: mismatch,
            size: [group.ciphertext.byteCount, UInt64(read.count), read.offset])
    }

    /// Opens the object as the group says.
    ///
    /// - Returns: Whether there is something to read.
    private func runOpening(_ object: ExternalObject, into tally: inout ExternalTally) -> Bool {
        let outcome = object.open()
        let mismatch = Self.mismatch(in: outcome, expecting: group.opening)
        let size = [group.ciphertext.byteCount, 0, 0]
        tally.add(
            ExternalVerdict(
                id: group.openingID, flags: group.flags.map(\.rawValue), mismatch: mismatch, size: size))
        if object.isGraded, let served = object.served {
            let fetches = object.rule.openingMismatch(served.fetches)
            tally.add(Self.fetchVerdict(group.openingID, size: size, mismatch: fetches))
        } else {
            tally.addNotRun([ExternalFlag.fetches.rawValue])
        }
        if mismatch != nil { session.resynchronize() }
        guard case .opens = group.opening, case .answered = outcome else { return false }
        return true
    }

    /// What is wrong with the answer to an `open`, or `nil`.
    static func mismatch(in outcome: ExternalObject.Outcome, expecting opening: VectorGroup.Opening) -> String? {
        switch (outcome, opening) {
        case (.broke(let reason), _):
            return reason
        case (.refused(let name), .fails(let expected)):
            return name == expected.rawValue ? nil : "the error \(name): expected the error \(expected.rawValue)"
        case (.refused(let name), .opens(let byteCount)):
            return "the error \(name): expected it to open, with \(byteCount) bytes of plaintext"
        case (.answered, .fails(let expected)):
            return "opened: expected the error \(expected.rawValue)"
        case (.answered(let answer), .opens(let byteCount)):
            guard let found = answer.members["plaintextByteCount"] else {
                return "the answer to open has no member \"plaintextByteCount\""
            }
            return found == .integer(byteCount)
                ? nil : "the plaintext has \(found.text) bytes: expected \(byteCount)"
        }
    }
}

/// Reads of several open objects in turn: the first read of each, the second of each, and so on.
struct ExternalTurns {
    /// An object and its reads.
    struct Member {
        let run: ExternalGroupRun
        let reads: [(number: Int, read: RangeRead)]
    }

    let members: [Member]

    /// Opens all, reads in turn, and closes all.
    func run(into tally: inout ExternalTally) {
        var open: [(member: Member, opened: ExternalGroupRun.Opened)] = []
        for member in members {
            if let opened = member.run.open(member.reads, into: &tally) { open.append((member, opened)) }
        }
        for turn in 0..<(open.map(\.member.reads.count).max() ?? 0) {
            for (member, opened) in open where turn < member.reads.count {
                let (number, read) = member.reads[turn]
                member.run.run(read, number: number, of: opened, into: &tally)
            }
        }
        for (member, opened) in open { member.run.close(opened, into: &tally) }
    }
}

extension Sequence<RangeRead> {
    /// The reads with their places.
    var numbered: some Sequence<(number: Int, read: RangeRead)> {
        lazy.enumerated().map { (number: $0.offset, read: $0.element) }
    }
}
