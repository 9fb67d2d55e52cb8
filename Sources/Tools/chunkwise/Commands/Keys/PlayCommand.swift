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
        commandName: "play", abstract: "Decrypts a playlist through a key session, as long as its keys are valid.",
        discussion: helpText(
            """
            Each window is one read: a key that expires within it ends the command, and no file is left.

            EXAMPLES
              chunkwise keys play film.m3u8 film.ts
              chunkwise keys play --keys folder --validity 12h film.m3u8 film.ts
              chunkwise keys play --store stored --device device --sealing-key k --storage 30d film.m3u8 film.ts

            EXIT CODES
              0 decrypted; 64 usage; 65 the playlist is wrong; 66 a file or a key is missing, or a key is refused or has
              expired; 74 I/O
            """))

    @OptionGroup var store: StoreOptions

    @Option(help: "The folder with the keys, each named like the end of its URI. (default: where the URIs say)")
    var keys: String?

    @Option(help: "A command that prints the 16 bytes of the key whose URI is added as its last argument.")
    var keyCommand: String?

    @Option(
        help: .taking(
            "time",
            "How long an online key may be used: seconds, or a time such as 12h. (default: as long as the session lives)"
        ), transform: Duration.argument(.seconds, 0...1e9))
    var validity: Duration?

    @Option(
        help: "The folder that nothing in the playlist may lead out of. (default: the one that the playlist lies in)")
    var root: String?

    @Option(
        help: .taking("size", "How many bytes are read at a time. (default: 1MiB)"), completion: .sizes,
        transform: ByteSize.argument)
    var window = ByteSize(1 << 20)

    @Option(
        help: .taking(
            "time", "How long to wait between two windows: milliseconds, or a time such as 2s. (default: 0ms)"),
        transform: Duration.argument(.milliseconds, 0...3_600_000))
    var pause = Duration.zero

    @OptionGroup var ranges: ByteRangeOptions

    @Flag(help: "Refuse key files and folders that others than their owner can open, instead of a warning.")
    var strict = false

    @Argument(help: "The playlist.")
    var playlist: String

    @Argument(help: "Where the plaintext goes.")
    var output: String

    func run() throws {
        CoreDumps.disable()
        let windowByteCount = try Validated.window(window)
        guard keys == nil || keyCommand == nil else {
            throw CommandFailure(.usage, "--keys and --key-command: expected one of them")
        }
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
                // Also after a failure: a stored key was used until now, and no longer.
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

/// Where keys are stored, and for how long.
struct StoreOptions: ParsableArguments {
    @Option(name: .customLong("store"), help: "A folder in which keys are kept sealed; made if it is not there.")
    var folder: String?

    @Option(name: .customLong("device"), help: "With --store: the file with the device's identity; made likewise.")
    var deviceFile: String?

    @Option(help: "With --store: a file with the key that seals: 16, 24 or 32 bytes.")
    var sealingKey: String?

    @Option(
        help: .taking(
            "time", "With --store, how long a stored key may lie unused: seconds, or a time such as 12h. (default: 30d)"
        ), transform: Duration.argument(.seconds, 0...1e9))
    var storage = Duration.seconds(30 * 86_400)

    @Option(
        help: .taking(
            "time",
            "With --store, how long it may be used from its first use on: seconds, or a time such as 12h. (default: 1d)"
        ), transform: Duration.argument(.seconds, 0...1e9))
    var playback = Duration.seconds(86_400)

    /// The terms of keys that are stored, or `nil` if none are.
    var terms: KeyTerms? { folder.map { _ in .persistable(storage: storage, playback: playback) } }

    /// The device's identity.
    func device(isStrict: Bool) throws -> String {
        guard folder != nil else { return "none" }
        guard let deviceFile else { throw CommandFailure(.usage, "--store: expected --device FILE as well") }
        return try DeviceIdentity(
            path: FilePath(deviceFile), isMade: true, isStrict: isStrict, warn: { Terminal.warn("\($0)") }
        ).name
    }

    /// Where keys are stored, if they are.
    func sealedStore(isStrict: Bool) throws -> SealedKeyStore? {
        guard let folder else { return nil }
        guard let sealingKey else { throw CommandFailure(.usage, "--store: expected --sealing-key FILE as well") }
        let key = try KeyFile.read(sealingKey, isStrict: isStrict)
        return SealedKeyStore(
            storage: try SealedKeyFolder(path: FilePath(folder), isStrict: isStrict, warn: { Terminal.warn("\($0)") }),
            sealer: try GCMSealer(backend: SwiftBitsliced(), key: key))
    }
}
