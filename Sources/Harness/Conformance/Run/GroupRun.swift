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
    private let subject: any SubjectUnderTest
    private let check: ReadCheck

    /// One in this many reads meets each fault, if faults are extra reads. It is a prime, so that the faults meet every
    /// kind of read in a regular list.
    private static let faultStride = 19

    init(group: VectorGroup, subject: any SubjectUnderTest) {
        self.group = group
        self.subject = subject
        self.check = ReadCheck(group: group, maxGuesses: subject.maxGuessCount)
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
        /// The readers: the first one gets every read, and the others share the reads.
        let objects: [any ObjectUnderTest]
        /// True if the object has something to read.
        let isReadable: Bool
    }

    /// Opens the object with every setup, which is a vector of its own. Returns `nil` if there is nothing to read.
    func open(_ reads: [NumberedRead], into tally: inout Tally) -> Opened? {
        let flags = group.flags.map(\.rawValue)
        func skip(_ outcome: Tally.Outcome) -> Opened? {
            tally.skip(outcome, group, reads)
            return nil
        }
        switch subject.supportStatus(for: group) {
        case .fit where subject.isWorthAsking(flags): break
        case .unsupported: return skip(.unsupported)
        case .fit, .notRun: return skip(.notRun)
        }
        var objects: [any ObjectUnderTest] = []
        do throws(DecryptionError) {
            for setup in subject.setups(for: group) { objects.append(try subject.object(group, setup: setup)) }
        } catch {
            return skip(.notRun)
        }
        var answer: (mismatch: String?, isReadable: Bool)?
        subject.attempt(flags) { answer = open(objects, into: &tally) }
        guard let (mismatch, isReadable) = answer else { return skip(.unsupported) }
        let isError = if case .fails = group.opening { true } else { false }
        tally.add(mismatch, flags: group.flags) {
            Verdict(
                id: group.openingID, flags: flags, subject: isError ? .error : .bytes, mismatch: $0,
                size: [objectByteCount, 0, 0])
        }
        if tally.unit == .vectors, !isReadable || mismatch != nil {
            if group.readCount > 0 {
                tally.add(
                    Verdict(
                        id: "\(group.id) reads", flags: flags, subject: .error,
                        mismatch: ConformanceRecord.Failure.notOpened, size: [objectByteCount, 1, 0]),
                    count: group.readCount)
            }
            return nil
        }
        return Opened(objects: objects, isReadable: isReadable)
    }

    /// Opens objects. Returns the first mismatch, and whether all of them have something to read; `nil` if a program
    /// lacks the cipher and its lists do not say so.
    private func open(
        _ objects: [any ObjectUnderTest], into tally: inout Tally
    ) -> (mismatch: String?, isReadable: Bool)? {
        var mismatch: String?
        var isReadable = true
        for object in objects {
            let answer = object.open()
            if answer.isUnexpectedlyUnsupported(group.opening), !subject.promises(group) {
                return nil
            }
            let isOpen = if case (.opened, .opens) = (answer, group.opening) { true } else { false }
            let found = answer.mismatch(expecting: group.opening) ?? (isOpen ? object.overrun(delivered: 0) : nil)
            mismatch = mismatch ?? found.map { Self.text($0, of: object) }
            isReadable = isReadable && isOpen
            addFetches(group.openingID, of: object, size: [objectByteCount, 0, 0], into: &tally) {
                $0.openingMismatch($1)
            }
        }
        if mismatch != nil { subject.recover() }
        return (mismatch, isReadable)
    }

    private var objectByteCount: UInt64 { group.ciphertext.byteCount }

    private static func text(_ mismatch: String, of object: any ObjectUnderTest) -> String {
        object.label.map { "\($0): \(mismatch)" } ?? mismatch
    }

    /// Runs one read against the objects whose turn it is.
    func run(
        _ read: RangeRead, number: Int, of opened: Opened, concurrentMismatch: String? = nil, into tally: inout Tally
    ) {
        guard subject.takes(offset: read.offset, count: read.count),
            subject.isWorthAsking(read.flags.map(\.rawValue))
        else { return tally.note(.notRun, flags: read.flags) }
        guard opened.isReadable else {
            return tally.add(verdict(read, ConformanceRecord.Failure.notOpened))
        }
        // Large reads test windows, which only the cursor has.
        let isShared = read.count <= ExpectedBytes.largestHeldByteCount && opened.objects.count > 1
        let other = isShared ? opened.objects[1 + number % (opened.objects.count - 1)] : nil
        subject.attempt(read.flags.map(\.rawValue)) {
            let found = mismatch(of: read, number: number, in: opened.objects[0], other, into: &tally)
            tally.add(found ?? concurrentMismatch, flags: read.flags) { verdict(read, $0) }
        }
    }

    /// Runs a read of another check, whose `id` and `flags` say what is tested, and adds the verdicts.
    func judge(
        _ read: RangeRead, of object: any ObjectUnderTest, id: String? = nil, flags: [ExternalFlag],
        into tally: inout Tally
    ) {
        let found = mismatch(of: read, id: id, in: object, nil, into: &tally)
        tally.add(verdict(read, id: id, flags: flags, found))
    }

    /// Closes the objects.
    func close(_ opened: Opened, into tally: inout Tally) {
        for object in opened.objects {
            guard let mismatch = object.close() else { continue }
            tally.add(.adapter("\(group.id) close", .subjectProtocol, size: [objectByteCount, 0, 0], mismatch))
        }
    }

    /// Runs one read of one object or two. Returns the first mismatch. Without a `number`, there are no extra reads.
    private func mismatch(
        of read: RangeRead, number: Int? = nil, id: String? = nil, in first: any ObjectUnderTest,
        _ other: (any ObjectUnderTest)?, into tally: inout Tally
    ) -> String? {
        do throws(DecryptionError) {
            let expectation = try check.expectation(of: read)
            let found = try mismatch(of: read, number, id, in: first, expecting: expectation, into: &tally)
            guard found == nil, let other else { return found }
            return try mismatch(of: read, number, id, in: other, expecting: expectation, into: &tally)
        } catch {
            return "the expected bytes cannot be had: \(error)"
        }
    }

    /// Runs one read of an object, and adds the verdicts on fetches and extra reads.
    private func mismatch(
        of read: RangeRead, _ number: Int?, _ id: String?, in object: any ObjectUnderTest,
        expecting expectation: ReadCheck.Expectation, into tally: inout Tally
    ) throws(DecryptionError) -> String? {
        var found = check.mismatch(in: object, read: read, number: number ?? 0, expecting: expectation)
        if found != nil { subject.recover() }
        let extraReads = number == nil ? .none : object.extraReads
        // The object's other vectors say which chunks of a tampered ciphertext can still be read.
        if found == nil, extraReads == .afterFailures, case .error(.rangeOutOfBounds) = expectation {
            found = try check.mismatchAfterFailure(in: object)
        }
        guard group.supply == .any || group.supply == .whole else { return found.map { Self.text($0, of: object) } }
        let isError = if case .error = expectation { true } else { false }
        if object.rule == nil ? !isError || !object.hasDelivered : !isError && object.hasDelivered {
            addFetches(id ?? group.id(of: read), of: object, size: size(of: read), into: &tally) {
                $0.mismatch(
                    in: $1, delivering: read.offset..<read.offset + UInt64(expectation.byteCount), having: object.kept)
            }
        }
        if found == nil, extraReads == .withFaults, case .bytes(let bytes) = expectation, bytes.byteCount > 0 {
            probeSource(read, number: number ?? 0, of: object, expecting: bytes, into: &tally)
        }
        return found.map { Self.text($0, of: object) }
    }

    /// Every few reads, repeats the read while the source delivers short reads, fails, or ends early, and adds the
    /// verdicts.
    private func probeSource(
        _ read: RangeRead, number: Int, of object: any ObjectUnderTest, expecting bytes: ExpectedBytes,
        into tally: inout Tally
    ) {
        let range = read.offset..<read.offset + UInt64(bytes.byteCount)
        func add(_ flags: [ExternalFlag], _ occasion: String, _ mismatch: String?) {
            tally.add(verdict(read, id: "\(group.id(of: read)) \(occasion)", flags: flags, mismatch))
            if mismatch != nil { subject.recover() }
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
            guard group.hasStrategy else { return probe(.end(at: 0), .truncatedCiphertext, .sourceEndsEarly) }
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
            size: size(of: read), isVector: flags == nil)
    }

    private func size(of read: RangeRead) -> [UInt64] { [objectByteCount, UInt64(read.count), read.offset] }

    private func addFetches(
        _ id: @autoclosure () -> String, of object: any ObjectUnderTest, size: @autoclosure () -> [UInt64],
        into tally: inout Tally, mismatch: (FetchRule, [FetchRule.Fetch]) -> String?
    ) {
        guard let fetches = object.fetches else { return }
        guard let rule = object.rule else { return tally.note(.notRun, flags: [ExternalFlag.fetches.rawValue]) }
        tally.add(.adapter("\(id()) fetches", .fetches, size: size(), mismatch(rule, fetches)))
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
    static func run(_ groups: [VectorGroup], subject: any SubjectUnderTest, into tally: inout Tally) {
        run(groups.map { ($0, $0.reads.numbered) }, subject: subject, into: &tally)
    }

    /// Opens all groups, then runs the first read of each, the second of each, and so on.
    static func run(_ members: [Member], subject: any SubjectUnderTest, into tally: inout Tally) {
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
