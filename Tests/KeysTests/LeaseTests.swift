import ByteSources
import Dispatch
import Glibc
import HLS
import Keys
import OpenSSLBackend
import RandomAccess
import Synchronization
import TestSupport
import Testing

/// A clock that a test sets; it never wakes a session, so that it is the reader who must look at it.
private final class SetClock: KeyClock {
    let time = Mutex(Duration.zero)

    func now() -> ClockSample {
        let time = time.withLock { $0 }
        return ClockSample(monotonic: time, wall: .seconds(1_700_000_000) + time)
    }

    func sleep(until monotonic: Duration) async throws { try await Task.sleep(for: .seconds(1 << 30)) }
}

/// A source whose reads take a second each, by the test's clock.
private struct SlowSource: ByteSource {
    let base: MemorySource
    let clock: SetClock

    var byteCount: UInt64 { base.byteCount }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        clock.time.withLock { $0 += .seconds(1) }
        return try base.read(at: offset, into: buffers)
    }
}

private struct SlowResources: SegmentResources {
    let resources: [String: [UInt8]]
    let clock: SetClock

    func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        SlowSource(base: MemorySource(resources[uri] ?? []), clock: clock)
    }
}

/// A gate where threads wait while a test keeps it closed.
private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let state = Mutex((isClosed: false, waiting: 0))

    var waitingCount: Int { state.withLock { $0.waiting } }

    func wait() {
        let isClosed = state.withLock { state in
            if state.isClosed { state.waiting += 1 }
            return state.isClosed
        }
        if isClosed { semaphore.wait() }
    }

    func close() { state.withLock { $0.isClosed = true } }

    func open() {
        let waiting = state.withLock { state in
            state.isClosed = false
            return state.waiting
        }
        for _ in 0..<waiting { semaphore.signal() }
    }
}

private final class Opened: Sendable {
    let count = Mutex(0)
}

/// Resources that are opened and read while gates are open.
private struct HeldResources: SegmentResources {
    let resources: [String: [UInt8]]
    let opening: Gate
    let reading: Gate

    func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        opening.wait()
        return Source(base: MemorySource(resources[uri] ?? []), reading: reading)
    }

    private struct Source: WrappingSource {
        let base: any ByteSource
        let reading: Gate

        func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
            reading.wait()
            return try base.read(at: offset, into: buffers)
        }
    }
}

/// Keys by the number in their names; each is good for a time of its own.
private struct NumberedKeys: KeyExchange {
    let validity: @Sendable (String) -> Duration?

    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        query.identifiers.map { identifier in
            guard let number = Int(identifier.filter(\.isNumber)), let key = try? testKey(number) else {
                return ExchangedKey(identifier, failure: .missing)
            }
            return ExchangedKey(identifier, key: key, terms: .online(validity: validity(identifier)))
        }
    }
}

@Suite("playlists whose keys expire")
struct LeasedObjectTests {
    private let plain = Samples.bytes(3 * 64 * 1024)
    private let clock = SetClock()

    /// Three segments of 64 KiB, each with a key of its own.
    private func resources() throws -> [String: [UInt8]] {
        var resources: [String: [UInt8]] = [:]
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n"
        for index in 0..<3 {
            let part = Array(plain[index * 65_536..<(index + 1) * 65_536])
            resources["\(index).ts"] = try encryptedSegment(part, key: index + 1, iv: UInt128(index + 9))
            let iv = String(repeating: "0", count: 31) + String(index + 9, radix: 16)
            text += "#EXT-X-KEY:METHOD=AES-128,URI=\"key\(index + 1)\",IV=0x\(iv)\n#EXTINF:6,\n\(index).ts\n"
        }
        resources["playlist.m3u8"] = Array((text + "#EXT-X-ENDLIST\n").utf8)
        return resources
    }

    private func open(_ session: KeySession) async throws -> HLSObject {
        let resources = try resources()
        let playlist = try mediaPlaylist(String(decoding: resources["playlist.m3u8"] ?? [], as: UTF8.self))
        return try await HLSObject.open(
            playlist, resources: SlowResources(resources: resources, clock: clock), session: session,
            backend: OpenSSL())
    }

    @Test("while all keys last, reads deliver what was encrypted")
    func lasting() async throws {
        let session = KeySession(exchange: NumberedKeys { _ in nil }, device: "d", seed: 1, clock: clock)
        let object = try await open(session)
        #expect(object.problems.isEmpty)
        #expect(object.keyURIs(in: 65_000..<66_000) == ["key1", "key2"])
        for (offset, count) in [(0, plain.count), (65_000, 2000), (131_071, 2), (plain.count - 5, 99)] {
            let end = min(offset + count, plain.count)
            let bytes = try await object.read(at: UInt64(offset), count: count, session: session, windowByteCount: 4096)
            #expect(Samples.difference(bytes, Array(plain[offset..<end])) == nil)
        }
    }

