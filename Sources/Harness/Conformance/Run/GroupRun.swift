internal import RandomAccess
internal import Results
internal import Vectors

/// A read with its index in its group.
typealias NumberedRead = (number: Int, read: RangeRead)

extension Sequence<RangeRead> {
    /// The reads with their indices.
    var numbered: [NumberedRead] { enumerated().map { ($0.offset, $0.element) } }
}

/// Runs one group's vectors against one subject: the opening, and all reads or some of them.
struct GroupRun {
    private let group: VectorGroup
    private let subject: any JudgedSubject
    private let check: ReadCheck

    /// One in this many reads meets each fault, if the subject's faults are findings of their own. It is a prime, so
    /// that the faults meet every kind of read in a regular list.
    private static let faultStride = 19

    init(group: VectorGroup, subject: any JudgedSubject) {
        self.group = group
        self.subject = subject
        self.check = ReadCheck(group: group, subject: subject)
    }

    /// Opens the object, runs the reads, closes it, and adds the verdicts.
    func run(_ reads: [NumberedRead], into tally: inout Tally) {
        guard let opened = open(reads, into: &tally) else { return }
        let together = ConcurrentReads(group: group, subject: subject).mismatches()
        for (number, read) in reads {
            run(read, number: number, of: opened, concurrentMismatch: together[number], into: &tally)
        }
        close(opened, into: &tally)
    }

    /// The readers under test that a group's object was opened with.
    struct Opened {
        /// The readers that get every read.
        let always: ArraySlice<any JudgedObject>
        /// The readers that share the reads.
        let inTurn: ArraySlice<any JudgedObject>
        /// True if the object has something to read.
        let isReadable: Bool
    }

    /// Opens the object with every setup, which is a vector of its own. Returns `nil` if there is nothing to read.
    func open(_ reads: [NumberedRead], into tally: inout Tally) -> Opened? {
        let flags = group.flags.map(\.rawValue)
        switch subject.fitness(for: group) {
        case .fit where subject.isWorthAsking(flags): break
        case .unsupported:
            skip(.unsupported, reads, into: &tally)
            return nil
        case .fit, .notRun:
            skip(.notRun, reads, into: &tally)
            return nil
        }
        let setups = subject.setups(for: group)
        var objects: [any JudgedObject] = []
        do throws(DecryptionError) {
            for setup in setups.always + setups.inTurn { objects.append(try subject.object(group, setup: setup)) }
        } catch {
            skip(.notRun, reads, into: &tally)
            return nil
        }
        var answer: Bool?
        subject.attempt(flags) { answer = open(objects, flags: flags, into: &tally) }
        guard let isReadable = answer else {
            skip(.unsupported, reads, into: &tally)
            return nil
        }
        if !isReadable, !subject.reportsFetchesSeparately {
            if group.readCount > 0 {
                tally.add(
                    Verdict(
                        id: "\(group.id) reads", flags: flags, subject: .error,
                        mismatch: ConformanceRecord.Failure.notOpened, size: [objectByteCount, 1, 0]),
                    count: group.readCount)
            }
            return nil
        }
        let count = setups.always.count
        return Opened(always: objects[..<count], inTurn: objects[count...], isReadable: isReadable)
    }

    /// Opens objects. Returns whether all of them have something to read, or `nil` if a program lacks the cipher and
    /// its lists do not say so.
    private func open(_ objects: [any JudgedObject], flags: [String], into tally: inout Tally) -> Bool? {
        var mismatch: String?
        var isReadable = true
        for object in objects {
            let answer = object.open()
            if answer.isUnexpectedlyUnsupported(group.opening), !subject.promises(group) {
                return nil
            }
            var found = answer.mismatch(expecting: group.opening)
            let fetches = object.rule.flatMap { $0.openingMismatch(object.fetches) }
            if subject.reportsFetchesSeparately {
                addFetches(group.openingID, of: object, size: [objectByteCount, 0, 0], mismatch: fetches, into: &tally)
            } else if case .opens = group.opening {
                found = found ?? fetches
            }
            mismatch = mismatch ?? found.map { Self.text($0, of: object) }
            if case .opened = answer, case .opens = group.opening, found == nil || subject.reportsFetchesSeparately {
                continue
            }
            isReadable = false
        }
        let isError = if case .fails = group.opening { true } else { false }
        add(
            Verdict(
                id: group.openingID, flags: flags, subject: isError ? .error : .bytes, mismatch: mismatch,
                size: [objectByteCount, 0, 0]), to: &tally)
        return isReadable
    }

    private var objectByteCount: UInt64 { group.ciphertext.byteCount }

    private static func text(_ mismatch: String, of object: any JudgedObject) -> String {
        object.label.map { "\($0): \(mismatch)" } ?? mismatch
    }

