package import RandomAccess
internal import Support
package import Vectors

/// A subject as the referee sees it: readers in this process, or a program that speaks PROTOCOL.md.
///
/// Only the transport differs. The referee decides what to ask and what is right, for all subjects alike.
package protocol SubjectUnderTest {
    /// The name in results.
    var name: String { get }

    /// The number of times in a group that the referee looks for the origin of wrong bytes, which takes much longer
    /// than a read.
    var maxGuessCount: Int { get }

    /// Says whether the subject claims to support a strategy with a key length.
    func supports(_ strategy: Strategy, keyByteCount: Int) -> Bool

    /// Says whether the subject has claimed the cipher of a group's object. If it has not, it may lack the cipher.
    func promises(_ group: VectorGroup) -> Bool

    /// Returns whether a group can be run against the subject.
    func supportStatus(for group: VectorGroup) -> SupportStatus

    /// Says whether a read is run against the subject; others count as not run.
    func takes(offset: UInt64, count: Int) -> Bool

    /// The setups of a group's readers: the first one gets every read, and the others share the reads.
    func setups(for group: VectorGroup) -> [ReaderSetup]

    /// Prepares a group's object without opening it.
    ///
    /// - Throws: `DecryptionError` if the harness has no way to hand over the ciphertext.
    func object(_ group: VectorGroup, setup: ReaderSetup) throws(DecryptionError) -> any ObjectUnderTest

    /// Opens an object for several threads and returns one object for each.
    func openForThreads(_ group: VectorGroup) throws(DecryptionError) -> [any ObjectUnderTest]

    /// Says whether vectors with these flags are worth running, given how the subject has answered so far.
    func isWorthAsking(_ flags: @autoclosure () -> [String]) -> Bool

    /// Runs vectors with these flags and notes whether the subject failed to answer.
    func attempt(_ flags: @autoclosure () -> [String], _ body: () -> Void)

    /// Recovers from a wrong answer, after which the next answers may belong to other requests.
    func recover()
}

extension SubjectUnderTest {
    package var maxGuessCount: Int { .max }
    package func promises(_ group: VectorGroup) -> Bool { true }
    package func openForThreads(_ group: VectorGroup) throws(DecryptionError) -> [any ObjectUnderTest] { [] }
    package func isWorthAsking(_ flags: @autoclosure () -> [String]) -> Bool { true }
    package func attempt(_ flags: @autoclosure () -> [String], _ body: () -> Void) { body() }
    package func recover() {}
}

/// Says whether a group can be run against a subject.
package enum SupportStatus {
    case fit
    /// The subject says that it does not support the group.
    case unsupported
    /// The harness has no way to run it.
    case notRun
}

/// A vector group's object as the subject has opened it, with the ranges it has fetched.
package protocol ObjectUnderTest: AnyObject {
    /// The reader's label in findings; `nil` if there is only one reader.
    var label: String? { get }

    /// Opens the object.
    func open() -> OpeningAnswer

    /// Reads a range while the source has a fault.
    func read(at offset: UInt64, count: Int, _ fault: SourceFault) -> ReadAnswer

    /// Closes the object. Returns what is wrong with the answer, or `nil`.
    @discardableResult
    func close() -> String?

    /// The reads that are run beside a group's own.
    var extraReads: ExtraReads { get }
    /// True if the last read delivered bytes, right or wrong.
    var hasDelivered: Bool { get }

    /// The rule by which fetches are judged; `nil` if they are not judged.
    var rule: FetchRule? { get }
    /// The fetches of the last request; `nil` if they are no findings of their own.
    var fetches: [FetchRule.Fetch]? { get }
    /// The ciphertext fetched earlier that the subject may have kept.
    var kept: RangeSet<UInt64> { get }

    /// Says whether the source has faults before each read.
    var meetsFaults: Bool { get }
    /// Returns the behaviour of the source in an ordinary read.
    func supply(forRead number: Int, byteCount: Int) -> SourceFault
    /// True if the last read ran into the fault.
    var hasFaulted: Bool { get }
    /// Says whether the last read may have delivered kept bytes, instead of the error that the fault calls for.
    func mayHaveKept(despite fault: SourceFault) -> Bool

    /// Describes what the opening or the last read touched beyond what it needs; `nil` if nothing.
    func overrun(delivered: Int) -> String?
}

/// Reads that are run beside a group's own.
package enum ExtraReads {
    case none
    /// A few bytes from the start, after a range beyond the end.
    case afterFailures
    /// Every few reads again, in short reads, or while the source fails or ends early and after it.
    case withFaults
}

/// A fault of a source.
package enum SourceFault: Hashable, Sendable {
    case none
    /// Each read delivers at most `largest` bytes.
    case short(largest: Int)
    /// Each read fails.
    case failure
    /// Each read from this offset on fails; a read that starts before it delivers the bytes up to there.
    case failureFrom(UInt64)
    /// The source ends here, whatever length it announced.
    case end(at: UInt64)
    /// The source's length has changed.
    case changedLength
}

/// An error that a subject returned.
package struct ErrorReply {
    let name: String
    /// The subject's own message, if it is known.
    private let message: String?
    /// The error of a reader in this process. Its text is made on demand, which is rare.
    private let error: DecryptionError?

    /// The max number of characters shown of a message.
    private static let messageLength = 160

    /// A program's error; its message is cut to one short line.
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

/// The outcome of opening an object.
package enum OpeningAnswer {
    /// The plaintext length; `nil` if the answer has none.
    case opened(plaintextByteCount: UInt64?)
    case refused(ErrorReply)
    /// The subject gave no proper answer, for this reason.
    case noAnswer(String)

    /// Says whether the subject lacks something that the format requires.
    func isUnexpectedlyUnsupported(_ opening: VectorGroup.Opening) -> Bool {
        guard case .refused(let refusal) = self, refusal.name == ErrorName.unsupported.rawValue else { return false }
        return if case .fails(.unsupported) = opening { false } else { true }
    }

    /// Returns what is wrong with the answer, or `nil`.
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

/// The outcome of a read.
package enum ReadAnswer {
    case delivered(AnswerBytes)
    /// An error, and the content of the buffer for the plaintext, which is unspecified.
    case refused(ErrorReply, left: AnswerBytes)
    /// The subject gave no proper answer, for this reason.
    case noAnswer(String)
}

/// The bytes of an answer: an array, or a buffer that is valid until the next read.
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
