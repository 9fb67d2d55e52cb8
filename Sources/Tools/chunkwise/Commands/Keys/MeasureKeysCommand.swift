#if Network
import ArgumentParser
import ByteSources
import Dispatch
import FoundationEssentials
import Glibc
import HLS
import KeyExchanges
import Keys
import Measurement
import RandomAccess
import Report
import Results
import Server
import Statistics
import Support
import Synchronization
import SystemPackage

/// `chunkwise keys measure`
struct MeasureKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "measure",
        abstract: "Measures the time from opening an encrypted playlist to its first plaintext byte.",
        discussion: helpText(
            """
            Keys are requested on demand, in one batch, or before the playlist is opened (preloaded), from a key server
            on this machine that delays each answer; and, for comparison, read from files. Each round has a sample of
            each way, in an order drawn from the seed. Ratios compare samples of the same round. --output stores the
            result in a folder, from which chunkwise report makes a page.

            EXAMPLES
              chunkwise keys measure
              chunkwise keys measure --delays 5ms,300ms --rounds 51 --output reports/keys

            EXIT CODES
              0 preloaded keys need no request and at most the allowed ratio; 1 they do not; 64 usage; 74 I/O
            """))

    @Option(
        help: .taking(
            "time,…", "The delays of the key server, separated by commas: milliseconds, or times such as 2s."))
    var delays = "5,50,300"

    @Option(help: .taking("count", "The number of keys in the playlist, one for each segment."))
    var keys = 8

    @Option(help: .taking("count", "The number of rounds."))
    var rounds = 21

    @Option(help: .taking("size", "The size of a segment."), transform: ByteSize.argument)
    var segmentSize = ByteSize(1 << 20)

    @Option(
        help: .taking("ratio", "The maximum ratio of the time with preloaded keys to the time with local keys."))
    var maxRatio = 1.1

    @Option(help: "The crypto library; see chunkwise backends.")
    var backend = "openssl"

    @Option(help: "The seed of the order within rounds.")
    var seed: UInt64 = 1

    @OptionGroup var printing: FormatOptions

    @Option(
        help: .taking("folder", "The folder for key-waits.json. It is created if necessary."),
        completion: .directory)
    var output: String?

    func run() async throws {
        CoreDumps.disable()
        let delays = try checkedDelays()
        if let output { try attempt { try Folder.create(FilePath(output)) } }
        let folder = FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))
            .appending("chunkwise-keys-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        let measurement = try attempt {
            try KeyWaitMeasurement(
                folder: folder, keyCount: keys, segmentByteCount: Int(segmentSize.byteCount),
                backend: try Validated.backend(backend, isForData: false))
        }
        var cells: [KeyWaitsRecord.Cell] = []
        for delay in delays {
            do {
                let measured = try await measurement.cells(delayMilliseconds: delay, rounds: rounds, seed: seed)
                cells += measured.map { $0.record(local: measured) }
            } catch {
                throw CommandFailure(.io, "measure with \(delay) ms: \(error)")
            }
        }
        let record = KeyWaitsRecord(
            command: Program.command, host: ThisHost.describe(),
            seed: seed, rounds: UInt64(rounds), keyCount: UInt64(keys), segmentByteCount: segmentSize.byteCount,
            backend: backend, cells: cells)
        printing.show(text(record), json: record.json)
        try attempt { try output.map { try TextFile.write(record.json.text + "\n", to: Self.file(in: $0)) } }
        try requirePass(record)
    }

    private static func file(in folder: String) -> FilePath { FilePath(folder).appending(KeyWaitsRecord.fileName) }

    /// Checks that preloaded keys need no request and at most the allowed ratio.
    private func requirePass(_ record: KeyWaitsRecord) throws {
        for cell in record.cells where cell.source == .preloaded {
            let cellName = "preloaded keys, \(cell.delayMilliseconds) ms"
            try require(cell.requestCount == 0, .no, "\(cellName): \(cell.requestCount) requests: expected none")
            let ratio = cell.ratioToLocal.estimate
            try require(
                ratio <= maxRatio, .no,
                "\(cellName): \(RatioText.times(ratio)) of local ones: expected at most \(maxRatio)")
        }
    }

    private func checkedDelays() throws -> [Int] {
        let read = Duration.argument(.milliseconds, 0...10_000, isWhole: true)
        let times = try delays.split(separator: ",", omittingEmptySubsequences: false).map { text in
            do { return try Int(read(String(text)) / .milliseconds(1)) } catch {
                throw CommandFailure(.usage, "--delays \(delays): \(error)")
            }
        }
        guard (1...64).contains(keys) else { throw CommandFailure(.usage, "--keys \(keys): expected 1 to 64") }
        try require((6...1000).contains(rounds), "--rounds \(rounds): expected 6 to 1000")
        try require(
            (1...16 << 20).contains(segmentSize.byteCount), "--segment-size \(segmentSize): expected 1 byte to 16MiB")
        return times
    }

    private func text(_ record: KeyWaitsRecord) -> String {
        let head = ["server", "keys", "requests", "first byte", "of local", "95 % interval"]
        let lines = record.cells.map { cell in
            [
                "\(cell.delayMilliseconds) ms", cell.source.rawValue, "\(cell.requestCount)",
                DurationText.text(nanoseconds: UInt64(cell.medianNanoseconds)),
                RatioText.times(cell.ratioToLocal.estimate),
                "\(RatioText.times(cell.ratioToLocal.low)) to \(RatioText.times(cell.ratioToLocal.high))",
            ]
        }
        return TextTable([head] + lines, rightAligned: [0, 2, 3, 4]).text
    }
}

