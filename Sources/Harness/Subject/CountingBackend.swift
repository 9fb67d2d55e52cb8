import RandomAccess
import Synchronization

/// Counts the bytes that pass through another backend's contexts.
final class CountingBackend: WrappingBackend {
    let base: any CipherBackend
    private let counter: ByteCounter

    init(_ base: any CipherBackend, counter: ByteCounter) {
        self.base = base
        self.counter = counter
    }

    func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        CountingContext(try base.makeContext(cipher, direction, key: key), counter: counter)
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
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        // Whole blocks: the last counter block is used up even if only half of it is needed.
        counter.add((input.count + 15) / 16 * 16)
        return try base.process(input, into: output, nonce: nonce, associatedData: associatedData)
    }
}
