import ByteSources
import Foundation
import HLS
import KeyExchanges
import Keys
import OpenSSLBackend
import RandomAccess
import SystemPackage
import TestSupport
import Testing

/// Playlists whose keys come from a key server.
@Suite("playlists with a key server", .serialized)
struct KeyServerPlaylistTests {
    private static let plaintext = Samples.bytes(100_000, seed: 31)

    /// A playlist of ten segments with five keys, and a server that has them.
    private static func serve(_ options: [String] = []) throws -> KeyServerProcess {
        let folder = try TemporaryFolder()
        let encryptor = try HLSEncryptor(
            options: HLSOptions(segmentByteCounts: [10_000], segmentsPerKey: 2, keyURIPrefix: "mykey://film/"),
            backend: OpenSSL())
        try encryptor.run(MemorySource(plaintext), to: FolderOutput(folder: FilePath(folder.path("film"))))
        try FileManager.default.createDirectory(atPath: folder.path("keys"), withIntermediateDirectories: true)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("film"))
        for name in names where name.hasSuffix(".key") {
            try FileManager.default.moveItem(atPath: folder.path("film/\(name)"), toPath: folder.path("keys/\(name)"))
        }
        let server = try KeyServerProcess(options, folder: folder)
        try folder.file("token", Array(server.token.utf8))
        return server
    }

    @Test("preloaded keys need no request between opening and the first byte, and a batch needs one")
    func requests() async throws {
        let server = try Self.serve()
        let path = FilePath(server.folder.path("film/playlist.m3u8"))
        let uris = try PlaylistFile(path: path).playlist.keyURIs
        #expect(uris.count == 5)
        func requests() -> Set<Substring> { Self.requests(server) }
        func open(_ keys: WaitingKeys) async throws -> UInt8 {
            let first = try await onThread {
                let file = try PlaylistFile(path: path)
                let object = try HLSObject(
                    playlist: file.playlist, resources: file.resources, keys: KeyRing(keys),
                    backend: OpenSSL())
                try object.requireAll()
                return try object.makeCursor().read(at: 0, count: 1)
            }
            return try #require(first.first)
        }
        let preloaded = WaitingKeys(try Self.session(server))
        #expect(await preloaded.preload(uris + ["none"]) == ["none": .missing])
        #expect(requests().count == 1, "a batch")
        #expect(try await open(preloaded) == Self.plaintext[0])
        #expect(requests().count == 1, "a key was asked for after opening")
        // The session has them as well.
        let session = try Self.session(server)
        await session.preload(uris)
        for result in await session.keys(for: uris).values { _ = try result.get() }
        #expect(requests().count == 2)
        #expect(try await open(WaitingKeys(session)) == Self.plaintext[0])
        #expect(requests().count == 2, "a key was asked for after opening")
        #expect(try await open(WaitingKeys(try Self.session(server))) == Self.plaintext[0])
        #expect(requests().count == 2 + 5)
    }

    /// Lines of the audit by their requests: what went over the network, as the server saw it.
    private static func requests(_ server: KeyServerProcess) -> Set<Substring> {
        Set(server.audit.split(separator: "\n").compactMap { $0.split(separator: "\"request\":").last?.prefix(34) })
    }

    private static func session(_ server: KeyServerProcess) throws -> KeySession {
        KeySession(
            exchange: try server.exchange(),
            policy: KeyPolicy(deadline: .seconds(86_400), idleTimeout: .seconds(86_400)),
            device: "", seed: 1, clock: SystemKeyClock())
    }

    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result(catching: body)) }.start()
        }
    }

    private static func decrypt(_ server: KeyServerProcess, _ options: [String]) throws -> CommandRun {
        try CommandRun.run(
            Programs.chunkwise, ["decrypt", "--strategy", "hls-aes128"] + options + ["film/playlist.m3u8", "-"],
            in: server.folder.path)
    }

    @Test("decrypt asks a key server")
    func decrypt() throws {
        let server = try Self.serve()
        let run = try Self.decrypt(server, ["--key-server", server.url, "--key-server-token", "token"])
        #expect(run.status == 0 && run.output == Self.plaintext, "\(run.errorLines)")
        #expect(Self.requests(server).count == 1, "all keys come with the first")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: server.folder.path("token"))
        let strict = try Self.decrypt(
            server, ["--key-server", server.url, "--key-server-token", "token", "--strict"])
        #expect(strict.status == 65 && strict.output.isEmpty, "\(strict.errorLines)")
        #expect(strict.errorLines.last?.contains("token file token is open to others") == true)
        // There is no server: that is found out once for all keys, and no key is missing.
        let nowhere = try Self.decrypt(server, ["--key-server", "http://127.0.0.1:1/"])
        #expect(nowhere.status == 74 && nowhere.output.isEmpty, "\(nowhere.errorLines)")
        #expect(nowhere.errorLines.count { $0.contains("gave up") } == 1, "\(nowhere.errorLines)")
        let refused = try Self.decrypt(server, ["--key-server", server.url])
        #expect(refused.status == 66 && refused.output.isEmpty)
        #expect(refused.errorLines.contains { $0.contains("401") }, "\(refused.errorLines)")
    }

    @Test(
        "options that cannot be are refused, and show no password",
        arguments: [
            ["--key-server", "https://user:hunter2@keys.example/"], ["--key-server-token", "token"],
            ["--key-server", "hunter2"], ["--key-server", "http://127.0.0.1/", "--keys", "keys"],
        ])
    func badOptions(_ options: [String]) throws {
        let server = try Self.serve()
        let run = try Self.decrypt(server, options)
        #expect(run.status == 64, "\(run.status)")
        #expect(!run.errorLines.joined().contains("hunter2"), "\(run.errorLines)")
    }
}
