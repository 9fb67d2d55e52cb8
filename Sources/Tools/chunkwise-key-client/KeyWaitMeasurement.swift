import ByteSources
import Foundation
import HLS
import KeyExchanges
import Keys
import RandomAccess
import Results
import Server
import Statistics
import Synchronization
import SystemPackage

/// Measures how long a player waits from opening an encrypted playlist to its first plaintext byte.
///
/// Keys are files beside the playlist, or come from a key server of this process on loopback that holds each answer back.
/// A sample opens the playlist's file, all its segments and, where keys come from a server, a connection of its own.
struct KeyWaitMeasurement: Sendable {
    /// One way's samples.
    struct Cell {
        let way: KeyWaitsRecord.Way
        let delayMilliseconds: Int
        /// A sample of each round.
        var nanoseconds: [UInt64] = []
        /// The most requests between opening and the first byte.
        var requestCount = 0
    }

    private let folder: FilePath
    private let uris: [String]
    private let backend: any CipherBackend

    /// Encrypts a playlist with a key for each segment.
    ///
    /// - Parameters:
    ///   - folder: An empty folder.
    ///   - keyCount: How many keys there are.
    ///   - segmentByteCount: How long each segment is.
    ///   - backend: The library.
    /// - Throws: `DecryptionError` of the folder or the backend.
    init(folder: FilePath, keyCount: Int, segmentByteCount: Int, backend: any CipherBackend) throws {
        self.folder = folder
        self.backend = backend
        let options = HLSOptions(
            segmentByteCounts: [UInt64(segmentByteCount)], segmentsPerKey: 1, playlistName: "playlist.m3u8")
        let plain = [UInt8](repeating: 0x47, count: keyCount * segmentByteCount)
        try HLSEncryptor(options: options, backend: backend).run(
            MemorySource(plain), to: FolderOutput(folder: folder))
        uris = try PlaylistFile(path: folder.appending("playlist.m3u8")).playlist.keyURIs
        let expected = keyCount
        guard uris.count == expected else {
            throw DecryptionError.invalidParameter(name: "keys", value: "\(uris.count)", expected: "\(expected)")
        }
    }

    /// Measures all ways against one server, round by round, each round in another order.
    func cells(delayMilliseconds: Int, rounds: Int, seed: UInt64) async throws -> [Cell] {
        var server = KeyServer(
            provider: FolderKeys(folder: folder), clients: .everyone, audit: KeyAudit { _ in true })
        let identity = try ServerIdentity(
            SecretKey((0..<32).map { _ in UInt8.random(in: .min ... .max) }))
        server.identity = identity
        server.delay = .milliseconds(delayMilliseconds)
        (server.rate, server.burst) = (1e9, 1_000_000)
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let running = Task { [server] in
            defer { found.finish() }
            try await server.run(host: "127.0.0.1", port: 0) { found.yield($0) }
        }
        var port: Int?
        for await number in ports {
            port = number
            break
        }
        guard let port else {
            try await running.value
            throw DecryptionError.io(operation: "start a key server", code: 0, reason: "it ended at once")
        }
        defer { running.cancel() }
        let url = "http://127.0.0.1:\(port)\(KeyServer.path)"
        var generator = SplitMix64(seed: seed)
        var cells = KeyWaitsRecord.Way.allCases.map { Cell(way: $0, delayMilliseconds: delayMilliseconds) }
        // One round more, whose samples are of code that runs for the first time.
        for round in 0...rounds {
            for index in cells.indices.shuffled(using: &generator) {
                let (nanoseconds, requests) = try await sample(cells[index].way, url, identity.publicKey)
                guard round > 0 else { continue }
                cells[index].nanoseconds.append(nanoseconds)
                cells[index].requestCount = max(cells[index].requestCount, requests)
            }
        }
        return cells
    }

    private func sample(
        _ way: KeyWaitsRecord.Way, _ url: String, _ serverKey: [UInt8]
    ) async throws -> (nanoseconds: UInt64, requestCount: Int) {
        var options = KeyServerExchange.Options()
        options.serverKey = serverKey
        options.deadline = .seconds(60)
        let exchange = CountingExchange(try KeyServerExchange(url, options: options))
        let session = KeySession(
            exchange: exchange, policy: KeyPolicy(deadline: .seconds(60), maxBatchCount: 64), device: "", seed: 1,
            clock: SystemKeyClock { .zero })
        let keys = WaitingKeys(session)
        if way == .preloaded, let failure = await keys.preload(uris).values.first { throw failure }
        let before = exchange.count
        let start = ContinuousClock.now
        if way == .batched {
            // A player reads the playlist first, and then knows which keys it will need.
            let file = try PlaylistFile(path: folder.appending("playlist.m3u8"))
            if let failure = await keys.preload(file.playlist.keyURIs).values.first { throw failure }
        }
        let end = try await firstByte(way == .local ? FolderKeys(folder: folder) : keys)
        let elapsed = start.duration(to: end)
        let count = exchange.count - before
        await session.close()
        return (KeyTiming.nanoseconds(elapsed), count)
    }

    /// Opens the playlist and reads its first byte, on a thread that may wait.
    ///
    /// - Returns: When the byte was there.
    private func firstByte(_ keys: any KeyProvider) async throws -> ContinuousClock.Instant {
        let (folder, backend) = (folder, backend)
        return try await withCheckedThrowingContinuation { continuation in
            Thread {
                continuation.resume(
                    with: Result {
                        let file = try PlaylistFile(path: folder.appending("playlist.m3u8"))
                        let object = try HLSObject(
                            playlist: file.playlist, resources: file.resources, keys: KeyRing(keys), backend: backend)
                        try object.requireAll()
                        let cursor = try object.makeCursor()
                        var byte: UInt8 = 0
                        let count = try withUnsafeMutableBytes(of: &byte) { try cursor.read(at: 0, into: $0) }
                        let now = ContinuousClock.now
                        guard count == 1, byte == 0x47 else {
                            throw DecryptionError.invalidPadding
                        }
                        return now
                    })
            }.start()
        }
    }
}

/// An exchange that counts how often it is asked.
final class CountingExchange: KeyExchange {
    private let exchange: any KeyExchange
    private let asked = Mutex(0)

    init(_ exchange: any KeyExchange) {
        self.exchange = exchange
    }

    /// How often it was asked.
    var count: Int { asked.withLock { $0 } }

    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        asked.withLock { $0 += 1 }
        return try await exchange.answer(query)
    }
}
