import Keys
import RandomAccess
import SwiftAESBackend
import Testing

private func bytes(_ key: SecretKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }

private func repeated(_ letter: Character) -> [UInt8] {
    [UInt8](repeating: letter.asciiValue ?? 0, count: 16)
}

@Suite("key sessions")
struct KeySessionTests {
    private let clock = ManualClock()
    private let storage = MemoryKeys()
    private let rental = KeyTerms.persistable(storage: .seconds(30 * 86_400), playback: .seconds(86_400))

    private func storage(_ letter: Character = "S") throws -> SealedKeyStore {
        SealedKeyStore(
            storage: storage, sealer: try GCMSealer(backend: SwiftBitsliced(), key: SecretKey(repeated(letter))))
    }

    @Test("readers that want one key at a time cause one question")
    func coalesced() async throws {
        let exchange = ScriptedExchange(isHolding: true)
        let session = KeySession(exchange: exchange, device: "d", seed: 1, clock: clock)
        async let first = session.key(for: "a")
        await exchange.wait(for: 1)
        async let second = session.key(for: "a")
        for _ in 0..<100 { await Task.yield() }
        exchange.release()
        let (one, two) = (try await first, try await second)
        #expect(bytes(one) == repeated("a"))
        #expect(bytes(two) == repeated("a"))
        #expect(exchange.queries.count == 1)
    }

    @Test("a batch is one question, and a preloaded key none")
    func batch() async throws {
        let exchange = ScriptedExchange()
        let session = KeySession(exchange: exchange, device: "d", seed: 1, clock: clock)
        let keys = await session.keys(for: ["a", "b", "a"])
        let second = try #require(keys["b"]).get()
        #expect(bytes(second) == repeated("b"))
        #expect(exchange.queries.map(\.identifiers) == [["a", "b"]])
        await session.preload(["c"])
        await exchange.wait(for: 2)
        _ = try await session.key(for: "c")
        #expect(exchange.queries.count == 2)
    }