    private func skip(_ outcome: Tally.Outcome, _ reads: [NumberedRead], into tally: inout Tally) {
        guard subject.reportsFetchesSeparately else {
            return tally.note(outcome, flags: group.flags, count: group.vectorCount)
        }
        tally.note(outcome, flags: Set(group.flags.map(\.rawValue)))
        for (_, read) in reads { tally.note(outcome, flags: Set(read.flags.map(\.rawValue))) }
    }

    /// Runs one read against the objects whose turn it is.
    func run(
        _ read: RangeRead, number: Int, of opened: Opened, concurrentMismatch: String? = nil, into tally: inout Tally
    ) {
        guard subject.takes(offset: read.offset, count: read.count) else {
            return tally.note(.notRun, flags: read.flags)
        }
        guard subject.reportsFetchesSeparately else {
            // Large reads test windows, which only the cursor has.
            let isShared = read.count <= ExpectedBytes.largestHeldByteCount && !opened.inTurn.isEmpty
            let turn = isShared ? opened.inTurn[opened.inTurn.startIndex + number % opened.inTurn.count] : nil
            if let mismatch = mismatch(of: read, number: number, in: opened.always, turn) ?? concurrentMismatch {
                tally.fail(read.flags) { verdict(read, mismatch) }
            } else {
                tally.note(.passed, flags: read.flags)
            }
            return
        }
        let flags = read.flags.map(\.rawValue)
        guard subject.isWorthAsking(flags), let object = opened.always.first else {
            return tally.note(.notRun, flags: Set(flags))
        }
        guard opened.isReadable else {
            return tally.add(verdict(read, ConformanceRecord.Failure.notOpened))
        }
        subject.attempt(flags) {
            if judge(read, number: number, of: object, into: &tally) {
                probeSource(read, number: number, of: object, into: &tally)
            }
        }
    }

    /// Closes the objects.
    func close(_ opened: Opened, into tally: inout Tally) {
        for object in opened.always + opened.inTurn {
            guard let mismatch = object.close() else { continue }
            tally.add(.adapter("\(group.id) close", .subjectProtocol, size: [objectByteCount, 0, 0], mismatch))
        }
    }

    /// Returns the first mismatch of a read, among the objects that get every read and the one whose turn it is.
    private func mismatch(
        of read: RangeRead, number: Int, in always: ArraySlice<any JudgedObject>, _ turn: (any JudgedObject)?
    ) -> String? {
        do throws(DecryptionError) {
            let expectation = try check.expectation(of: read)
            func mismatch(_ object: any JudgedObject) throws(DecryptionError) -> String? {
                var found = check.mismatch(in: object, read: read, number: number, expecting: expectation)
                // The object's other vectors say which chunks of a tampered ciphertext can still be read.
                if found == nil, case .error(.rangeOutOfBounds) = expectation {
                    found = try check.mismatchAfterFailure(in: object)
                }
                return found.map { Self.text($0, of: object) }
            }
            for object in always {
                if let found = try mismatch(object) { return found }
            }
            guard let turn else { return nil }
            return try mismatch(turn)
        } catch {
            return "the expected bytes cannot be had: \(error)"
        }
    }

    /// Runs one read against an object and adds two findings: a verdict on the bytes, and one on the fetches. `id` and
    /// `flags` replace those of the read if the read's own do not say what is tested.
    ///
    /// Returns whether the subject delivered bytes and they were right.
    @discardableResult
    func judge(
        _ read: RangeRead, number: Int = 0, of object: any JudgedObject, id: String? = nil,
        flags: [ExternalFlag]? = nil,
        into tally: inout Tally
    ) -> Bool {
        let expectation: ReadCheck.Expectation
        do throws(DecryptionError) {
            expectation = try check.expectation(of: read)
        } catch {
            tally.add(verdict(read, id: id, flags: flags, "the expected bytes cannot be had: \(error)"))
            return false
        }
        let found = check.mismatch(in: object, read: read, number: number, expecting: expectation)
        let verdict = verdict(read, id: id, flags: flags, found)
        add(verdict, to: &tally)
        guard group.supply == .any || group.supply == .whole else { return false }
        switch expectation {
        case .error where object.rule != nil || object.hasDelivered: break
        case .bytes where object.rule != nil && !object.hasDelivered: break
        case .error, .bytes:
            let range = read.offset..<read.offset + UInt64(expectation.byteCount)
            addFetches(
                verdict.id, of: object, size: verdict.size,
                mismatch: object.rule?.mismatch(in: object.fetches, delivering: range, having: object.kept),
                into: &tally)
        }
        return found == nil && expectation.byteCount > 0
    }

