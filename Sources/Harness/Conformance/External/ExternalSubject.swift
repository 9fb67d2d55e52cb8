package import RandomAccess
internal import SubjectProtocol
internal import Support
package import Vectors

/// A program that speaks the subject protocol, as the referee sees it. Only one thread at a time may use it.
package final class ExternalSubject: SubjectUnderTest {
    let session: ExternalSession
    let hello: ExternalHello
    /// True if the subject opens objects by their paths, even if it could be served.
    private let opensPaths: Bool

    /// A subject that has said hello.
    init(session: ExternalSession, hello: ExternalHello, opensPaths: Bool = false) {
        self.session = session
        self.hello = hello
        self.opensPaths = opensPaths
    }

    /// Opens a group's object.
    ///
    /// - Returns: False if the answer is `unsupported`.
    func opens(_ group: VectorGroup) -> Bool {
        guard session.reasonToGiveUp == nil,
            let object = try? ExternalObject(group, session: session, hello: hello)
        else { return true }
        defer { object.close() }
        guard case .refused(let reply) = object.open() else { return true }
        return reply.name != ErrorName.unsupported.rawValue
    }

    /// Starts a subject.
    ///
    /// - Parameters:
    ///   - command: The subject's command line, for `/bin/sh -c`.
    ///   - timeout: The time that each answer may take.
    ///   - isInterrupted: Returns `true` to skip the rest.
    /// - Throws: `ExternalVerification.Failure.notStarted`, also if the subject does not say hello properly.
    package convenience init(
        command: String, timeout: Duration, isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) throws(ExternalVerification.Failure) {
        let session = ExternalSession(command: command, timeout: timeout, isInterrupted: isInterrupted)
        do {
            self.init(session: session, hello: try ExternalHello(try session.start().answer.members))
        } catch {
            throw .notStarted(reason: "\(error)")
        }
    }

    /// The same subject, opening objects by their paths.
    var byPath: ExternalSubject {
        ExternalSubject(session: session, hello: hello, opensPaths: true)
    }

    package var name: String { hello.name }

    package func supports(_ strategy: Strategy, keyByteCount: Int) -> Bool {
        hello.supports(strategy, keyByteCount: keyByteCount)
    }

    package func promises(_ group: VectorGroup) -> Bool { hello.promises(group) }

    package func supportStatus(for group: VectorGroup) -> SupportStatus {
        guard hello.supports(group) else { return .unsupported }
        // The protocol has one request at a time, and sources of a fixed length.
        guard isFeasible(group), group.threadCount == 1, group.supply != .changing,
            group.supply == .any || isServed
        else { return .notRun }
        return .fit
    }

    private var isServed: Bool { hello.isServed && !opensPaths }

    /// Returns false for an object that the subject would have to fetch or hold whole and that is too large for that.
    private func isFeasible(_ group: VectorGroup) -> Bool {
        let byteCount = group.ciphertext.byteCount
        let hasChunks = group.hasStrategy && group.strategy.chunkByteCount != nil
        let isWindowed = isServed && (hello.granularity == .block || hasChunks)
        return isWindowed || byteCount <= TemporaryCiphertext.largestByteCount
    }

    /// Integers end at 2⁵³ in the protocol, so larger offsets cannot be requested. A slow subject does not get a long
    /// read that would take half of the time allowed for an answer.
    package func takes(offset: UInt64, count: Int) -> Bool {
        offset < 1 << 53 && (count <= Self.longReadByteCount || session.expectedTime(of: count) < session.timeout / 2)
    }

    /// Reads of up to this length are run with any subject.
    private static let longReadByteCount = 4 << 20

    package func setups(for group: VectorGroup) -> [ReaderSetup] { [ReaderSetup(.cursor(windowByteCount: .max))] }

    package func object(_ group: VectorGroup, setup: ReaderSetup) throws(DecryptionError) -> any ObjectUnderTest {
        try ExternalObject(group, session: session, hello: hello, isServed: isServed)
    }

    package func isWorthAsking(_ flags: @autoclosure () -> [String]) -> Bool { session.isWorthAsking(flags()) }
    package func attempt(_ flags: @autoclosure () -> [String], _ body: () -> Void) {
        session.noteTrouble(flags(), body)
    }
    package func recover() { session.resynchronize() }
}

/// A group's object as a program has opened it, with the ranges it has fetched.
final class ExternalObject: ObjectUnderTest {
    /// The outcome of a request.
    private enum Outcome {
        case answered(SubjectAnswer)
        case refused(ErrorReply, left: [UInt8])
        /// The subject gave no proper answer, for this reason.
        case broke(String)
    }

    let group: VectorGroup
    /// The ciphertext that the harness serves; `nil` for a subject that reads a file.
    private let served: ServedCiphertext?
    let rule: FetchRule?
    private(set) var kept = RangeSet<UInt64>()
    private(set) var hasDelivered = false

    /// The strategies that the program lists.
    private let listed: [String]
    private let session: ExternalSession
    private let file: TemporaryCiphertext?
    private var id: UInt64 = 0
    private var generation = -1
    private var isOpen = false