    @Test("a provider that does not answer ends in a named error, however often it is asked")
    func silence() async throws {
        let exchange = ScriptedExchange(isHolding: true)
        let session = KeySession(
            exchange: exchange, policy: KeyPolicy(deadline: .seconds(1), attempts: 2, firstPause: .zero),
            device: "d", seed: 1, clock: clock)
        let task = Task { try await session.key(for: "a") }
        await exchange.wait(for: 1)
        clock.advance(by: .seconds(1))
        await exchange.wait(for: 2)
        clock.advance(by: .seconds(1))
        await #expect(throws: KeyFailure.gaveUp(attempts: 2, last: .timedOut(after: .seconds(1)))) {
            try await task.value
        }
        exchange.release()
    }

    @Test("a stored key serves the next session without a question, and the updated one takes its place")
    func stored() async throws {
        let exchange = ScriptedExchange(terms: rental)
        let session = KeySession(exchange: exchange, device: "d", seed: 1, clock: clock, storage: try storage())
        await session.persist(["a"])
        _ = try await session.key(for: "a")
        #expect(storage.generations("a") == [1])
        let second = KeySession(exchange: exchange, device: "d", seed: 2, clock: clock, storage: try storage())
        let key = try await second.key(for: "a")
        #expect(bytes(key) == repeated("a"))
        let lease = try await second.beginRead(with: "a")
        #expect(storage.generations("a") == [2])
        await second.endRead(lease)
        #expect(exchange.queries.count == 1)
    }

    @Test("a key that cannot be stored again is not erased")
    func full() async throws {
        let session = KeySession(
            exchange: ScriptedExchange(terms: rental), device: "d", seed: 1, clock: clock, storage: try storage())
        await session.persist(["a"])
        _ = try await session.key(for: "a")
        storage.state.withLock { $0.isFull = true }
        // Whatever is asked how often: after a new start, the clock would begin again.
        for _ in 0..<2 {
            await #expect(throws: KeyFailure.notStored) { try await session.beginRead(with: "a") }
        }
        #expect(storage.generations("a") == [1])
        let failures = await session.notices.filter { if case .storageFailed("a", _) = $0 { true } else { false } }
        #expect(!failures.isEmpty)
        storage.state.withLock { $0.isFull = false }
        _ = try await session.beginRead(with: "a")
        #expect(storage.generations("a").contains(2))
    }

    @Test("what is stored for another device, or by another sealing key, is never written over nor erased")
    func othersKeys() async throws {
        let owner = KeySession(
            exchange: ScriptedExchange(terms: rental), device: "d", seed: 1, clock: clock, storage: try storage())
        await owner.persist(["a"])
        _ = try await owner.key(for: "a")
        let before = storage.state.withLock { $0.records }
        for (device, letter) in [("e", "S"), ("d", "T")] as [(String, Character)] {
            let other = KeySession(
                exchange: ScriptedExchange(terms: rental), device: device, seed: 2, clock: clock,
                storage: try storage(letter))
            await other.persist(["a"])
            _ = try await other.key(for: "a")
            await #expect(throws: KeyFailure.notStored) { try await other.beginRead(with: "a") }
        }
        #expect(storage.state.withLock { $0.records } == before)
        let again = KeySession(
            exchange: ScriptedExchange(), device: "d", seed: 3, clock: clock, storage: try storage())
        _ = try await again.beginRead(with: "a")
    }

    @Test("another device, another sealing key and a changed byte are refused; an online key is asked for")
    func elsewhere() async throws {
        let exchange = ScriptedExchange(terms: rental)
        let session = KeySession(exchange: exchange, device: "d", seed: 1, clock: clock, storage: try storage())
        await session.persist(["a"])
        _ = try await session.key(for: "a")
        for (device, letter, failure) in [("e", "S", KeyFailure.otherDevice), ("d", "T", .unopenable)] {
            let other = KeySession(
                exchange: ScriptedExchange(), device: device, seed: 1, clock: clock,
                storage: try storage(Character(letter)))
            let key = try await other.key(for: "a")
            #expect(bytes(key) == repeated("a"))
            let notices = await other.notices
            #expect(notices == [.storedUnusable(identifier: "a", failure)])
            #expect("\(failure)".contains("ask for an online key"))
        }
    }

    @Test("without a network, a stored key that is of no use is refused at once by its own name")
    func elsewhereOffline() async throws {
        let session = KeySession(
            exchange: ScriptedExchange(terms: rental), device: "d", seed: 1, clock: clock, storage: try storage())
        await session.persist(["a"])
        _ = try await session.key(for: "a")
        for (device, letter, failure) in [("e", "S", KeyFailure.otherDevice), ("d", "T", .unopenable)] {
            let exchange = ScriptedExchange()
            let other = KeySession(
                exchange: exchange, device: device, seed: 1, clock: clock, storage: try storage(Character(letter)))
            await other.setNetwork(isThere: false)
            // The clock stands still: what waited for the network's idle timeout would wait for ever.
            await #expect(throws: failure) { try await other.key(for: "a") }
            await other.setNetwork(isThere: true)
            let key = try await other.key(for: "a")
            #expect(bytes(key) == repeated("a") && exchange.queries.count == 1)
        }
    }

    @Test("each byte of a sealed key counts, and none of the key's is in it")
    func sealed() throws {
        let sealer = try GCMSealer(backend: SwiftBitsliced(), key: SecretKey(repeated("S")))
        let secret = Array(UInt8(1)...48)
        let sealed = try secret.withUnsafeBytes { try sealer.seal($0) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: sealed.count, alignment: 16)
        defer { buffer.deallocate() }
        #expect(try sealer.open(sealed, into: buffer) == 48)
        #expect(Array(buffer[..<48]) == secret)
        #expect(try secret.withUnsafeBytes { try sealer.seal($0) } != sealed)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: DecryptionError.self) { try sealer.open(changed, into: buffer) }
        }
        for count in 0..<sealed.count {
            #expect(throws: DecryptionError.self) { try sealer.open(Array(sealed[..<count]), into: buffer) }
        }
    }

    @Test("a closed session has no keys and refuses")
    func closed() async throws {
        let session = KeySession(exchange: ScriptedExchange(), device: "d", seed: 1, clock: clock)
        _ = try await session.key(for: "a")
        await session.close()
        await #expect(throws: KeyFailure.closed) { try await session.key(for: "a") }
        await #expect(throws: KeyFailure.closed) { try await session.beginRead(with: "a") }
    }

    @Test("a reader that is cancelled is let go")
    func cancelled() async throws {
        let exchange = ScriptedExchange(isHolding: true)
        let session = KeySession(exchange: exchange, device: "d", seed: 1, clock: clock)
        let task = Task { try await session.key(for: "a") }
        await exchange.wait(for: 1)
        task.cancel()
        await #expect(throws: KeyFailure.abandoned) { try await task.value }
        exchange.release()
    }
}
