package import RandomAccess
package import Vectors

/// A reader with one planted fault, there to prove that the vectors notice it.
///
/// - Source: DeMillo, Lipton and Sayward, "Hints on test data selection", IEEE Computer 11 (4), 1978.
package struct Mutant: Sendable {
    /// The name, such as `iv-zero`.
    package let name: String
    /// What it does wrong, in one sentence.
    package let summary: String
    /// The class of bugs that the fault belongs to, whose vectors must kill the mutant.
    package let flag: VectorFlag
    /// Where the fault was seen: a bug report, an article, or a standard that it violates.
    package let source: String
    /// Says whether what comes of a read may depend on reads before it, if only since a right reader keeps what a wrong
    /// source gave it.
    let remembers: Bool
    /// False for what PROTOCOL.md allows a program, and for what shows in its memory only.
    private(set) var isForPrograms = true

    private let makeSubject: @Sendable (any CipherBackend) -> ConformanceSubject

    init(
        _ name: String, _ summary: String, flag: VectorFlag, source: String, remembers: Bool = true,
        subject: @escaping @Sendable (any CipherBackend) -> ConformanceSubject
    ) {
        self.name = name
        self.summary = summary
        self.flag = flag
        self.source = source
        self.remembers = remembers
        self.makeSubject = subject
    }

    /// A subject that has the fault, over a backend that has none; what it remembers beyond one object is its own.
    package func subject(over backend: any CipherBackend) -> ConformanceSubject {
        makeSubject(backend).limited(to: backend)
    }

    /// The same mutant, where a program cannot have it.
    func inProcessOnly() -> Mutant {
        var mutant = self
        mutant.isForPrograms = false
        return mutant
    }

    /// The windows that a program with the fault reads in.
    var windowByteCount: Int { [.windowEdge, .wholeWindow].contains(flag) ? 65536 : .max }

    /// The mutant of a name, or `nil`.
    package static func named(_ name: String) -> Mutant? { all.first { $0.name == name } }

    /// All mutants, family by family.
    package static let all: [Mutant] =
        ivs + chunks + windows + paddings + lengths + ranges + offsetWidths + supplies + fetches + states + strides
        + counters + keys + pretenders + articles + authenticatedChunks + chunkRelease + rules + playlists

    /// A fault of one of a textbook reader's rules.
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

    /// A fault in what a right reader delivers; `body` is made anew for each open object.
    static func reader(
        _ name: String, _ summary: String, flag: VectorFlag, source: String, remembers: Bool = true,
        _ body: @escaping @Sendable () -> FaultyReader.Read
    ) -> Mutant {
        Mutant(name, summary, flag: flag, source: source, remembers: remembers) { backend in
            let right = ConformanceSubject(backend: backend)
            return ConformanceSubject(name: name) { (setup, source, strategy, key) throws(DecryptionError) in
                FaultyReader(try right.open(setup, source, strategy, key), body())
            }
        }
    }

    /// A fault in what a right reader delivers, with nothing remembered from read to read.
    static func reading(
        _ name: String, _ summary: String, flag: VectorFlag, source: String,
        _ body:
            @escaping @Sendable (
                _ base: any RandomAccessDecryptor, _ offset: UInt64, _ buffer: UnsafeMutableRawBufferPointer
            ) throws(DecryptionError) -> Int
    ) -> Mutant {
        .reader(name, summary, flag: flag, source: source, remembers: false) { body }
    }

    /// What a right reader has delivered.
    struct Delivery {
        let offset: UInt64
        /// All that was asked for.
        let buffer: UnsafeMutableRawBufferPointer
        /// The delivered bytes.
        let count: Int
        /// The plaintext's length.
        let length: UInt64

        var end: UInt64 { offset + UInt64(count) }
    }

    /// A fault in what a right reader delivers, which `body` changes; it returns the number of bytes to tell.
    static func delivery(
        _ name: String, _ summary: String, flag: VectorFlag, source: String,
        _ body: @escaping @Sendable (Delivery) -> Int
    ) -> Mutant {
        .reading(name, summary, flag: flag, source: source) { (base, offset, buffer) throws(DecryptionError) in
            let count = try base.read(at: offset, into: buffer)
            return body(Delivery(offset: offset, buffer: buffer, count: count, length: base.plaintextByteCount))
        }
    }

    /// A fault between the source and a right reader.
    static func source(
        _ name: String, _ summary: String, flag: VectorFlag, source: String, changes: Bool = true,
        _ body: @escaping ScriptedSource.Read
    ) -> Mutant {
        Mutant(name, summary, flag: flag, source: source) { backend in
            let right = ConformanceSubject(backend: backend)
            return ConformanceSubject(name: name) { (setup, source, strategy, key) throws(DecryptionError) in
                try right.open(setup, ScriptedSource(base: source, noticesChanges: changes, body: body), strategy, key)
            }
        }
    }

    /// A fault of the cipher under a right reader.
    static func backend(
        _ name: String, _ summary: String, flag: VectorFlag, source: String, _ change: @escaping FaultyBackend.Change
    ) -> Mutant {
        Mutant(name, summary, flag: flag, source: source, remembers: false) { backend in
            let right = ConformanceSubject(backend: FaultyBackend(base: backend, change: change))
            return ConformanceSubject(name: name, supports: right.supports, fits: right.fits, open: right.open)
        }
    }

    /// A fault in how a right reader's object is opened.
    static func opening(
        _ name: String, _ summary: String, flag: VectorFlag, source: String,
        _ open:
            @escaping @Sendable (
                _ right: ConformanceSubject.Open, _ setup: ReaderSetup, _ source: any ByteSource, _ strategy: Strategy,
                _ key: SecretKey
            ) throws(DecryptionError) -> any RandomAccessDecryptor
    ) -> Mutant {
        Mutant(name, summary, flag: flag, source: source) { backend in
            let right = ConformanceSubject(backend: backend).open
            return ConformanceSubject(name: name) { (setup, source, strategy, key) throws(DecryptionError) in
                try open(right, setup, source, strategy, key)
            }
        }
    }
}
