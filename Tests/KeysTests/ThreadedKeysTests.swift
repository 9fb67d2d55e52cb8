import Dispatch
import Glibc
import HLS
import Keys
import RandomAccess
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// A provider that blocks the thread that asks, until a test lets it go.
private final class BlockingKeys: KeyProvider {
    let gate = DispatchSemaphore(value: 0)
    let asked = Mutex(0)

    func key(for uri: String) throws(KeyError) -> ProvidedKey {
        asked.withLock { $0 += 1 }
        gate.wait()
        throw .refused(reason: "too late")
    }
}

@Suite("files and commands as exchanges", .timeLimit(.minutes(5)))
struct ProvidedKeysTests {
    @Test("providers that hang keep no other key from coming, and a reader that stops waiting is let go")
    func hanging() async throws {
        let folder = try TemporaryFolder()
        try folder.file("film.key", OneKey.bytes, isSecret: true)
        let blocking = BlockingKeys()
        let hung = ProvidedKeys(blocking)
        // More of them than there are threads for tasks.
        let waiting = (0..<16).map { number in
            let session = KeySession(exchange: hung, device: "d", seed: UInt64(number), clock: StillClock())
            return Task { try await session.key(for: "a") }
        }
        while blocking.asked.withLock({ $0 }) < 8 { await Task.yield() }
        let files = ProvidedKeys(FolderKeys(folder: FilePath(folder.path)))
        let session = KeySession(exchange: files, device: "d", seed: 1, clock: StillClock())
        let key = try await session.key(for: "mykey://host/film.key")
        #expect(key.withUnsafeBytes { Array($0) } == OneKey.bytes)
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: KeyFailure.abandoned) { try await task.value } }
        for _ in 0..<16 { blocking.gate.signal() }
    }

    @Test("files, folders, commands and handlers answer a session, or say why not")
    func providers() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("film.key", OneKey.bytes, isSecret: true)
        let providers: [any KeyProvider] = [
            FileKeys(path: FilePath(path)), FolderKeys(folder: FilePath(folder.path)),
            CommandKeys(command: ["sh", "-c", "cat '\(folder.path)'/\"${1##*/}\"", "sh"]),
            SchemeKeys(["mykey": FileKeys(path: FilePath(path))]),
            HandlerKeys { _ in try SecretKey(OneKey.bytes) },
        ]
        for provider in providers {
            let session = KeySession(
                exchange: ProvidedKeys(provider), device: "d", seed: 1, clock: StillClock())
            let key = try await session.key(for: "mykey://host/film.key")
            #expect(key.withUnsafeBytes { Array($0) } == OneKey.bytes)
            await session.close()
        }
        let session = KeySession(
            exchange: ProvidedKeys(SchemeKeys([:])), device: "d", seed: 1, clock: StillClock())
        let failure = await #expect(throws: KeyFailure.self) { try await session.key(for: "skd://u:p@h/k?t=1") }
        #expect("\(try #require(failure))".contains("no provider handles the scheme \"skd\""))
        #expect(!"\(try #require(failure))".contains("u:p"))
    }

    @Test("a key file that others can read is a warning, and no key if one is strict")
    func strict() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("k", OneKey.bytes, isSecret: true)
        #expect(path.withCString { chmod($0, 0o644) } == 0)
        let warnings = Warnings()
        let lenient = ProvidedKeys(FileKeys(path: FilePath(path)), warn: warnings.add)
        _ = try await KeySession(exchange: lenient, device: "d", seed: 1, clock: StillClock()).key(for: "k")
        #expect(warnings.all == [.readableByOthers(path: path, permissions: 0o644)])
        let strict = ProvidedKeys(FileKeys(path: FilePath(path)), isStrict: true)
        let session = KeySession(exchange: strict, device: "d", seed: 1, clock: StillClock())
        let failure = await #expect(throws: KeyFailure.self) { try await session.key(for: "k") }
        #expect("\(try #require(failure))".contains("permissions 644"))
        #expect(failure?.isPassing == false)
    }
}
