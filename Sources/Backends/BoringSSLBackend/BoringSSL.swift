#if BoringSSL
public import RandomAccess

/// AES and ChaCha20-Poly1305 from the BoringSSL that swift-crypto carries, through swift-crypto's public functions.
///
/// These take a whole message and return a new one: each call makes the key schedule anew and copies the result. That
/// is what a user of swift-crypto gets, and so it is what is measured.
public struct BoringSSL: CipherBackend {
    /// `boringssl`
    public let name = "boringssl"
    /// The ciphers offered. BoringSSL has shorter nonces, too, and swift-crypto does not let them through.
    public let ciphers =
        CipherSupport.aes(gcmNonceByteCounts: 12...Int.max) + CipherSupport.whole(.chaCha20Poly1305, .aesGCMSIV)
    /// The hash functions that HMAC is offered with.
    public let hmacFunctions = HashFunction.allCases
    /// The package's version and the BoringSSL revision in it; the library itself does not tell.
    public let version = "swift-crypto 4.5.2 (BoringSSL 0226f304)"
    /// The CPU feature that BoringSSL's AES-CBC and AES-CTR choose on this machine.
    public let cpuFeatures: [String]

    /// swift-crypto collects the result in an array, and returns it as `Data`.
    public let copyCountPerCall = 2

    /// Creates the backend.
    ///
    /// - Parameter machineFeatures: The CPU's flags as the kernel names them. BoringSSL asks the CPU itself and has no
    ///   function that says what it found.
    public init(machineFeatures: [String]) {
        // AES instructions; or else vector permutation, with SSSE3 or Neon.
        self.cpuFeatures = ["aes", "ssse3", "asimd"].first(where: machineFeatures.contains).map { [$0] } ?? []
    }

    /// Makes a context for one cipher, direction and key.
    public func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        let support = try support(of: cipher, key: key)
        return cipher.isStreaming
            ? BoringSSLContext(support, direction, key: key) : BoringSSLSealedContext(support, direction, key: key)
    }

    /// Makes a context for HMAC with a hash function, under a key of any length.
    public func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        makeBoringSSLMAC(function, key: key)
    }
}
#endif
