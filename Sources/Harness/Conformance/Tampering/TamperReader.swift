internal import RandomAccess
internal import Vectors

/// A subject as the integrity matrix takes it: in this process or in another one.
protocol TamperSubject {
    /// Opens what came of a tampering; `number` says for which reader, so that there may be several kinds of them.
    func open(_ content: TamperContent, of target: TamperTarget, reader number: Int) -> TamperOpening
}

/// How opening ended.
enum TamperOpening {
    case opened(any TamperReader)
    case refused(name: String)
    /// There was no proper answer; the reason.
    case noAnswer(String)
}

/// An object that was opened.
protocol TamperReader {
    /// The plaintext's length as the subject says.
    var plaintextByteCount: UInt64 { get }

    /// Reads a range of at least one byte.
    func read(at offset: UInt64, count: Int) -> TamperReading
}

/// How a read ended.
enum TamperReading {
    case delivered([UInt8])
    /// With an error, and what stood where the plaintext goes, which is unspecified.
    case refused(name: String, left: [UInt8])
    /// There was no proper answer; the reason.
    case noAnswer(String)
}
