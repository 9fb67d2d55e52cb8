internal import ByteSources
package import RandomAccess
package import Vectors

extension InProcessSubject: SubjectUnderTest {
    /// A mutant fails in many reads, of which the first ones are explained.
    package var maxGuessCount: Int { 2 }

    package func supports(_ strategy: Strategy, keyByteCount: Int) -> Bool {
        supports(strategy, keyByteCount)
    }

    package func supportStatus(for group: VectorGroup) -> SupportStatus {
        let isSupported =
            group.hasStrategy
            ? supports(group.strategy, keyByteCount: group.key.byteCount)
                && (group.need ?? group.usualNeed).map(fits) ?? true
            : group.film == nil ? openPlaylist != nil : openFilm != nil
        return isSupported ? .fit : .unsupported
    }

    package func promises(_ group: VectorGroup) -> Bool { group.toldNeed.map(fits) ?? true }

    package func takes(offset: UInt64, count: Int) -> Bool { count <= largestReadByteCount }

    package func setups(for group: VectorGroup) -> [ReaderSetup] { ReaderSetup.setups(of: group) }

    package func object(_ group: VectorGroup, setup: ReaderSetup) throws(DecryptionError) -> any ObjectUnderTest {
        InProcessObject(group, setup: setup, subject: self)
    }

    package func openForThreads(_ group: VectorGroup) throws(DecryptionError) -> [any ObjectUnderTest] {
        let setup = ReaderSetup(.cursor(windowByteCount: .max))
        var readers: [any RandomAccessDecryptor] = []
        if let openShared, group.hasStrategy {
            readers = try openShared(group.threadCount, try located(group.ciphertext), group.strategy, group.key)
        } else {
            for _ in 0..<group.threadCount { readers.append(try open(group, setup: setup)) }
        }
        return readers.map { InProcessObject(group, setup: setup, subject: self, decryptor: $0) }
    }
}

/// A group's object, opened in this process with one setup, and the wrappers around its source.
final class InProcessObject: ObjectUnderTest {
    private let group: VectorGroup
    private let setup: ReaderSetup
    private let subject: InProcessSubject
    private let buffer = GuardedBuffer()
    private var decryptor: (any RandomAccessDecryptor)?
    private var recorder: RecordingSource?
    /// The sources that faults can be injected into: one, or one for each resource of a playlist.
    private var faultySources: [FaultySource] = []
    /// The rule of superfluous fetches, which make a vector fail.
    private var fetchRule: FetchRule?
    /// The offset of the last read, if it delivered bytes.
    private var deliveredOffset: UInt64?
    private var hasRead = false

    /// Prepares an object. With a `decryptor`, it is already open.
    init(
        _ group: VectorGroup, setup: ReaderSetup, subject: InProcessSubject,
        decryptor: (any RandomAccessDecryptor)? = nil
    ) {
        self.group = group
        self.setup = setup
        self.subject = subject
        self.decryptor = decryptor
    }

    var label: String? { "\(setup)" }

    func open() -> OpeningAnswer {
        do throws(DecryptionError) {
            let decryptor = try subject.open(group, setup: setup) { source in
                switch setup.supply {
                case .whole:
                    let wrapped = RecordingSource(source, keepsRanges: true)
                    recorder = wrapped
                    return wrapped
                case .shortReads(let largest):
                    return ShortReadingSource(source, largestRead: largest)
                case .faulty:
                    let wrapped = FaultySource(source)
                    faultySources.append(wrapped)
                    return wrapped
                }
            }
            self.decryptor = decryptor
            fetchRule = (FetchRule.tells(of: group) ? setup.gradedWindowByteCount : nil).map {
                FetchRule(
                    strategy: group.strategy, granularity: .window(byteCount: $0),
                    ciphertextByteCount: group.ciphertext.byteCount, mergesRequests: subject.mergesRequests)
            }
            return .opened(plaintextByteCount: decryptor.plaintextByteCount)
        } catch {
            return .refused(ErrorReply(error))
        }
    }

    func read(at offset: UInt64, count: Int, _ fault: SourceFault) -> ReadAnswer {
        (hasRead, deliveredOffset) = (true, nil)
        guard let decryptor else { return .noAnswer("the object is not open") }
        recorder?.reset()
        let bytes = buffer.prepare(count: count)
        if fault != .none { for source in faultySources { source.inject(fault.ofSource) } }
        defer { if fault != .none { for source in faultySources { source.inject(.none) } } }
        do throws(DecryptionError) {
            let delivered = try decryptor.read(at: offset, into: bytes)
            try decryptor.checkVersion()
            guard (0...count).contains(delivered) else {
                return .noAnswer("\(delivered) bytes delivered: expected at most \(count)")
            }
            deliveredOffset = offset
            return .delivered(.buffer(UnsafeRawBufferPointer(rebasing: bytes[..<delivered])))
        } catch {
            return .refused(ErrorReply(error), left: .buffer(UnsafeRawBufferPointer(bytes)))
        }
    }

    func close() -> String? {
        decryptor = nil
        return nil
    }

    var extraReads: ExtraReads { .afterFailures }
    var hasDelivered: Bool { deliveredOffset != nil }
    var rule: FetchRule? { nil }
    var fetches: [FetchRule.Fetch]? { nil }
    private var fetched: [FetchRule.Fetch] {
        (recorder?.ranges ?? []).map { FetchRule.Fetch(asked: $0, deliveredByteCount: UInt64($0.count)) }
    }
    var kept: RangeSet<UInt64> { RangeSet() }

    var meetsFaults: Bool { !faultySources.isEmpty }
    func supply(forRead number: Int, byteCount: Int) -> SourceFault { .none }
    var hasFaulted: Bool { true }

    /// Readers of whole chunks keep plaintext. So does any reader of playlists, or of chunks that are opened whole.
    func mayHaveKept(despite fault: SourceFault) -> Bool {
        fault != .changedLength
            && (setup.keepsPlaintext || !group.strategy.isStreaming || group.playlist != nil)
    }

    /// Our readers must not fetch too much either, which is no finding of its own.
    func overrun(delivered byteCount: Int) -> String? {
        guard hasRead else { return fetchRule?.openingMismatch(fetched) }
        if let found = buffer.mismatch(delivered: byteCount) { return found }
        guard let offset = deliveredOffset, let fetchRule else { return nil }
        return fetchRule.mismatch(in: fetched, delivering: offset..<offset + UInt64(byteCount), having: kept)
    }
}

extension SourceFault {
    /// The same fault for a source in this process; short reads are a different source's.
    fileprivate var ofSource: FaultySource.Fault {
        switch self {
        case .none, .short: .none
        case .failure: .failure
        case .failureFrom(let offset): .failureFrom(offset)
        case .end(let offset): .end(at: offset)
        case .changedLength: .changedLength
        }
    }
}
