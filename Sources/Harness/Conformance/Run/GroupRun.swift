import ByteSources
import RandomAccess
import Vectors

/// Puts one subject to one group.
struct GroupRun {
    private let group: VectorGroup
    private let subject: ConformanceSubject
    private let check: ReadCheck
    private let faults: FaultCheck

    init(group: VectorGroup, subject: ConformanceSubject) {
        self.group = group
        self.subject = subject
        self.check = ReadCheck(group: group)
        self.faults = FaultCheck(group: group, check: check)
    }

    /// Runs everything and adds what came of it.
    func run(into tally: inout Tally) {
        guard let opened = open(into: &tally) else { return }
        let together = ConcurrentReads(group: group, subject: subject).mismatches()
        for (index, read) in group.reads.enumerated() {
            run(read, index: index, opened: opened, concurrentComplaint: together[index], into: &tally)
        }
    }

    /// The readers of an opened object.
    struct Opened {
        /// Those that get every read.
        let always: ArraySlice<OpenedReader>
        /// Those that share the reads.
        let inTurn: ArraySlice<OpenedReader>
    }

    /// Opens the object for every reader, which is a vector of its own; `nil` if there is nothing to read.
    func open(into tally: inout Tally) -> Opened? {
        guard subject.supports(group) else {
            tally.note(.unsupported, flags: group.flags, count: group.vectorCount)
            return nil
        }
        let always = ReaderSetup.forEveryRead(of: group)
        let inTurn = ReaderSetup.inTurn(of: group)
        var readers: [OpenedReader] = []
        var mismatch: String?
        for setup in always + inTurn {
            switch opening(setup) {
            case .success(let reader): reader.map { readers.append($0) }
            case .failure(let failure): mismatch = mismatch ?? "\(setup): \(failure.reason)"
            }
        }
        if let mismatch {
            tally.fail(id: group.openingID, flags: group.flags, reason: mismatch, size: [objectByteCount, 0, 0])
        } else {
            tally.note(.passed, flags: group.flags)
        }
        guard readers.count == always.count + inTurn.count else {
            if group.readCount > 0 {
                tally.fail(
                    id: "\(group.id) reads", flags: group.flags, reason: "the object was not opened as it should be",
                    size: [objectByteCount, 1, 0], count: group.readCount)
            }
            return nil
        }
        guard group.readCount > 0 else { return nil }
        return Opened(always: readers[..<always.count], inTurn: readers[always.count...])
    }

    private var objectByteCount: UInt64 { group.ciphertext.byteCount }

    private struct Complaint: Error {
        var reason: String
    }

    /// Opens the object: a reader if it is to open, and does; `nil` if it is not to, and does not.
    private func opening(_ setup: ReaderSetup) -> Result<OpenedReader?, Complaint> {
        do {
            let reader = try OpenedReader(group, setup: setup, subject: subject)
            switch group.opening {
            case .fails(let name):
                return .failure(Complaint(reason: "opened: expected the error \(name.rawValue)"))
            case .opens(let plaintextByteCount):
                let found = reader.decryptor.plaintextByteCount
                guard found == plaintextByteCount else {
                    return .failure(
                        Complaint(reason: "the plaintext has \(found) bytes: expected \(plaintextByteCount)"))
                }
                if reader.rule != nil, let fetch = reader.recorder?.ranges.first(where: { !isForOpening($0) }) {
                    let parts = openingParts.map { "\($0)" }.joined(separator: " and ")
                    return .failure(
                        Complaint(reason: "ciphertext \(fetch) fetched to open: expected bytes of \(parts) only"))
                }
                return .success(reader)
            }
        } catch {
            if case .fails(let name) = group.opening, ErrorName(error) == name { return .success(nil) }
            let expected =
                switch group.opening {
                case .fails(let name): "the error \(name.rawValue)"
                case .opens: "it to open"
                }
            return .failure(Complaint(reason: "\(ErrorName(error).rawValue) (\(error)): expected \(expected)"))
        }
    }

    /// All that opening can need: the last two blocks; of authenticated chunks the header and the last chunk. Source:
    /// PROTOCOL.md, "Served sources".
    private var openingParts: [Range<UInt64>] {
        if let format = group.strategy.chunkFormat,
            let places = try? OracleChunkPlaces(format, ciphertextByteCount: objectByteCount)
        {
            return [
                0..<places.headerByteCount, places.ciphertextStart(ofChunk: places.chunkCount - 1)..<objectByteCount,
            ]
        }
        return [objectByteCount - min(objectByteCount, 32)..<objectByteCount]
    }

    private func isForOpening(_ fetch: Range<UInt64>) -> Bool {
        openingParts.contains { $0.contains(fetch) }
    }