/// Measures how long a player waits from opening an encrypted playlist to its first plaintext byte.
///
/// Keys are files beside the playlist, or come from a key server of this process on loopback that delays each answer.
/// A sample opens the playlist's file, all its segments and, if keys come from a server, its own connection.
struct KeyWaitMeasurement: Sendable {
    /// The samples of one source of keys.
    struct Cell {
        let source: KeyWaitsRecord.KeySource
        let delayMilliseconds: Int
        /// The samples, one for each round.
        var nanoseconds: [UInt64] = []
        /// The maximum number of requests between opening and the first byte.
        var requestCount = 0
    }

    private let folder: FilePath
    private let uris: [String]
    private let backend: any CipherBackend

    /// Encrypts a playlist with a key for each segment.
    ///
    /// - Parameters:
    ///   - folder: An empty folder.
    ///   - keyCount: The number of keys, and of segments.
    ///   - segmentByteCount: The length of each segment in bytes.
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

    /// Measures all sources against one server in rounds, each in a random order.
    func cells(delayMilliseconds: Int, rounds: Int, seed: UInt64) async throws -> [Cell] {
        var server = KeyServer(
            provider: FolderKeys(folder: folder), clients: .everyone, audit: try KeyAudit(path: "/dev/null"))
        let identity = try ServerIdentity(
            SecretKey([UInt8].random(count: 32)))
        server.identity = identity
        server.delay = .milliseconds(delayMilliseconds)
        (server.rate, server.burst) = (1e9, 1_000_000)
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let running = Task { [server] in
            defer { found.finish() }
            try await server.run(host: ListeningHost("127.0.0.1"), port: 0) { found.yield($0) }
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
        var cells = KeyWaitsRecord.KeySource.allCases.map { Cell(source: $0, delayMilliseconds: delayMilliseconds) }
        // One extra round, whose samples are dropped, because its code runs for the first time.
        for round in 0...rounds {
            for index in cells.indices.shuffled(using: &generator) {
                let (nanoseconds, requests) = try await sample(cells[index].source, url, identity.publicKey)
                guard round > 0 else { continue }
                cells[index].nanoseconds.append(nanoseconds)
                cells[index].requestCount = max(cells[index].requestCount, requests)
            }
        }
        return cells
    }

    private func sample(
        _ source: KeyWaitsRecord.KeySource, _ url: String, _ serverKey: [UInt8]
    ) async throws -> (nanoseconds: UInt64, requestCount: Int) {
        var options = KeyServerExchange.Options()
        options.serverKey = serverKey
        options.deadline = .seconds(60)
        let exchange = CountingExchange(try KeyServerExchange(url, options: options))
        let session = KeySession(
            exchange: exchange, policy: KeyPolicy(deadline: .seconds(60), maxBatchCount: 64), device: "", seed: 1,
            clock: SystemKeyClock())
        let keys = WaitingKeys(session)
        if source == .preloaded, let failure = await keys.preload(uris).values.first { throw failure }
        let before = exchange.count
        let start = ContinuousClock.now
        if source == .batched {
            // A player reads the playlist first to learn which keys it needs.
            let file = try PlaylistFile(path: folder.appending("playlist.m3u8"))
            if let failure = await keys.preload(file.playlist.keyURIs).values.first { throw failure }
        }
        let end = try await firstByte(source == .local ? FolderKeys(folder: folder) : keys)
        let elapsed = start.duration(to: end)
        let count = exchange.count - before
        await session.close()
        return (KeyTiming.nanoseconds(elapsed), count)
    }

    /// Opens the playlist and reads its first byte, on a thread that may wait.
    ///
    /// - Returns: The time at which the byte was there.
    private func firstByte(_ keys: any KeyProvider) async throws -> ContinuousClock.Instant {
        let (folder, backend) = (folder, backend)
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
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
            }
        }
    }
}

/// An exchange that counts its requests.
final class CountingExchange: KeyExchange {
    private let exchange: any KeyExchange
    private let asked = Mutex(0)

    init(_ exchange: any KeyExchange) {
        self.exchange = exchange
    }

    /// The number of requests.
    var count: Int { asked.withLock { $0 } }

    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        asked.withLock { $0 += 1 }
        return try await exchange.answer(query)
    }
}

extension KeyWaitMeasurement.Cell {
    /// The cell, with its ratio to the local cell of the same rounds.
    func record(local cells: [KeyWaitMeasurement.Cell]) -> KeyWaitsRecord.Cell {
        let local = cells.first { $0.source == .local }?.nanoseconds ?? []
        // The logarithms of the ratios are distributed symmetrically; the ratios are not.
        let logarithms = zip(nanoseconds, local).map { log(Double($0)) - log(Double($1)) }
        let interval = SignedRankInterval(logarithms, alpha: 0.025)
        return KeyWaitsRecord.Cell(
            source: source, delayMilliseconds: UInt64(delayMilliseconds), requestCount: UInt64(requestCount),
            samplesNanoseconds: nanoseconds, medianNanoseconds: median(of: nanoseconds) ?? 0,
            ratioToLocal: LogInterval(
                low: exp(interval?.low ?? 0), estimate: exp(interval?.estimate ?? 0), high: exp(interval?.high ?? 0)))
    }
}
#endif
