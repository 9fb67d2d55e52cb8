internal import CSodium
public import RandomAccess

/// ChaCha20, XChaCha20 and XSalsa20, each with Poly1305, from libsodium. It offers no AES.
public struct Sodium: CipherBackend {
    /// `sodium`
    public let name = "sodium"
    /// The ciphers offered.
    public let ciphers = [Cipher.chaCha20Poly1305, .xChaCha20Poly1305, .xSalsa20Poly1305].map { CipherSupport($0) }
    /// The hash functions with HMAC.
    public let hmacFunctions = [HashFunction.sha256, .sha512]

    /// Initialises the library, once for the process.
    ///
    /// The corresponding C function is `sodium_init`.
    ///
    /// - Throws: `DecryptionError.backend` if the initialisation fails.
    public init() throws(DecryptionError) {
        let result = sodium_init()
        guard result >= 0 else {
            throw .backend(name: name, operation: "sodium_init", reason: "it returned \(result): expected 0 or 1")
        }
    }

    /// The library's version, such as `1.0.18`. The corresponding C function is `sodium_version_string`.
    public var version: String { String(cString: sodium_version_string()) }

    /// The CPU feature that the library's ChaCha20 uses on this machine.
    ///
    /// The corresponding C functions are `sodium_runtime_has_avx2` and `sodium_runtime_has_ssse3`.
    public var cpuFeatures: [String] {
        if sodium_runtime_has_avx2() == 1 { return ["avx2"] }
        return sodium_runtime_has_ssse3() == 1 ? ["ssse3"] : []
    }

    /// Returns a context for one cipher, direction and key.
    public func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        SodiumContext(try support(of: cipher, key: key), direction, key: key)
    }

    /// Returns a context for HMAC with a hash function, under a key of any length.
    public func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        guard hmacFunctions.contains(function) else {
            throw .unsupported("hmac with \(function.rawValue) in \(nameAndVersion)")
        }
        return SodiumMAC(function, key: key)
    }
}
