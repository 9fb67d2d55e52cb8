import ArgumentParser
import ByteSources
import Foundation
import HLS
import Keys
import RandomAccess
import SwiftAESBackend
import SystemPackage

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
                throw KeysFailure(.usage, "\(seconds) seconds: expected 0 to 1000000000")
            }
            return .persistable(storage: .seconds(storage), playback: .seconds(playback))
        }
    }

    /// The device's identity.
    func device(isStrict: Bool) throws -> String {
        guard folder != nil else { return "none" }
        guard let deviceFile else { throw KeysFailure(.usage, "--store: expected --device FILE as well") }
        return try DeviceIdentity(path: FilePath(deviceFile), isMade: true, isStrict: isStrict, warn: Self.warn).name
    }

    /// The shelf, if keys are stored.
    func shelf(isStrict: Bool) throws -> SealedKeyStore? {
        guard let folder else { return nil }
        guard let sealingKey else { throw KeysFailure(.usage, "--store: expected --sealing-key FILE as well") }
        let key = try KeyFile.read(sealingKey) { (permissions) throws(DecryptionError) in
            guard !isStrict else {
                throw .openToOthers(path: "key file \(sealingKey)", permissions: permissions, expected: 0o600)
            }
            Self.warn(.readableByOthers(path: sealingKey, permissions: permissions))
        }
        return SealedKeyStore(
            storage: try SealedKeyFolder(path: FilePath(folder), isStrict: isStrict, warn: Self.warn),
            sealer: try GCMSealer(backend: SwiftBitsliced(), key: key))
    }

    @Sendable private static func warn(_ warning: KeyWarning) {
        FileHandle.standardError.write(Data("chunkwise-keys: warning: \(warning)\n".utf8))
    }
}
