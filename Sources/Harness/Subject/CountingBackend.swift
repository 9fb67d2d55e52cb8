import RandomAccess
import Synchronization

/// Counts the bytes that go through another backend's contexts.
final class CountingBackend: CipherBackend {
    private let base: any CipherBackend
    private let counter: ByteCounter

    init(_ base: any CipherBackend, counter: ByteCounter) {
        self.base = base
        self.counter = counter
    }

    var name: String { base.name }
    var version: String { base.version }
    var keyByteCounts: [Int] { base.keyByteCounts }
    var modes: [CipherMode] { base.modes }
    var cpuFeatures: [String] { base.cpuFeatures }

    func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        CountingContext(try base.makeContext(mode: mode, direction: direction, key: key), counter: counter)
    }

    func makeChunkContext(
        direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any ChunkContext {
        CountingChunkContext(try base.makeChunkContext(direction: direction, key: key), counter: counter)
    }
}

/// A sum that several threads add to.
final class ByteCounter: Sendable {
    private let sum = Atomic<UInt64>(0)

    var value: UInt64 { sum.load(ordering: .relaxed) }

    func add(_ count: Int) {
        sum.wrappingAdd(UInt64(count), ordering: .relaxed)
    }

    func reset() {
        sum.store(0, ordering: .relaxed)
    }
}

private final class CountingContext: CipherContext {
    private let base: any CipherContext
    private let counter: ByteCounter

    init(_ base: any CipherContext, counter: ByteCounter) {
        self.base = base
        self.counter = counter
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        // Whole blocks: a last counter block is used up even if half of it is needed.
        counter.add((input.count + 15) / 16 * 16)
        try base.process(input, into: output, iv: iv)
    }
}

private final class CountingChunkContext: ChunkContext {
    private let base: any ChunkContext
    private let counter: ByteCounter

    init(_ base: any ChunkContext, counter: ByteCounter) {
        self.base = base
        self.counter = counter
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
    ) throws(DecryptionError) -> Bool {
        counter.add((input.count + 15) / 16 * 16)
        return try base.process(input, into: output, start: start)
    }
}
