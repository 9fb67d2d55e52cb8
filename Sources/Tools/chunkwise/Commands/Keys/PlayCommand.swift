import ArgumentParser
import ByteSources
import HLS
import Keys
import RandomAccess
import Support
import SwiftAESBackend
import SystemPackage

/// Reads a playlist through a key session: with keys that expire, are stored, and are bound to a device.
struct PlayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Decrypts a playlist with a key session, while its keys are valid.",
        discussion: helpText(
            """
            Each window is one read. If a key expires before the end, the command fails, and leaves no output file.

            EXAMPLES
              chunkwise keys play film.m3u8 film.ts
              chunkwise keys play --keys folder --validity 12h film.m3u8 film.ts
              chunkwise keys play --store stored --device device --sealing-key k --storage 30d film.m3u8 film.ts

            EXIT CODES
              0 decrypted; 64 usage; 65 the playlist is wrong; 66 a file or a key is missing, or a key is refused or has
              expired; 74 I/O
            """))

    @OptionGroup var store: StoreOptions

    @Option(help: "A folder with the keys, each named after the last part of its URI. (default: at their URIs)")
    var keys: String?

    @Option(help: "A command that prints the 16 bytes of a key. It gets the key's URI as its last argument.")
    var keyCommand: String?

    @Option(
        help: .taking(
            "time",
            """
            The time for which an online key may be used: seconds, or a time such as 12h. (default: until the session
            ends)
            """), transform: Duration.argument(.seconds, 0...1e9))
    var validity: Duration?

    @Option(
        help: "The folder in which all URIs of the playlist must stay. (default: the folder of the playlist)")
    var root: String?

    @Option(
        help: .taking("size", "The number of bytes to read at a time. (default: 1MiB)"), completion: .sizes,
        transform: ByteSize.argument)
    var window = ByteSize(1 << 20)

    @Option(
        help: .taking(
            "time", "The pause between two windows: milliseconds, or a time such as 2s. (default: 0ms)"),
        transform: Duration.argument(.milliseconds, 0...3_600_000))
    var pause = Duration.zero

    @OptionGroup var ranges: ByteRangeOptions

    @Flag(help: "Refuse key files and folders that users other than their owner can open, instead of warning.")
    var strict = false

    @Argument(help: "The playlist.")
    var playlist: String

    @Argument(help: "The file for the plaintext.")
    var output: String

    func run() throws {
        CoreDumps.disable()
        let windowByteCount = try Validated.window(window)
        try require(keys == nil || keyCommand == nil, "--keys and --key-command: expected one of them")
        let strict = strict
        let terms = store.terms ?? .online(validity: validity)
        try attemptInput {
            let file = try PlaylistFile(path: FilePath(playlist), root: root.map { FilePath($0) })
            let exchange = ProvidedKeys(
                SchemeKeys(dataBefore: provider(file)), terms: terms, isStrict: strict, warn: { Terminal.warn("\($0)") }
            )
            let session = KeySession(
                exchange: exchange, device: try store.device(isStrict: strict), seed: UInt64.random(in: 0...UInt64.max),
                clock: SystemKeyClock(), storage: try store.sealedStore(isStrict: strict),
                reporter: { identifier, failure in Terminal.warn("\(ShownIdentifier.text(identifier)): \(failure)") })
            let stores = store.folder != nil
            let (pause, output, readings) = (pause, output, ranges.readings)
            try Waiting.wait {
                if stores { await session.persist(file.playlist.keyURIs) }
                let object = try await HLSObject.open(
                    file.playlist.reading(readings), resources: file.resources, session: session,
                    backend: SwiftBitsliced())
                let early = await session.notices
                for notice in early { Terminal.warn("\(notice)") }
                let played: Result<Void, any Error>
                do {
                    try object.requireAll()
                    try await Self.copy(object, session, to: output, window: windowByteCount, pause: pause)
                    played = .success(())
                } catch {
                    played = .failure(error)
                }
                // Also after a failure, so that the session records how long a stored key was used.
                await session.close()
                for notice in await session.notices.dropFirst(early.count) { Terminal.warn("\(notice)") }
                try played.get()
            }
        }
    }

    private func provider(_ file: PlaylistFile) -> any KeyProvider {
        if let keys { return FolderKeys(folder: FilePath(keys)) }
        if let keyCommand { return CommandKeys(shell: keyCommand) }
        return PlaylistKeys(file.resources)
    }

    private static func copy(
        _ object: HLSObject, _ session: KeySession, to output: String, window: Int, pause: Duration
    ) async throws {
        let sink = try FileSink(path: FilePath(output))
        var offset: UInt64 = 0
        while offset < object.plaintextByteCount {
            if offset > 0, pause > .zero { try await Task.sleep(for: pause) }
            let bytes = try await object.read(at: offset, count: window, session: session)
            try bytes.withUnsafeBytes { try sink.write($0, at: offset) }
            offset += UInt64(bytes.count)
        }
        try sink.commit()
    }
}

/// The options for stored keys.
struct StoreOptions: ParsableArguments {
    @Option(name: .customLong("store"), help: "A folder in which to store keys, sealed. It is created if necessary.")
    var folder: String?

    @Option(
        name: .customLong("device"),
        help: "With --store: the file with the device's identity. It is created if necessary.")
    var deviceFile: String?

    @Option(help: "With --store: a file with the key that seals the stored keys, 16, 24 or 32 bytes.")
    var sealingKey: String?

    @Option(
        help: .taking(
            "time",
            "With --store, the time to store an unused key: seconds, or a time such as 12h. (default: 30d)"
        ), transform: Duration.argument(.seconds, 0...1e9))
    var storage = Duration.seconds(30 * 86_400)

    @Option(
        help: .taking(
            "time",
            """
            With --store, the time for which a key may be used after its first use: seconds, or a time such as 12h. \
            (default: 1d)
            """), transform: Duration.argument(.seconds, 0...1e9))
    var playback = Duration.seconds(86_400)

    /// The terms of stored keys; `nil` without a store.
    var terms: KeyTerms? { folder.map { _ in .persistable(storage: storage, playback: playback) } }

    /// The device's identity.
    func device(isStrict: Bool) throws -> String {
        guard folder != nil else { return "none" }
        guard let deviceFile else { throw CommandFailure(.usage, "--store: expected --device FILE as well") }
        return try DeviceIdentity(
            path: FilePath(deviceFile), isMade: true, isStrict: isStrict, warn: { Terminal.warn("\($0)") }
        ).name
    }

    /// The store of keys; `nil` if the user names none.
    func sealedStore(isStrict: Bool) throws -> SealedKeyStore? {
        guard let folder else { return nil }
        guard let sealingKey else { throw CommandFailure(.usage, "--store: expected --sealing-key FILE as well") }
        let key = try KeyFile.read(sealingKey, isStrict: isStrict)
        return SealedKeyStore(
            storage: try SealedKeyFolder(path: FilePath(folder), isStrict: isStrict, warn: { Terminal.warn("\($0)") }),
            sealer: try GCMSealer(backend: SwiftBitsliced(), key: key))
    }
}
