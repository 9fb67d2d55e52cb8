import ArgumentParser
import ByteSources
import HLS
import Keys
import RandomAccess
import SwiftAESBackend
import SystemPackage

/// Reads a playlist through a key session: with keys that expire, are stored, and are bound to a device.
struct PlayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Decrypts a playlist through a key session, as long as its keys are valid.",
        discussion: "Each window is one read: a key that expires within it ends the command, and no file is left.")

    @OptionGroup var store: StoreOptions

    @Option(help: "The folder with the keys, each named like the end of its URI. (default: where the URIs say)")
    var keys: String?

    @Option(help: "A command that prints the 16 bytes of the key whose URI is added as its last argument.")
    var keyCommand: String?

    @Option(help: "For how many seconds an online key may be used. (default: as long as the session lives)")
    var validity: Double?

    @Option(help: "How many bytes are read at a time.")
    var window = 1 << 20

    @Option(help: "How many milliseconds pass between two windows.")
    var pause = 0

    @Flag(help: "Refuse key files and folders that others than their owner can open, instead of a warning.")
    var strict = false

    @Argument(help: "The playlist.")
    var playlist: String

    @Argument(help: "Where the plaintext goes.")
    var output: String

    func run() throws {
        CoreDumps.disable()
        guard window > 0, window <= 1 << 30, pause >= 0, pause <= 3_600_000 else {
            throw CommandFailure(.usage, "--window or --pause: expected 1 to 1073741824 bytes, 0 to 3600000 ms")
        }
        guard keys == nil || keyCommand == nil else {
            throw CommandFailure(.usage, "--keys and --key-command: expected one of them")
        }
        if let validity, !(validity >= 0 && validity <= 1e9) {
            throw CommandFailure(.usage, "--validity \(validity): expected 0 to 1000000000 seconds")
        }
        let strict = strict
        let terms = try store.terms ?? .online(validity: validity.map { .seconds($0) })
        try attemptInput {
            let file = try PlaylistFile(path: FilePath(playlist), root: nil, choice: .highestBandwidth)
            let exchange = ProvidedKeys(
                provider(file), terms: terms, isStrict: strict, warn: { Self.warn("\($0)") })
            let session = KeySession(
                exchange: exchange, device: try store.device(isStrict: strict), seed: UInt64.random(in: 0...UInt64.max),
                clock: SystemKeyClock(), storage: try store.sealedStore(isStrict: strict),
                reporter: { identifier, failure in Self.warn("\(ShownIdentifier.text(identifier)): \(failure)") })
            let stores = store.folder != nil
            let (window, pause, output) = (window, pause, output)
            try Waiting.wait {
                if stores { await session.persist(file.playlist.keyURIs) }
                let object = try await HLSObject(
                    playlist: file.playlist, resources: file.resources, session: session, backend: SwiftBitsliced())
                let early = await session.notices
                for notice in early { Self.warn("\(notice)") }
                let played: Result<Void, any Error>
                do {
                    try object.requireAll()
                    try await Self.copy(object, session, to: output, window: window, pause: pause)
                    played = .success(())
                } catch {
                    played = .failure(error)
                }
                for notice in await session.notices.dropFirst(early.count) { Self.warn("\(notice)") }
                try played.get()
                await session.close()
            }
        }
    }

    private func provider(_ file: PlaylistFile) -> any KeyProvider {
        if let keys { return FolderKeys(folder: FilePath(keys)) }
        if let keyCommand { return CommandKeys(shell: keyCommand) }
        return PlaylistKeys(file.resources)
    }

    private static func copy(
        _ object: HLSObject, _ session: KeySession, to output: String, window: Int, pause: Int
    ) async throws {
        let sink = try FileSink(path: FilePath(output))
        var offset: UInt64 = 0
        while offset < object.plaintextByteCount {
            if offset > 0, pause > 0 { try await Task.sleep(for: .milliseconds(pause)) }
            let bytes = try await object.read(at: offset, count: window, session: session)
            try bytes.withUnsafeBytes { try sink.write($0, at: offset) }
            offset += UInt64(bytes.count)
        }
        try sink.commit()
    }

    private static func warn(_ text: String) {
        Terminal.writeError("chunkwise: warning: \(text)")
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

    @Option(help: "With --store: for how many seconds a stored key may lie unused.")
    var storage: Double = 30 * 86_400

    @Option(help: "With --store: for how many seconds it may be used from its first use on.")
    var playback: Double = 86_400

    /// The terms of keys that are stored, or `nil` if none are.
    var terms: KeyTerms? {
        get throws {
            guard folder != nil else { return nil }
            for seconds in [storage, playback] where !(seconds >= 0 && seconds <= 1e9) {
                throw CommandFailure(.usage, "\(seconds) seconds: expected 0 to 1000000000")
            }
            return .persistable(storage: .seconds(storage), playback: .seconds(playback))
        }
    }

    /// The device's identity.
    func device(isStrict: Bool) throws -> String {
        guard folder != nil else { return "none" }
        guard let deviceFile else { throw CommandFailure(.usage, "--store: expected --device FILE as well") }
        return try DeviceIdentity(path: FilePath(deviceFile), isMade: true, isStrict: isStrict, warn: Self.warn).name
    }

    /// Where keys are stored, if they are.
    func sealedStore(isStrict: Bool) throws -> SealedKeyStore? {
        guard let folder else { return nil }
        guard let sealingKey else { throw CommandFailure(.usage, "--store: expected --sealing-key FILE as well") }
        let key = try KeyFile.read(sealingKey, isStrict: isStrict)
        return SealedKeyStore(
            storage: try SealedKeyFolder(path: FilePath(folder), isStrict: isStrict, warn: Self.warn),
            sealer: try GCMSealer(backend: SwiftBitsliced(), key: key))
    }

    @Sendable private static func warn(_ warning: KeyWarning) {
        Terminal.writeError("chunkwise: warning: \(warning)")
    }
}
