internal import ByteSources
package import RandomAccess

/// Reads of one object: strategy, parameters, key and ciphertext, how opening it ends, and what is read.
///
/// A group is small: its reads are made when it is walked through.
package struct VectorGroup: Sendable {
    /// How opening the object is to end.
    package enum Opening: Hashable, Sendable {
        /// It opens, and its plaintext has this length.
        case opens(plaintextByteCount: UInt64)
        /// It does not open.
        case fails(ErrorName)
    }

    /// The group's identifier, the first part of those of its vectors.
    package private(set) var id: String
    /// Where the case is from: a document and section, or what generates it.
    package let source: String
    /// The classes of bugs that opening the object stands for.
    package let flags: [VectorFlag]
    /// The strategy with its parameters.
    package let strategy: Strategy
    /// The key.
    package let key: SecretKey
    /// The ciphertext.
    package private(set) var ciphertext: any ByteSource
    /// The plaintext that reads are compared with; empty where the object does not open.
    package let plaintext: GroupPlaintext
    /// How opening the object is to end: a vector of its own.
    package let opening: Opening
    /// The windows that a reader which has such is to use: the first for all reads, the others for some.
    package let windowByteCounts: [Int]
    /// How the source behaves while the object is read.
    package var supply = SourceSupply.any
    /// The playlist that is opened, where the strategy is `hls-aes128`; `nil` for any other.
    package internal(set) var playlist: PlaylistObject?
    /// The reads in few words, as files have them.
    package private(set) var patterns: [ReadPattern]
    /// How the ciphertext is made; `nil` where a file has to hold it.
    package let rule: CiphertextRule?
    /// Groups with the same name here are open at the same time and read in turn: the first read of each, the second of
    /// each, and so on.
    package let interleaving: String?
    /// How many threads do all the reads at once on the same object; 1 for one after the other.
    package private(set) var threadCount: Int

    /// Creates a group: of an object that opens, or of one that ends with `error` and has neither plaintext nor reads.
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

    /// The group with its first read and each so many after that.
    package func choosingEvery(_ step: Int) -> VectorGroup {
        choosing(reads.enumerated().filter { $0.offset % step == 0 }.map(\.element))
    }

    /// The group with some of its reads only.
    package func choosing(_ reads: [RangeRead]) -> VectorGroup {
        var group = self
        group.patterns = reads.map(ReadPattern.single)
        return group
    }

    /// The same group under another name.
    func renamed(_ id: String) -> VectorGroup {
        var group = self
        group.id = id
        return group
    }

    /// The same group for one thread.
    package func onOneThread() -> VectorGroup {
        var group = self
        group.threadCount = 1
        return group
    }

    /// The same group with its ciphertext in memory, if that is short: for whoever reads it often, since what is
    /// computed costs each read anew.
    package func holdingShortCiphertext() -> VectorGroup {
        guard ciphertext.byteCount <= Self.maxHeldByteCount, !(ciphertext is MemorySource),
            let bytes = try? ciphertext.bytes()
        else { return self }
        var group = self
        group.ciphertext = MemorySource(bytes)
        return group
    }

    private static let maxHeldByteCount: UInt64 = 1 << 16

    /// The same group over a source that behaves like this.
    func supplied(_ supply: SourceSupply) -> VectorGroup {
        var group = self
        group.supply = supply
        return group
    }

    /// The reads, in order.
    package var reads: [RangeRead] { patterns.flatMap { $0.reads(of: plaintext.byteCount) } }

    /// The number of reads.
    package var readCount: Int { patterns.reduce(0) { $0 + $1.readCount(of: plaintext.byteCount) } }

    /// The number of vectors: the opening, and each read.
    package var vectorCount: Int { 1 + readCount }

    /// The identifier of the vector that opens the object.
    package var openingID: String { "\(id) open" }

    /// The identifier of a read.
    package func id(of read: RangeRead) -> String {
        let range = "\(id) \(read.offset)+\(read.count)"
        return read.label.map { "\(range) (\($0))" } ?? range
    }
}

extension Sequence<VectorGroup> {
    /// The groups that vectors with these identifiers, or groups with these names, belong to; with those that are open
    /// at the same time.
    package func having(_ ids: [String]) -> [VectorGroup] {
        let chosen = filter { group in ids.contains { $0 == group.id || $0.hasPrefix(group.id + " ") } }
        let names = Set(chosen.map(\.id))
        let together = Set(chosen.compactMap(\.interleaving))
        return filter { names.contains($0.id) || $0.interleaving.map(together.contains) ?? false }
    }
}

/// How the source of a group's object behaves while it is read.
package enum SourceSupply: String, CaseIterable, Hashable, Sendable {
    /// Any: it must not matter.
    case any
    /// It delivers what is asked for, and every fetch is judged.
    case whole
    /// It delivers a few bytes at a time.
    case shortReads
    /// Before each read it fails once: at the first byte, in the middle, at the last byte. The failure is judged.
    case failing
    /// The same, for a source that ends there.
    case endingEarly
    /// The same failures, which are not judged; the read after them is.
    case recovering
    /// Before each read its length is another one for a while.
    case changing
}
