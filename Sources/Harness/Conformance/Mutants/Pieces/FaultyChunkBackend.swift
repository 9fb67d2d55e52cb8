internal import RandomAccess
import Synchronization

/// A backend over a right one, that does something of its own with each chunk that it opens.
struct FaultyChunkBackend: CipherBackend {
    /// - Parameters:
    ///   - base: Opens chunks as it should.
    ///   - chunk: Ciphertext, tag and nonce, and the space for the plaintext.
    ///   - isLast: Whether this is the first context that was made of the backend: the one that an object is opened with,
    ///     which sees nothing but the last chunk.
    typealias Change =
        @Sendable (_ base: any ChunkContext, _ chunk: Chunk, _ isLast: Bool) throws(DecryptionError) -> Bool

    /// What a context is asked to open.
    struct Chunk {
        let input: UnsafeRawBufferPointer
        let output: UnsafeMutableRawPointer
        let start: Block

        /// Opens it, perhaps with another nonce.
        func process(with base: any ChunkContext, start: Block? = nil) throws(DecryptionError) -> Bool {
            try base.process(input, into: output, start: start ?? self.start)
        }
    }

    let base: any CipherBackend
    let change: Change
    let name = "planted"
    let version = "0"
    let cpuFeatures: [String] = []
    private let contexts = Counter()

    init(base: any CipherBackend, change: @escaping Change) {
        (self.base, self.change) = (base, change)
    }

    var modes: [CipherMode] { base.modes }
    var keyByteCounts: [Int] { base.keyByteCounts }

    func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        try base.makeContext(mode: mode, direction: direction, key: key)
    }

    func makeChunkContext(
        direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any ChunkContext {
        Context(
            base: try base.makeChunkContext(direction: direction, key: key), isLast: contexts.next() == 0,
            change: change)
    }

    private final class Counter: Sendable {
        private let count = Atomic<Int>(0)

        func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
    }

    private final class Context: ChunkContext {
        let base: any ChunkContext
        let isLast: Bool
        let change: Change

        init(base: any ChunkContext, isLast: Bool, change: @escaping Change) {
            (self.base, self.isLast, self.change) = (base, isLast, change)
        }

        func process(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
        ) throws(DecryptionError) -> Bool {
            try change(base, FaultyChunkBackend.Chunk(input: input, output: output, start: start), isLast)
        }
    }
}
