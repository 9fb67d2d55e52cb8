package import RandomAccess
internal import Support
package import Vectors

/// What is under test, as the referee takes it: readers in this process, or a program that speaks PROTOCOL.md.
///
/// Only the transport differs: what is asked, and what is right, the referee says for all of them.
package protocol JudgedSubject {
    /// The name in results.
    var name: String { get }

    /// Whether a wrong length, wrong bytes and superfluous fetches are findings of their own, as for a program of a
    /// user's; a vector that is put to several readers of ours passes as a whole, or does not.
    var tellsFindingsApart: Bool { get }

    /// How often in a group the origin of wrong bytes is looked for, which takes much longer than a read.
    var maxGuessCount: Int { get }

    /// Whether it says that it can do a strategy with a key length.
    func supports(_ strategy: Strategy, keyByteCount: Int) -> Bool

    /// Says whether it has told that it has the cipher of a group's object; if not, it may lack it.
    func promises(_ group: VectorGroup) -> Bool

    /// Whether a group is put to it.
    func fitness(for group: VectorGroup) -> Fitness

    /// Whether a read is put to it; what is not counts as not run.
    func takes(offset: UInt64, count: Int) -> Bool

    /// The setups that get every read of a group, and those that share its reads.
    func setups(for group: VectorGroup) -> (always: [ReaderSetup], inTurn: [ReaderSetup])

    /// Prepares a group's object, which is not open yet.
    ///
    /// - Throws: `DecryptionError` if there is no way to hand over its ciphertext.
    func object(_ group: VectorGroup, setup: ReaderSetup) throws(DecryptionError) -> any JudgedObject

    /// Opens an object for several threads, each of which gets one of the objects that are returned.
    func openForThreads(_ group: VectorGroup) throws(DecryptionError) -> [any JudgedObject]

    /// Whether there is a point in asking vectors with these flags, after what the subject did so far.
    func isWorthAsking(_ flags: [String]) -> Bool

    /// Puts vectors with these flags to it, and notes whether answers did not come.
    func attempt(_ flags: [String], _ body: () -> Void)

    /// Gets over a wrong answer, after which the following ones may belong to other requests.
    func recover()
}

extension JudgedSubject {
    /// Of readers of ours only the first failures of a group are explained.
    package var maxGuessCount: Int { tellsFindingsApart ? .max : 2 }
    package func promises(_ group: VectorGroup) -> Bool { true }
    package func openForThreads(_ group: VectorGroup) throws(DecryptionError) -> [any JudgedObject] { [] }
    package func isWorthAsking(_ flags: [String]) -> Bool { true }
    package func attempt(_ flags: [String], _ body: () -> Void) { body() }
    package func recover() {}
}

/// Whether a group is put to a subject.
package enum Fitness {
    case fit
    /// The subject says that it cannot do it.
    case unsupported
    /// There is no way to ask.
    case notRun
}

/// A vector group's object as a subject has it open, with what was fetched of it.
package protocol JudgedObject: AnyObject {
    /// Which of several readers this is, in findings; `nil` where there is one.
    var label: String? { get }

    /// Opens the object.
    func open() -> OpeningAnswer

    /// Reads a range while the source goes wrong in some way.
    func read(at offset: UInt64, count: Int, _ fault: SourceFault) -> ReadAnswer

    /// Forgets the object. Returns what is wrong with the answer, or `nil`.
    @discardableResult
    func close() -> String?

    /// Whether the harness serves the ciphertext to it, so that the source can be made to go wrong.
    var isServed: Bool { get }
    /// Whether the last read delivered bytes, right or wrong.
    var hasDelivered: Bool { get }

    /// The rule that fetches are judged by; `nil` where they are not.
    var rule: FetchRule? { get }
    /// What the last request fetched.
    var fetches: [FetchRule.Fetch] { get }
    /// The ciphertext that was fetched before, as far as a subject may have kept it.
    var kept: RangeSet<UInt64> { get }

    /// Whether its source goes wrong before each read.
    var meetsFaults: Bool { get }
    /// How its source behaves in an ordinary read.
    func supply(forRead number: Int, byteCount: Int) -> SourceFault
    /// Whether the fault of the last read was met.
    var hasFaulted: Bool { get }
    /// Whether the last read may have delivered what was kept, instead of the error that the fault asks for.
    func mayHaveKept(despite fault: SourceFault) -> Bool

    /// What the last read touched beyond the bytes that it delivered, or `nil`.
    func overrun(delivered: Int) -> String?
}

