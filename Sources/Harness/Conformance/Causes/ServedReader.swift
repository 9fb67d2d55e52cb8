internal import RandomAccess
internal import Vectors

/// A reader in this process that gets exactly the requests that a program gets through the protocol: ranges of one
/// object after another, with ciphertext that the harness serves.
struct ServedReader: SubjectUnderTest {
    let base: InProcessSubject
    /// The reader's window.
    var windowByteCount = Int.max

    var name: String { base.name }
    var maxGuessCount: Int { 0 }

    func supports(_ strategy: Strategy, keyByteCount: Int) -> Bool { base.supports(strategy, keyByteCount) }

    func supportStatus(for group: VectorGroup) -> SupportStatus {
        group.threadCount == 1 && group.supply != .changing ? base.supportStatus(for: group) : .notRun
    }

    func takes(offset: UInt64, count: Int) -> Bool { offset < 1 << 53 }

    func setups(for group: VectorGroup) -> [ReaderSetup] { [ReaderSetup(.cursor(windowByteCount: windowByteCount))] }

    func object(_ group: VectorGroup, setup: ReaderSetup) throws(DecryptionError) -> any ObjectUnderTest {
        ServedObject(group, setup: setup, subject: base)
    }
}

/// A group's object as such a reader has opened it.
private final class ServedObject: ObjectUnderTest {
    private let group: VectorGroup
    private let setup: ReaderSetup
    private let subject: InProcessSubject
    private let served: ServedCiphertext
    private let buffer = GuardedBuffer()
    private var reader: (any RandomAccessDecryptor)?
    let rule: FetchRule?
    private(set) var kept = RangeSet<UInt64>()
    private(set) var hasDelivered = false

    init(_ group: VectorGroup, setup: ReaderSetup, subject: InProcessSubject) {
        self.group = group
        self.setup = setup
        self.subject = subject
        self.served = ServedCiphertext(group)
        self.rule =
            FetchRule.tells(of: group)
            ? FetchRule(
                strategy: group.strategy, granularity: .block, ciphertextByteCount: group.ciphertext.byteCount) : nil
    }

    var label: String? { nil }

    func open() -> OpeningAnswer {
        served.begin(group.supply.faultAtOpening)
        kept = RangeSet()
        do throws(DecryptionError) {
            let reader = try makeReader()
            self.reader = reader
            return .opened(plaintextByteCount: reader.plaintextByteCount)
        } catch {
            return .refused(ErrorReply(error))
        }
    }

    private func makeReader() throws(DecryptionError) -> any RandomAccessDecryptor {
        if let film = group.film { return try subject.open(film: film, { served }, group.key, setup) }
        guard let playlist = group.playlist else { return try subject.open(setup, served, group.strategy, group.key) }
        guard let openPlaylist = subject.openPlaylist else { throw .unsupported("playlists") }
        var resources: [String: any ByteSource] = [:]
        for uri in playlist.resources.keys { resources[uri] = served.resource(uri) }
        return try openPlaylist(setup, playlist, resources)
    }

    func read(at offset: UInt64, count: Int, _ fault: SourceFault) -> ReadAnswer {
        hasDelivered = false
        guard let reader else { return .noAnswer("the object is not open") }
        for fetch in served.fetches { kept.insert(contentsOf: fetch.delivered) }
        served.begin(fault)
        let bytes = buffer.prepare(count: count)
        do throws(DecryptionError) {
            let delivered = try reader.read(at: offset, into: bytes)
            hasDelivered = true
            return .delivered(.buffer(UnsafeRawBufferPointer(rebasing: bytes[..<min(max(0, delivered), count)])))
        } catch {
            return .refused(ErrorReply(error), left: .buffer(UnsafeRawBufferPointer(rebasing: bytes[..<0])))
        }
    }

    func close() -> String? {
        reader = nil
        return nil
    }

    var extraReads: ExtraReads { .withFaults }
    var fetches: [FetchRule.Fetch]? { served.fetches }
    var hasFaulted: Bool { served.hasFaulted }
    var meetsFaults: Bool { group.supply.isFaulty }
    func supply(forRead number: Int, byteCount: Int) -> SourceFault {
        group.supply.fault(forRead: number, byteCount: byteCount)
    }
    func mayHaveKept(despite fault: SourceFault) -> Bool { !hasFaulted }
    func overrun(delivered: Int) -> String? { nil }
}
