import Keys
import RandomAccess
import Testing

/// Plaintext of 0xAB, during whose reading the clock goes on.
private final class SlowReader: RandomAccessDecryptor {
    let plaintextByteCount: UInt64 = 1 << 21
    private let clock: ManualClock
    private(set) var pieces = 0

    init(clock: ManualClock) {
        self.clock = clock
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let count = Int(min(UInt64(buffer.count), plaintextByteCount - offset))
        for index in 0..<count { buffer[index] = 0xAB }
        clock.advance(by: .seconds(1))
        pieces += 1
        return count
    }
}

@Suite("reads that a key's end ends")
struct LeasedReaderTests {
    @Test("expiry in the middle of a read fails it, leaves no byte, and nothing is read after it")
    func expiry() async throws {
        let clock = ManualClock()
        let session = KeySession(
            exchange: ScriptedExchange(terms: .online(validity: .milliseconds(2500))), device: "d", seed: 1,
            clock: clock)
        _ = try await session.key(for: "https://u:p@h/k?t=1")
        let lease = try await session.beginRead(with: "https://u:p@h/k?t=1")
        let slow = SlowReader(clock: clock)
        let reader = LeasedReader(slow, lease: lease)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        for index in buffer.indices { buffer[index] = 0 }
        #expect(throws: DecryptionError.keyUnavailable(uri: "https://h/k?…", reason: "\(KeyFailure.validityExpired)")) {
            try reader.read(at: 0, into: buffer)
        }
        #expect(!buffer.contains(0xAB))
        #expect(slow.pieces == 3)
        #expect(throws: DecryptionError.self) { try reader.read(at: 0, into: buffer) }
        #expect(slow.pieces == 3)
    }

    @Test("while the lease lasts, reads are those of the reader", arguments: [0, 1, 300_000, 1 << 20])
    func reads(_ count: Int) async throws {
        let clock = ManualClock()
        let session = KeySession(exchange: ScriptedExchange(), device: "d", seed: 1, clock: clock)
        _ = try await session.key(for: "a")
        let reader = LeasedReader(SlowReader(clock: clock), lease: try await session.beginRead(with: "a"))
        #expect(try reader.read(at: 7, count: count) == [UInt8](repeating: 0xAB, count: count))
        #expect(try reader.read(at: reader.plaintextByteCount - 5, count: 9).count == 5)
    }
}
