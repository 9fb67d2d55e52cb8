import RandomAccess
import SubjectProtocol
import Support
import Vectors

/// A group's object as one subject has it open, with what was fetched of it.
final class ExternalObject {
    /// How a request ended.
    enum Outcome {
        case answered(SubjectAnswer)
        case refused(name: String)
        /// There was no proper answer; the reason.
        case broke(String)
    }

    let group: VectorGroup
    let rule: ExternalFetchRule
    /// What the harness serves, or `nil` for a subject that reads a file.
    let served: ServedCiphertext?

    private let session: ExternalSession
    private let file: TemporaryCiphertext?
    private var id: UInt64 = 0
    private var generation = -1
    private var isOpen = false
    private var kept = RangeSet<UInt64>()
    /// The payload of the last answer, if that was an error: none is to have one.
    private(set) var refusedPayload: [UInt8] = []

    /// Prepares an object.
    ///
    /// - Throws: `DecryptionError.io` if a file is needed and cannot be written.
    init(_ group: VectorGroup, session: ExternalSession, hello: ExternalHello) throws(DecryptionError) {
        self.group = group
        self.session = session
        self.rule = ExternalFetchRule(
            strategy: group.strategy, granularity: hello.granularity, ciphertextByteCount: group.ciphertext.byteCount)
        self.served = hello.isServed ? ServedCiphertext(group) : nil
        self.file = hello.isServed ? nil : try TemporaryCiphertext(group)
    }

    /// The members of the request that opens the object.
    var openRequest: [String: JSONValue] {
        group.openMembers(id: id, path: file?.path)
    }

    /// Opens the object; a fault, if there is to be one, lasts for this request.
    func open(_ fault: ServedCiphertext.Fault = .none) -> Outcome {
        id = session.makeID()
        served?.begin(.none)
        kept = RangeSet()
        let outcome = ask(.object(openRequest), fault, largestPayload: 0)
        isOpen = if case .answered = outcome { true } else { false }
        // A restart while it was asked leaves another generation, and nothing open.
        generation = session.generation
        return outcome
    }

    /// Opens the object again after a failed `open`, under the same `id`.
    func openAgain() -> Outcome {
        let outcome = ask(.object(openRequest), .none, largestPayload: 0)
        isOpen = if case .answered = outcome { true } else { false }
        generation = session.generation
        return outcome
    }

    /// Reads as a vector says.
    func read(_ read: RangeRead, _ fault: ServedCiphertext.Fault = .none) -> Outcome {
        self.read(offset: read.offset, count: read.count, fault)
    }

    /// Reads a range; the object is opened first if the subject had to be started anew.
    func read(offset: UInt64, count: Int, _ fault: ServedCiphertext.Fault = .none) -> Outcome {
        if !isOpen || generation != session.generation {
            guard case .answered = open() else { return .broke("after a restart, the object did not open again") }
        }
        let request: JSONValue = [
            "op": "read", "id": .integer(id), "offset": .integer(offset), "count": .integer(UInt64(count)),
        ]
        // A subject that delivers a little too much is heard out, so that the surplus can be looked at.
        let outcome = ask(request, fault, largestPayload: UInt64(count) + 1 << 16)
        if case .broke = outcome { isOpen = false }
        return outcome
    }

    /// Whether fetches are judged: where the parts of a playlist lie, and so what a read needs, is not known here.
    var isGraded: Bool { served != nil && group.playlist == nil }

    /// What is wrong with what the last read fetched, or `nil`.
    func fetchComplaint(delivering range: Range<UInt64>) -> String? {
        guard let served else { return nil }
        return rule.mismatch(in: served.fetches, delivering: range, having: kept)
    }

    /// Forgets the object.
    ///
    /// - Returns: What is wrong with the answer, or `nil`.
    @discardableResult
    func close() -> String? {
        guard isOpen, generation == session.generation else { return nil }
        isOpen = false
        switch ask(["op": "close", "id": .integer(id)], .none, largestPayload: 0) {
        case .answered: return nil
        case .refused(let name): return "close is answered with the error \(name)"
        case .broke(let reason): return "close: \(reason)"
        }
    }

    private func ask(_ request: JSONValue, _ fault: ServedCiphertext.Fault, largestPayload: UInt64) -> Outcome {
        for fetch in served?.fetches ?? [] { kept.insert(contentsOf: fetch.delivered) }
        served?.begin(fault)
        do {
            let answer = try session.ask(request, serving: served, largestPayload: largestPayload)
            refusedPayload = answer.isGood ? [] : answer.payload
            if answer.isGood { return .answered(answer) }
            guard let name = answer.members["error"]?.string else {
                return .broke("an error answer has no member \"error\"")
            }
            return .refused(name: name)
        } catch {
            return .broke("\(error)")
        }
    }
}

extension VectorGroup {
    /// The members of a request that opens the group's object: from the file or folder at `path`, or else served.
    func openMembers(id: UInt64, path: String?) -> [String: JSONValue] {
        var members: [String: JSONValue]
        var served: JSONValue = ["byteCount": .integer(ciphertext.byteCount)]
        if let playlist {
            members = [
                "strategy": .string(PlaylistObject.strategyName), "playlist": .string(playlist.text),
                "keys": .object(playlist.keys.mapValues { .string(Hexadecimal.encode($0)) }),
            ]
            served = ["byteCounts": .object(playlist.resources.mapValues { JSONValue(count: $0.count) })]
        } else {
            members = strategy.protocolMembers
            members["key"] = .string(key.withUnsafeBytes { Hexadecimal.encode($0) })
        }
        members["op"] = "open"
        members["id"] = .integer(id)
        members["source"] = path.map { ["path": .string($0)] } ?? served
        return members
    }
}