/// What goes wrong in a source.
package enum SourceFault: Hashable, Sendable {
    case none
    /// At most so many bytes come at once.
    case short(largest: Int)
    /// Each read fails.
    case failure
    /// Each read from this offset on fails; one before it delivers bytes up to there.
    case failureFrom(UInt64)
    /// The source ends here, whatever was announced.
    case end(at: UInt64)
    /// The source has another length than before.
    case changedLength
}

/// An error that a subject answers with.
package struct Refusal {
    let name: String
    /// What it says beside the name, if that is known.
    private let message: String?
    /// What failed in this process: its words are found when they are asked for, which is rarely.
    private let error: DecryptionError?

    /// The max number of characters of a message that are shown.
    private static let messageLength = 160

    /// What a program answered; its message is shown as a line, as far as it is short.
    init(name: String, message: String? = nil) {
        self.name = name
        self.message = message.flatMap { $0.isEmpty ? nil : String(PlainText.line($0).prefix(Self.messageLength)) }
        self.error = nil
    }

    init(_ error: DecryptionError) {
        self.name = error.protocolName
        self.message = nil
        self.error = error
    }

    var text: String { "the error \(name)\((message ?? error.map { "\($0)" }).map { " (\($0))" } ?? "")" }
}

/// How opening ended.
package enum OpeningAnswer {
    /// With a length; `nil` if the answer has none.
    case opened(plaintextByteCount: UInt64?)
    case refused(Refusal)
    /// There was no proper answer; the reason.
    case noAnswer(String)

    /// Says whether something cannot be done that the format asks for.
    func isUnexpectedlyUnsupported(_ opening: VectorGroup.Opening) -> Bool {
        guard case .refused(let refusal) = self, refusal.name == ErrorName.unsupported.rawValue else { return false }
        return if case .fails(.unsupported) = opening { false } else { true }
    }

    /// What is wrong with the answer, or `nil`.
    func mismatch(expecting opening: VectorGroup.Opening) -> String? {
        switch (self, opening) {
        case (.noAnswer(let reason), _): return reason
        case (.refused(let refusal), .fails(let name)):
            return refusal.name == name.rawValue ? nil : "\(refusal.text): expected the error \(name.rawValue)"
        case (.refused(let refusal), .opens(let byteCount)):
            return "\(refusal.text): expected it to open, with \(byteCount) bytes of plaintext"
        case (.opened, .fails(let name)): return "opened: expected the error \(name.rawValue)"
        case (.opened(let found), .opens(let byteCount)):
            guard let found else { return "the answer to open has no integer \"plaintextByteCount\"" }
            return found == byteCount ? nil : "the plaintext has \(found) bytes: expected \(byteCount)"
        }
    }
}

/// How a read ended.
package enum ReadAnswer {
    case delivered(AnswerBytes)
    /// With an error, and what stood where the plaintext goes, which is unspecified.
    case refused(Refusal, left: AnswerBytes)
    /// There was no proper answer; the reason.
    case noAnswer(String)
}

/// Bytes of an answer: an array's, or those of a buffer that are good until the next read.
package enum AnswerBytes {
    case array([UInt8])
    case buffer(UnsafeRawBufferPointer)

    var count: Int {
        switch self {
        case .array(let bytes): bytes.count
        case .buffer(let bytes): bytes.count
        }
    }

    func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        switch self {
        case .array(let bytes): bytes.withUnsafeBytes(body)
        case .buffer(let bytes): body(bytes)
        }
    }

    var copy: [UInt8] { withBytes { Array($0) } }
}
