internal import ByteSources
package import RandomAccess

/// Reads of one object: its strategy, parameters, key and ciphertext, the expected outcome of opening it, and the
/// reads.
///
/// A group takes little memory: its reads are computed on demand.
package struct VectorGroup: Sendable {
    /// The expected outcome of opening an object.
    package enum Opening: Hashable, Sendable {
        /// It opens, and its plaintext has this length.
        case opens(plaintextByteCount: UInt64)
        /// It does not open.
        case fails(ErrorName)
    }

    /// The group's identifier, with which the identifiers of its vectors begin.
    package private(set) var id: String
    /// The origin of the case: a document and section, or its generator.
    package let source: String
    /// The classes of bugs that opening the object stands for.
    package let flags: [VectorFlag]
    /// The strategy with its parameters.
    package let strategy: Strategy
    /// The key.
    package let key: SecretKey
    /// The ciphertext.
    package private(set) var ciphertext: any ByteSource
    /// The plaintext with which reads are compared; empty if the object does not open.
    package let plaintext: GroupPlaintext
    /// The expected outcome of opening the object: a vector of its own.
    package let opening: Opening
    /// The windows for readers that have windows: the first for all reads, the others for some.
    package let windowByteCounts: [Int]
    /// The behaviour of the source while the object is read.
    package var supply = SourceSupply.any
    /// The playlist or the film, of which `strategy` says nothing; `nil` for an object that it describes.
    package internal(set) var list: ListObject?
    /// The reads in the compact form of files.
    package private(set) var patterns: [ReadPattern]
    /// The rule that generates the ciphertext; `nil` if a file must hold it.
    package let rule: CiphertextRule?
    /// A name that groups share if they are open at the same time and read in turn: the first read of each, the second
    /// of each, and so on.
    package let interleaving: String?
    /// The number of threads that all do the reads on the same object at once; 1 for sequential reads.
    package private(set) var threadCount: Int

    /// A group of an object that opens; or of one that fails to open with `error`, and has neither plaintext nor reads.
    package init(
        id: String, source: String = "generated", flags: [VectorFlag], strategy: Strategy, key: SecretKey,
        ciphertext: any ByteSource, plaintext: GroupPlaintext = GroupPlaintext([]), error: ErrorName? = nil,
        windowByteCounts: [Int] = [.max], rule: CiphertextRule? = nil, interleaving: String? = nil,
        threadCount: Int = 1, patterns: [ReadPattern] = []
    ) {
        self.id = id
        self.source = source
        self.flags = flags
        self.strategy = strategy
        self.key = key
        self.ciphertext = ciphertext
        self.plaintext = plaintext
        self.opening = error.map(Opening.fails) ?? .opens(plaintextByteCount: plaintext.byteCount)
        self.windowByteCounts = windowByteCounts
        self.patterns = patterns
        self.rule = rule
        self.interleaving = interleaving
        self.threadCount = threadCount
    }

    /// Returns the group with every `step`th read, from the first on.
    package func choosingEvery(_ step: Int) -> VectorGroup {
        choosing(reads.enumerated().filter { $0.offset % step == 0 }.map(\.element))
    }

    /// Returns the group with only some of its reads.
    package func choosing(_ reads: [RangeRead]) -> VectorGroup {
        var group = self
        group.patterns = reads.map(ReadPattern.single)
        return group
    }

    /// Returns the same group under another name.
    func renamed(_ id: String) -> VectorGroup {
        var group = self
        group.id = id
        return group
    }

    /// Returns the same group for one thread.
    package func onOneThread() -> VectorGroup {
        var group = self
        group.threadCount = 1
        return group
    }

    /// Returns the same group with its ciphertext in memory if it is short. This is faster for frequent reads, since a
    /// computed ciphertext is computed anew for each read.
    package func holdingShortCiphertext() -> VectorGroup {
        guard ciphertext.byteCount <= Self.maxHeldByteCount, !(ciphertext is MemorySource),
            let bytes = try? ciphertext.bytes()
        else { return self }
        var group = self
        group.ciphertext = MemorySource(bytes)
        return group
    }

    private static let maxHeldByteCount: UInt64 = 1 << 16

    /// Returns the same group with a source of this behaviour.
    func supplied(_ supply: SourceSupply) -> VectorGroup {
        var group = self
        group.supply = supply
        return group
    }

    /// The reads, in order.
    package var reads: [RangeRead] { patterns.flatMap { $0.reads(of: plaintext.byteCount) } }

    /// True if the object opens.
    package var opens: Bool { if case .opens = opening { true } else { false } }

    /// The number of reads.
    package var readCount: Int { patterns.reduce(0) { $0 + $1.readCount(of: plaintext.byteCount) } }

    /// The number of vectors: the opening, and each read.
    package var vectorCount: Int { 1 + readCount }

    /// The identifier of the vector that opens the object.
    package var openingID: String { "\(id) open" }

    /// Returns the identifier of a read.
    package func id(of read: RangeRead) -> String {
        let range = "\(id) \(read.offset)+\(read.count)"
        return read.label.map { "\(range) (\($0))" } ?? range
    }
}

extension Sequence<VectorGroup> {
    /// Returns the groups that some words choose, each with the groups that are open at the same time. A word is the
    /// identifier of a vector or group, or its beginning up to a `/`; or a strategy's name, or that of a description
    /// whose variants are named after it.
    package func having(_ words: [String]) -> [VectorGroup] {
        let strategies = Set(map(\.strategyName))
        let chosen = filter { group in
            words.contains { word in
                word == group.id || word.hasPrefix(group.id + " ") || group.id.hasPrefix(word + "/")
                    || word == group.strategyName
                    || !strategies.contains(word) && group.strategyName.hasPrefix(word + "-")
            }
        }
        let names = Set(chosen.map(\.id))
        let together = Set(chosen.compactMap(\.interleaving))
        return filter { names.contains($0.id) || $0.interleaving.map(together.contains) ?? false }
    }
}

/// The behaviour of the source while a group's object is read.
package enum SourceSupply: String, CaseIterable, Hashable, Sendable {
    /// Any behaviour: it must not matter.
    case any
    /// It delivers all bytes that are asked for, and every fetch is judged.
    case whole
    /// It delivers a few bytes at a time.
    case shortReads
    /// It fails once before each read: at the first byte, in the middle, or at the last byte. The failure is judged.
    case failing
    /// It ends at these points instead of failing.
    case endingEarly
    /// It fails as above, but only the read after the failure is judged.
    case recovering
    /// Its length changes for a while before each read.
    case changing
}