    /// Prepares an object. If `file` is given, the subject reads it from there; the file holds the group's ciphertext.
    ///
    /// - Throws: `DecryptionError.io` if a file is needed and cannot be written.
    init(
        _ group: VectorGroup, session: ExternalSession, hello: ExternalHello, isServed: Bool? = nil,
        file: TemporaryCiphertext? = nil
    ) throws(DecryptionError) {
        let isServed = file == nil && isServed ?? hello.isServed
        self.group = group
        self.session = session
        self.listed = hello.strategies
        let isGraded = isServed && FetchRule.tells(of: group)
        self.rule =
            isGraded
            ? FetchRule(
                strategy: group.strategy, granularity: hello.granularity,
                ciphertextByteCount: group.ciphertext.byteCount) : nil
        self.served = isServed ? ServedCiphertext(group) : nil
        if let file {
            self.file = file
        } else {
            self.file = isServed ? nil : try TemporaryCiphertext(group)
        }
    }

    var label: String? { nil }

    func open() -> OpeningAnswer { open(group.supply.faultAtOpening) }

    /// Opens the object. A `fault` lasts for this request.
    func open(_ fault: SourceFault) -> OpeningAnswer {
        id = session.makeID()
        served?.begin(.none)
        kept = RangeSet()
        return openAgain(fault)
    }

    /// Opens the object under the same `id` again, such as after a failed `open`.
    func openAgain(_ fault: SourceFault = .none) -> OpeningAnswer {
        let members = group.openMembers(id: id, path: file?.path, listed: listed)
        let outcome = ask(.object(members), fault, largestPayload: 0)
        isOpen = if case .answered = outcome { true } else { false }
        // A restart during the request has increased the generation, and nothing is open.
        generation = session.generation
        switch outcome {
        case .answered(let answer): return .opened(plaintextByteCount: answer.members["plaintextByteCount"]?.integer)
        case .refused(let refusal, _): return .refused(refusal)
        case .broke(let reason): return .noAnswer(reason)
        }
    }

    /// Reads a range. If the subject was restarted, the object is first opened again.
    func read(at offset: UInt64, count: Int, _ fault: SourceFault = .none) -> ReadAnswer {
        hasDelivered = false
        if !isOpen || generation != session.generation {
            guard case .opened = open() else { return .noAnswer("after a restart, the object did not open again") }
        }
        let request: JSONValue = [
            "op": "read", "id": .integer(id), "offset": .integer(offset), "count": .integer(UInt64(count)),
        ]
        // Some surplus is accepted from a subject that delivers too much, so that it can be examined.
        switch ask(request, fault, largestPayload: UInt64(count) + 1 << 16) {
        case .answered(let answer):
            hasDelivered = true
            return .delivered(.array(answer.payload))
        // Bytes with an error count as delivered.
        case .refused(let refusal, let left): return .refused(refusal, left: .array(left))
        case .broke(let reason):
            isOpen = false
            return .noAnswer(reason)
        }
    }

    /// Closes the object.
    ///
    /// - Returns: A description of what is wrong with the answer, or `nil`.
    @discardableResult
    func close() -> String? {
        guard isOpen, generation == session.generation else { return nil }
        isOpen = false
        switch ask(["op": "close", "id": .integer(id)], .none, largestPayload: 0) {
        case .answered: return nil
        case .refused(let refusal, _): return "close is answered with \(refusal.text)"
        case .broke(let reason): return "close: \(reason)"
        }
    }

    var extraReads: ExtraReads { served == nil ? .none : .withFaults }
    var fetches: [FetchRule.Fetch]? { served?.fetches ?? [] }
    var hasFaulted: Bool { served?.hasFaulted ?? false }

    var meetsFaults: Bool { group.supply.isFaulty }
    func supply(forRead number: Int, byteCount: Int) -> SourceFault {
        group.supply.fault(forRead: number, byteCount: byteCount)
    }

    /// A subject that kept what it needs fetches nothing and meets no fault. It may deliver bytes instead of the error.
    func mayHaveKept(despite fault: SourceFault) -> Bool { !hasFaulted }

    func overrun(delivered: Int) -> String? { nil }

    private func ask(_ request: JSONValue, _ fault: SourceFault, largestPayload: UInt64) -> Outcome {
        for fetch in served?.fetches ?? [] { kept.insert(contentsOf: fetch.delivered) }
        served?.begin(fault)
        do {
            let answer = try session.ask(request, serving: served, largestPayload: largestPayload)
            if answer.isGood { return .answered(answer) }
            guard let name = answer.members["error"]?.string else {
                return .broke("an error answer has no member \"error\"")
            }
            return .refused(
                ErrorReply(name: name, message: answer.members["message"]?.string), left: answer.payload)
        } catch {
            return .broke("\(error)")
        }
    }
}

extension VectorGroup {
    /// Returns the members of a request that opens the group's object, from the file or folder at `path` or else
    /// served. `strategies` are those that the program lists.
    func openMembers(id: UInt64, path: String?, listed strategies: [String]) -> [String: JSONValue] {
        var members: [String: JSONValue]
        var served: JSONValue = ["byteCount": .integer(ciphertext.byteCount)]
        if let playlist {
            members = [
                "strategy": .string(PlaylistObject.strategyName), "playlist": .string(playlist.text),
                "keys": .object(playlist.keys.mapValues { .string(Hexadecimal.encode($0)) }),
            ]
            served = ["byteCounts": .object(playlist.resources.mapValues { JSONValue(count: $0.count) })]
        } else {
            if let film {
                members = ["strategy": .string(FilmObject.strategyName)]
                members["samples"] = film.samples.map(JSONValue.string)
            } else {
                members = strategy.protocolMembers(listed: strategies)
            }
            members["key"] = .string(key.withUnsafeBytes { Hexadecimal.encode($0) })
        }
        members["op"] = "open"
        members["id"] = .integer(id)
        members["source"] = path.map { ["path": .string($0)] } ?? served
        return members
    }
}