    @Test(
        "a key that expires between two windows of a read fails the read, and no byte of it is delivered",
        arguments: [4096, 16_384, 65_536])
    func expiring(_ window: Int) async throws {
        // Opening takes some seconds, and each window of a read at least one.
        let session = KeySession(
            exchange: NumberedKeys { $0 == "key2" ? .seconds(22) : nil }, device: "d", seed: 1, clock: clock)
        let object = try await open(session)
        clock.time.withLock { $0 = .seconds(20) }
        let lease1 = try await session.beginRead(with: "key1")
        let lease2 = try await session.beginRead(with: "key2")
        let reader = try object.makeCursor(
            windowByteCount: window, leases: ["key1": lease1, "key2": lease2])
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 16)
        defer { buffer.deallocate() }
        for index in buffer.indices { buffer[index] = 0 }
        let error = #expect(throws: DecryptionError.self) { try reader.read(at: 0, into: buffer) }
        #expect("\(try #require(error))".contains("no key for key2: \(KeyFailure.validityExpired)"))
        #expect(buffer.allSatisfy { $0 == 0 })
        // The other key goes on; the expired one does not come back.
        #expect(try reader.read(at: 0, count: 1000) == Array(plain[..<1000]))
        #expect(throws: DecryptionError.self) { try reader.read(at: 65_536, count: 1) }
        // A segment without a lease.
        let missing = #expect(throws: DecryptionError.self) { try reader.read(at: 131_072, count: 1) }
        #expect("\(try #require(missing))".contains("there is no lease"))
    }

    @Test("a key that expires after its segment was read, and before the read ends, fails the read as well")
    func early() async throws {
        let session = KeySession(
            exchange: NumberedKeys { $0 == "key1" ? .seconds(22) : nil }, device: "d", seed: 1, clock: clock)
        let object = try await open(session)
        clock.time.withLock { $0 = .seconds(20) }
        var leases: [String: KeyLease] = [:]
        for uri in ["key1", "key2", "key3"] { leases[uri] = try await session.beginRead(with: uri) }
        let reader = try object.makeCursor(leases: leases)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: plain.count, alignment: 16)
        defer { buffer.deallocate() }
        for index in buffer.indices { buffer[index] = 0 }
        let error = #expect(throws: DecryptionError.self) { try reader.read(at: 0, into: buffer) }
        #expect("\(try #require(error))".contains("no key for key1: \(KeyFailure.validityExpired)"))
        #expect(buffer.allSatisfy { $0 == 0 })
    }

    @Test("a session that is closed, or whose route changes, ends a read as well")
    func closed() async throws {
        let session = KeySession(exchange: NumberedKeys { _ in nil }, device: "d", seed: 1, clock: clock)
        let object = try await open(session)
        let lease = try await session.beginRead(with: "key1")
        let reader = try object.makeCursor(leases: ["key1": lease])
        #expect(try reader.read(at: 7, count: 5) == Array(plain[7..<12]))
        await session.changeRoute(to: KeyRoute("tv", acceptsPersistable: false))
        let error = #expect(throws: DecryptionError.self) { try reader.read(at: 7, count: 5) }
        #expect("\(try #require(error))".contains("\(KeyFailure.routeChanged)"))
        await session.close()
        await #expect(throws: DecryptionError.self) { try await object.read(at: 0, count: 5, session: session) }
    }

    /// Waits until something is so, or for long enough that it never will be.
    private static func wait(until isSo: () -> Bool) async throws {
        for _ in 0..<60_000 where !isSo() { try await Task.sleep(for: .milliseconds(10)) }
        #expect(isSo())
    }

    /// Without threads of their own, what waits holds all threads that tasks have, and the task that lets it go never
    /// runs.
    @Test(
        "keys, resources and reads that are waited for leave the threads of tasks alone",
        arguments: ["keys", "resources", "reads"])
    func waiting(for place: String) async throws {
        let count = 4 * sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let gates = ["keys": Gate(), "resources": Gate(), "reads": Gate()]
        let gate = try #require(gates[place])
        if place != "reads" { gate.close() }
        let resources = HeldResources(
            resources: try resources(), opening: gates["resources"]!, reading: gates["reads"]!)
        let playlist = try mediaPlaylist(String(decoding: resources.resources["playlist.m3u8"] ?? [], as: UTF8.self))
        let keys = HandlerKeys { uri in
            gates["keys"]!.wait()
            return try testKey(Int(uri.filter(\.isNumber)) ?? 0)
        }
        let opened = Opened()
        let texts = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<count {
                group.addTask {
                    // No time limit that a busy machine could reach.
                    let day = Duration.seconds(86_400)
                    let session = KeySession(
                        exchange: ProvidedKeys(keys), policy: KeyPolicy(deadline: day, idleTimeout: day), device: "d",
                        seed: 1, clock: SystemKeyClock())
                    let object = try await HLSObject.open(
                        playlist, resources: resources, session: session, backend: OpenSSL())
                    opened.count.withLock { $0 += 1 }
                    if place == "reads" { try await Self.wait { opened.count.withLock { $0 > count } } }
                    return try await object.read(at: 65_530, count: 10, session: session)
                }
            }
            if place == "reads" {
                try await Self.wait { opened.count.withLock { $0 == count } }
                gate.close()
                opened.count.withLock { $0 += 1 }
            }
            try await Self.wait { gate.waitingCount >= count }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts == Array(repeating: Array(plain[65_530..<65_540]), count: count))
    }

    @Test("what a session refuses is among the object's problems, with its reason")
    func refused() async throws {
        let session = KeySession(exchange: NumberedKeys { _ in nil }, device: "d", seed: 1, clock: clock)
        await session.close()
        let object = try await open(session)
        #expect(object.problems.count == 3)
        #expect(object.problems.allSatisfy { "\($0.error)".contains("\(KeyFailure.closed)") })
    }
}

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

    func checkVersion() {}
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