    /// Every few reads, repeats the read while the source delivers short reads, fails, or ends early, and adds the
    /// verdicts.
    private func probeSource(_ read: RangeRead, number: Int, of object: any JudgedObject, into tally: inout Tally) {
        guard object.isServed,
            let expectation = try? check.expectation(of: read), case .bytes(let bytes) = expectation
        else { return }
        let range = read.offset..<read.offset + UInt64(bytes.byteCount)
        func add(_ flags: [ExternalFlag], _ occasion: String, _ mismatch: String?) {
            let id = "\(group.id(of: read)) \(occasion)"
            self.add(verdict(read, id: id, flags: flags, mismatch), to: &tally)
        }
        /// Injects a fault into the source, and then reads again to see that the subject has recovered.
        func probe(_ fault: SourceFault, _ name: ErrorName, _ flag: ExternalFlag) {
            add(
                [flag], fault == .failure ? "as the source fails" : "as the source ends early",
                check.mismatch(
                    in: object, at: read.offset, count: read.count, expecting: name, fault, mayDeliver: bytes))
            add(
                [flag, .afterFailure], fault == .failure ? "after the source failed" : "after the source ended early",
                check.mismatch(in: object, at: read.offset, count: read.count, expecting: bytes))
        }
        switch number % Self.faultStride {
        case 3:
            add(
                [.shortReads], "in short reads",
                check.mismatch(
                    in: object, at: read.offset, count: read.count, expecting: bytes,
                    .short(7, byteCount: bytes.byteCount)))
        case 7: probe(.failure, .io, .sourceFailure)
        case 11:
            guard group.playlist == nil else { return probe(.end(at: 0), .truncatedCiphertext, .sourceEndsEarly) }
            guard let end = object.rule?.needed(for: range).ranges.last?.upperBound else { return }
            probe(.end(at: end - 1), .truncatedCiphertext, .sourceEndsEarly)
        default: break
        }
    }

    private func verdict(
        _ read: RangeRead, id: String? = nil, flags: [ExternalFlag]? = nil, _ mismatch: String?
    ) -> Verdict {
        let isError = if case .error = read.expected { true } else { false }
        return Verdict(
            id: id ?? group.id(of: read), flags: flags?.map(\.rawValue) ?? read.flags.map(\.rawValue),
            subject: isError ? .error : .bytes, mismatch: mismatch,
            size: [objectByteCount, UInt64(read.count), read.offset], isVector: flags == nil)
    }

    private func add(_ verdict: Verdict, to tally: inout Tally) {
        tally.add(verdict)
        if verdict.mismatch != nil { subject.recover() }
    }

    private func addFetches(
        _ id: String, of object: any JudgedObject, size: [UInt64], mismatch: String?, into tally: inout Tally
    ) {
        guard object.rule != nil else { return tally.note(.notRun, flags: [ExternalFlag.fetches.rawValue]) }
        tally.add(.adapter("\(id) fetches", .fetches, size: size, mismatch))
    }
}

/// Runs several groups, all open at the same time, against one subject and reads them in turn.
struct InterleavedRun {
    /// A group with the reads to run.
    typealias Member = (group: VectorGroup, reads: [NumberedRead])

    /// Collects groups of the same interleaving in one set, at the position of the first; each other group is a set of
    /// its own.
    static func sets<Item>(of items: some Sequence<Item>, group: (Item) -> VectorGroup) -> [[Item]] {
        var sets: [[Item]] = []
        var indices: [String: Int] = [:]
        for item in items {
            if let name = group(item).interleaving, let index = indices[name] {
                sets[index].append(item)
                continue
            }
            if let name = group(item).interleaving { indices[name] = sets.count }
            sets.append([item])
        }
        return sets
    }

    /// Runs all reads of a set of groups against the subject.
    static func run(_ groups: [VectorGroup], subject: any JudgedSubject, into tally: inout Tally) {
        if groups.count == 1 {
            GroupRun(group: groups[0], subject: subject).run(groups[0].reads.numbered, into: &tally)
        } else {
            run(groups.map { ($0, $0.reads.numbered) }, subject: subject, into: &tally)
        }
    }

    /// Opens all groups, then runs the first read of each, the second of each, and so on.
    static func run(_ members: [Member], subject: any JudgedSubject, into tally: inout Tally) {
        guard members.count > 1 else {
            for (group, reads) in members { GroupRun(group: group, subject: subject).run(reads, into: &tally) }
            return
        }
        var open: [(run: GroupRun, opened: GroupRun.Opened, reads: [NumberedRead])] = []
        for (group, reads) in members {
            let run = GroupRun(group: group, subject: subject)
            if let opened = run.open(reads, into: &tally) { open.append((run, opened, reads)) }
        }
        for turn in 0..<(open.map(\.reads.count).max() ?? 0) {
            for (run, opened, reads) in open where turn < reads.count {
                run.run(reads[turn].read, number: reads[turn].number, of: opened, into: &tally)
            }
        }
        for (run, opened, _) in open { run.close(opened, into: &tally) }
    }
}
