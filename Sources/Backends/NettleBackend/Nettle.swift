internal import CNettle
import Glibc
public import RandomAccess

/// AES from GNU Nettle, the library under GnuTLS.
public struct Nettle: CipherBackend {
    /// `nettle`
    public let name = "nettle"
    /// The AES key lengths in bytes.
    public let keyByteCounts = [16, 24, 32]
    /// The modes offered.
    public let modes: [CipherMode] = [.cbc, .ctr, .gcm]
    /// The CPU feature that the library's AES chooses on this machine.
    public let cpuFeatures: [String]

    /// Creates the backend.
    ///
    /// - Parameter machineFeatures: The CPU's flags as the kernel names them. The library asks the CPU itself, less what
    ///   the variable `NETTLE_FAT_OVERRIDE` leaves out, and has no function that says what it found.
    public init(machineFeatures: [String]) {
        let override = getenv("NETTLE_FAT_OVERRIDE").map { String(cString: $0) }
        self.cpuFeatures = Self.features(machineFeatures: machineFeatures, override: override)
    }

    /// The library's version, major and minor, such as `3.8`.
    ///
    /// The corresponding C functions are `nettle_version_major` and `nettle_version_minor`.
    public var version: String { "\(nettle_version_major()).\(nettle_version_minor())" }

    /// Makes a context for one key, mode and direction.
    public func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        guard mode != .gcm else { throw .unsupported("GCM without chunks") }
        return try NettleContext(mode: mode, direction: direction, key: key)
    }

    /// Makes a context that opens or seals chunks with AES-GCM.
    public func makeChunkContext(
        direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any ChunkContext {
        try NettleChunkContext(direction: direction, key: key)
    }

    /// AES instructions or nothing: without them, the library looks up tables.
    ///
    /// - Source: `fat-x86_64.c` and `fat-arm64.c` of Nettle: an override lists all features that may be used, `aesni` or
    ///   `aes` among them, separated by commas.
    static func features(machineFeatures: [String], override: String?) -> [String] {
        guard machineFeatures.contains("aes") else { return [] }
        guard let override else { return ["aes"] }
        let allowed = override.split(separator: ",")
        return allowed.contains("aesni") || allowed.contains("aes") ? ["aes"] : []
    }
}