    /// Puts one read to the readers whose turn it is.
    func run(
        _ read: RangeRead, index: Int, opened: Opened, concurrentComplaint: String? = nil, into tally: inout Tally
    ) {
        guard read.count <= subject.largestReadByteCount else {
            tally.note(.notRun, flags: read.flags)
            return
        }
        var readers = Array(opened.always)
        let inTurn = opened.inTurn
        // Large reads are about windows, which only the cursor has to prove.
        if read.count <= ExpectedBytes.largestHeldByteCount {
            readers.append(inTurn[inTurn.startIndex + index % inTurn.count])
        }
        var mismatch: String?
        do {
            mismatch = try self.mismatch(in: readers, read: read) ?? concurrentComplaint
        } catch {
            mismatch = "the expected bytes cannot be had: \(error)"
        }
        if let mismatch {
            tally.fail(
                id: group.id(of: read), flags: read.flags, reason: mismatch,
                size: [objectByteCount, UInt64(read.count), read.offset])
        } else {
            tally.note(.passed, flags: read.flags)
        }
    }

    /// The first complaint about a read, of any of the readers.
    private func mismatch(in readers: [OpenedReader], read: RangeRead) throws(DecryptionError) -> String? {
        let expected: ExpectedBytes
        switch read.expected {
        case .bytes(let bytes):
            expected = ExpectedBytes(bytes)
        case .plaintext(let byteCount):
            expected = try ExpectedBytes(of: group.plaintext, offset: read.offset, count: byteCount)
        case .error(let name):
            for reader in readers {
                var found = check.mismatch(in: reader, offset: read.offset, count: read.count, expecting: name)
                // Which chunks of one that was tampered with still read, its other vectors say.
                if found == nil, name != .authenticationFailed {
                    found = try check.mismatchAfterFailure(in: reader)
                }
                if let found { return "\(reader.setup): \(found)" }
            }
            return nil
        }
        for reader in readers {
            let found =
                faults.mismatch(in: reader, read: read, expected: expected)
                ?? check.mismatch(in: reader, offset: read.offset, count: read.count, expecting: expected)
            if let found { return "\(reader.setup): \(found)" }
        }
        return nil
    }
}

extension Range<UInt64> {
    fileprivate func contains(_ other: Range<UInt64>) -> Bool {
        other.isEmpty || lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}

/// Puts one subject to groups that are open at the same time, and reads them in turn.
struct InterleavedRun {
    private let runs: [(group: VectorGroup, run: GroupRun)]

    init(groups: [VectorGroup], subject: ConformanceSubject) {
        self.runs = groups.map { ($0, GroupRun(group: $0, subject: subject)) }
    }

    /// Puts groups of the same interleaving together, where the first of them stands; all others stay alone.
    static func sets(of groups: some Sequence<VectorGroup>) -> [[VectorGroup]] {
        var sets: [[VectorGroup]] = []
        var places: [String: Int] = [:]
        for group in groups {
            if let name = group.interleaving, let place = places[name] {
                sets[place].append(group)
                continue
            }
            if let name = group.interleaving { places[name] = sets.count }
            sets.append([group])
        }
        return sets
    }

    /// Opens all, then puts the first read of each, the second of each, and so on.
    func run(into tally: inout Tally) {
        guard runs.count > 1 else {
            runs.first?.run.run(into: &tally)
            return
        }
        var open: [(run: GroupRun, opened: GroupRun.Opened, reads: [RangeRead])] = []
        for (group, run) in runs {
            guard let opened = run.open(into: &tally) else { continue }
            open.append((run, opened, Array(group.reads)))
        }
        for index in 0..<(open.map(\.reads.count).max() ?? 0) {
            for object in open where index < object.reads.count {
                object.run.run(object.reads[index], index: index, opened: object.opened, into: &tally)
            }
        }
    }
}

/// A group's object, opened for one setup, with the handles on its source.
struct OpenedReader {
    let setup: ReaderSetup
    let decryptor: any RandomAccessDecryptor
    let recorder: RecordingSource?
    /// The sources that can be told to go wrong: one, or one for each resource of a playlist.
    let faults: [FaultySource]
    let rule: FetchRule?

    init(_ group: VectorGroup, setup: ReaderSetup, subject: ConformanceSubject) throws(DecryptionError) {
        var recorder: RecordingSource?
        var faults: [FaultySource] = []
        self.setup = setup
        self.decryptor = try subject.open(group, setup: setup) { source in
            switch setup.supply {
            case .whole:
                let wrapped = RecordingSource(source, keepsRanges: true)
                recorder = wrapped
                return wrapped
            case .shortReads(let largest):
                return ShortReadingSource(source, largestRead: largest)
            case .faulty:
                let wrapped = FaultySource(source)
                faults.append(wrapped)
                return wrapped
            }
        }
        self.recorder = recorder
        self.faults = faults
        // Where the parts of a playlist lie, and so what a read of it needs, is not known here.
        self.rule = (group.playlist == nil ? setup.gradedWindowByteCount : nil).map {
            FetchRule(strategy: group.strategy, ciphertextByteCount: group.ciphertext.byteCount, windowByteCount: $0)
        }
    }

    /// Tells the sources what goes wrong from now on.
    func inject(_ fault: FaultySource.Fault) {
        for source in faults { source.inject(fault) }
    }
}
