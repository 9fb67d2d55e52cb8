internal import CNettle
import Glibc
public import RandomAccess

/// AES and ChaCha20-Poly1305 from GNU Nettle, the library under GnuTLS.
public struct Nettle: CipherBackend {
    /// `nettle`
    public let name = "nettle"
    /// The ciphers offered.
    public let ciphers =
        CipherSupport.aes(gcmNonceByteCounts: 1...Int.max)
        + CipherSupport.whole(.chaCha20Poly1305, .aesXTS, .aesEAX, .aesSIV)
    /// The hash functions with HMAC.
    public let hmacFunctions = HashFunction.allCases
    /// The CPU feature that the library's AES uses on this machine.
    public let cpuFeatures: [String]

    /// The backend on a machine with the given features.
    ///
    /// - Parameter machineFeatures: The CPU's flags by the kernel's names. The library queries the CPU itself, obeys
    ///   the variable `NETTLE_FAT_OVERRIDE`, and has no function that reports the result.
    public init(machineFeatures: [String]) {
        let override = getenv("NETTLE_FAT_OVERRIDE").map { String(cString: $0) }
        self.cpuFeatures = Self.features(machineFeatures: machineFeatures, override: override)
    }

    /// The library's version, major and minor, such as `3.8`.
    ///
    /// The corresponding C functions are `nettle_version_major` and `nettle_version_minor`.
    public var version: String { "\(nettle_version_major()).\(nettle_version_minor())" }

    /// Returns a context for one cipher, direction and key.
    public func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        let support = try support(of: cipher, key: key)
        return switch cipher {
        case .aesXTS: try NettleXTSContext(support, direction, key: key)
        case .aesEAX: try NettleEAXContext(support, direction, key: key)
        case .aesSIV: try NettleSIVContext(support, direction, key: key)
        case _ where cipher.isStreaming: try NettleContext(support, direction, key: key)
        default: try NettleSealedContext(support, direction, key: key)
        }
    }

    /// Returns a context for HMAC with a hash function, under a key of any length.
    public func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        NettleMAC(function, key: key)
    }

    /// Returns the AES instructions, or nothing: without them, the library uses tables.
    ///
    /// - Source: `fat-x86_64.c` and `fat-arm64.c` of Nettle: an override lists all features that may be used, `aesni`
    ///   or `aes` among them, separated by commas.
    static func features(machineFeatures: [String], override: String?) -> [String] {
        guard machineFeatures.contains("aes") else { return [] }
        guard let override else { return ["aes"] }
        let allowed = override.split(separator: ",")
        return allowed.contains("aesni") || allowed.contains("aes") ? ["aes"] : []
    }
}
