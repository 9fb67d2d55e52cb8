#if BoringSSL
public import RandomAccess

/// AES and ChaCha20-Poly1305 from the BoringSSL inside swift-crypto, through swift-crypto's public functions.
///
/// These take a whole message and return a new one: each call repeats the key schedule and copies the result. Users of
/// swift-crypto get exactly this, so the backend measures it.
public struct BoringSSL: CipherBackend {
    /// `boringssl`
    public let name = "boringssl"
    /// The ciphers offered. BoringSSL accepts shorter nonces, but swift-crypto does not.
    public let ciphers =
        CipherSupport.aes(gcmNonceByteCounts: 12...Int.max) + CipherSupport.whole(.chaCha20Poly1305, .aesGCMSIV)
    /// The hash functions with HMAC.
    public let hmacFunctions = HashFunction.allCases
    /// The package's version and its BoringSSL revision; the library itself does not report one.
    public let version = "swift-crypto 4.5.2 (BoringSSL 0226f304)"
    /// The CPU feature that BoringSSL's AES-CBC and AES-CTR use on this machine.
    public let cpuFeatures: [String]

    /// swift-crypto collects the result in an array, and returns it as `Data`.
    public let copyCountPerCall = 2

    /// The backend on a machine with the given features.
    ///
    /// - Parameter machineFeatures: The CPU's flags by the kernel's names. BoringSSL queries the CPU itself, and has no
    ///   function that reports the result.
    public init(machineFeatures: [String]) {
        // AES instructions, or otherwise vector permutation with SSSE3 or Neon.
        self.cpuFeatures = ["aes", "ssse3", "asimd"].first(where: machineFeatures.contains).map { [$0] } ?? []
    }

    /// Returns a context for one cipher, direction and key.
    public func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        BoringSSLContext(try support(of: cipher, key: key), direction, key: key)
    }

    /// Returns a context for HMAC with a hash function, under a key of any length.
    public func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        makeBoringSSLMAC(function, key: key)
    }
}
#endif
