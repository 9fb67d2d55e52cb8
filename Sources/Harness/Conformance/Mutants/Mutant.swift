package import RandomAccess
package import Vectors

/// A reader with one injected fault, to prove that the vectors notice it.
///
/// - Source: DeMillo, Lipton and Sayward, "Hints on test data selection", IEEE Computer 11 (4), 1978.
package struct Mutant: Sendable {
    /// The name, such as `iv-zero`.
    package let name: String
    /// A description of the fault in one sentence.
    package let summary: String
    /// The class of bugs that the fault belongs to, whose vectors kill the mutant.
    package let flag: VectorFlag
    /// The origin of the fault: a bug report, an article, or a standard that it violates.
    package let source: String
    /// True if the result of a read may depend on earlier reads, even if only because a right reader keeps the bytes of
    /// a faulty source.
    let remembers: Bool
    /// False for behaviour that PROTOCOL.md allows a program, and for faults that only show in the program's memory.
    private(set) var isForPrograms = true

    private let makeSubject: @Sendable (any CipherBackend) -> InProcessSubject

    init(
        _ name: String, _ summary: String, flag: VectorFlag, source: String, remembers: Bool = true,
        subject: @escaping @Sendable (any CipherBackend) -> InProcessSubject
    ) {
        self.name = name
        self.summary = summary
        self.flag = flag
        self.source = source
        self.remembers = remembers
        self.makeSubject = subject
    }

    /// Returns a subject that has the fault, over a backend that has none. Each subject has its own state.
    package func subject(over backend: any CipherBackend) -> InProcessSubject {
        makeSubject(backend).limited(to: backend)
    }

    /// Returns the same mutant, marked as a fault that a program cannot have.
    func inProcessOnly() -> Mutant {
        var mutant = self
        mutant.isForPrograms = false
        return mutant
    }

    /// The window of a program with the fault.
    var windowByteCount: Int { [.windowEdge, .wholeWindow].contains(flag) ? 65536 : .max }

    /// Returns the mutant with a name, or `nil`.
    package static func named(_ name: String) -> Mutant? { all.first { $0.name == name } }

    /// All mutants, by family.
    package static let all: [Mutant] =
        ivs + chunks + windows + paddings + lengths + ranges + offsetWidths + supplies + fetches + states + strides
        + counters + keys + overclaims + articles + authenticatedChunks + chunkRelease + rules + playlists
        + films

    /// Returns a mutant with a fault in one of a textbook reader's rules.
    static func textbook(
        _ name: String, _ summary: String, flag: VectorFlag, source: String, remembers: Bool = false,
        _ change: @escaping @Sendable (inout TextbookRules) -> Void
    ) -> Mutant {
        Mutant(name, summary, flag: flag, source: source, remembers: remembers) { backend in
            var rules = TextbookRules()
            change(&rules)
            return TextbookReader.subject(name, backend: backend, rules: rules)
        }
    }

    /// Returns a mutant that changes the bytes that a right reader delivers. It makes a new `body` for each open
    /// object.
    static func reader(
        _ name: String, _ summary: String, flag: VectorFlag, source: String, remembers: Bool = true,
        _ body: @escaping @Sendable () -> FaultyReader.Read
    ) -> Mutant {
        Mutant(name, summary, flag: flag, source: source, remembers: remembers) { backend in
            let right = InProcessSubject(backend: backend)
            return InProcessSubject(name: name) { (setup, source, strategy, key) throws(DecryptionError) in
                FaultyReader(try right.open(setup, source, strategy, key), body())
            }
        }
    }

    /// Returns a mutant that changes the bytes that a right reader delivers, and keeps no state between reads.
    static func reading(
        _ name: String, _ summary: String, flag: VectorFlag, source: String,
        _ body:
            @escaping @Sendable (
                _ base: any RandomAccessDecryptor, _ offset: UInt64, _ buffer: UnsafeMutableRawBufferPointer
            ) throws(DecryptionError) -> Int
    ) -> Mutant {
        .reader(name, summary, flag: flag, source: source, remembers: false) { body }
    }

    /// The bytes that a right reader has delivered.
    struct Delivery {
        let offset: UInt64
        /// The buffer for all requested bytes.
        let buffer: UnsafeMutableRawBufferPointer
        /// The number of delivered bytes.
        let count: Int
        /// The plaintext's length.
        let length: UInt64

        var end: UInt64 { offset + UInt64(count) }
    }

    /// Returns a mutant in which `body` changes the bytes that a right reader has delivered. `body` returns the number
    /// of bytes to report.
    static func delivery(
        _ name: String, _ summary: String, flag: VectorFlag, source: String,
        _ body: @escaping @Sendable (Delivery) -> Int
    ) -> Mutant {
        .reading(name, summary, flag: flag, source: source) { (base, offset, buffer) throws(DecryptionError) in
            let count = try base.read(at: offset, into: buffer)
            return body(Delivery(offset: offset, buffer: buffer, count: count, length: base.plaintextByteCount))
        }
    }

    /// Returns a mutant with a fault between the source and a right reader.
    static func source(
        _ name: String, _ summary: String, flag: VectorFlag, source: String, changes: Bool = true,
        _ body: @escaping ScriptedSource.Read
    ) -> Mutant {
        Mutant(name, summary, flag: flag, source: source) { backend in
            let right = InProcessSubject(backend: backend)
            return InProcessSubject(name: name) { (setup, source, strategy, key) throws(DecryptionError) in
                try right.open(setup, ScriptedSource(base: source, noticesChanges: changes, body: body), strategy, key)
            }
        }
    }

    /// Returns a mutant with a fault in the cipher of a right reader.
    static func backend(
        _ name: String, _ summary: String, flag: VectorFlag, source: String, _ change: @escaping FaultyBackend.Change
    ) -> Mutant {
        Mutant(name, summary, flag: flag, source: source, remembers: false) { backend in
            let right = InProcessSubject(backend: FaultyBackend(base: backend, change: change))
            return InProcessSubject(name: name, supports: right.supports, fits: right.fits, open: right.open)
        }
    }

    /// Returns a mutant with a fault in the opening of a right reader's object.
    static func opening(
        _ name: String, _ summary: String, flag: VectorFlag, source: String,
        _ open:
            @escaping @Sendable (
                _ right: InProcessSubject.Open, _ setup: ReaderSetup, _ source: any ByteSource, _ strategy: Strategy,
                _ key: SecretKey
            ) throws(DecryptionError) -> any RandomAccessDecryptor
    ) -> Mutant {
        Mutant(name, summary, flag: flag, source: source) { backend in
            let right = InProcessSubject(backend: backend).open
            return InProcessSubject(name: name) { (setup, source, strategy, key) throws(DecryptionError) in
                try open(right, setup, source, strategy, key)
            }
        }
    }
}
