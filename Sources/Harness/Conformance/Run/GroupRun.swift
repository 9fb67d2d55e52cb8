internal import ByteSources
internal import RandomAccess
internal import Vectors

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
