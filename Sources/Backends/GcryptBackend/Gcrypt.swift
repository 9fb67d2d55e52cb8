import CGcrypt
import Glibc
public import RandomAccess

/// AES and ChaCha20-Poly1305 from libgcrypt.
public struct Gcrypt: CipherBackend {
    /// `libgcrypt`
    public let name = "libgcrypt"
    /// The ciphers offered.
    public let ciphers =
        CipherSupport.aes(gcmNonceByteCounts: 1...Int.max)
        + CipherSupport.whole(.chaCha20Poly1305, .aesXTS, .aesEAX, .aesGCMSIV, .aesSIV)
        // Source: `cipher-ocb.c` of libgcrypt, which rejects shorter nonces.
        + [CipherSupport(.aesOCB, nonceByteCounts: 8...15)]
    /// The hash functions with HMAC.
    public let hmacFunctions = HashFunction.allCases
    /// The library's version, such as `1.10.1`.
    public let version: String

    /// Initialises the library, once for the process.
    ///
    /// - Throws: `DecryptionError.backend` if the installed library is older than the one this was built with.
    public init() throws(DecryptionError) {
        self.version = try GcryptLibrary.initialize()
    }

    /// The CPU features for AES that the library detected, without disabled ones.
    ///
    /// The corresponding C function is `gcry_get_config` with `hwflist`.
    public var cpuFeatures: [String] {
        guard let text = gcry_get_config(0, "hwflist") else { return [] }
        defer { gcry_free(text) }
        // "hwflist:intel-cpu:intel-aesni:…:\n"
        let names = String(cString: text).split(whereSeparator: { ":\n".contains($0) }).dropFirst().map(String.init)
        let units = ["aesni", "vaes", "padlock", "arm-aes", "ppc-vcrypto", "s390x-msa"]
        let used = names.filter { name in units.contains { name.contains($0) } }
        // Without an AES unit, the library uses vector permutation.
        return used.isEmpty ? names.filter { $0.contains("ssse3") } : used
    }

    /// Returns a context for one cipher, direction and key.
    public func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        try GcryptContext(support(of: cipher, key: key), direction, key: key)
    }

    /// Returns a context for HMAC with a hash function, under a key of any length.
    public func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        try GcryptMAC(function, key: key)
    }
}

/// The global state of the library: it must be initialised once, before any other thread uses it.
enum GcryptLibrary {
    /// The initialiser of a global constant runs once, and other threads wait for it.
    private static let outcome: Result<String, DecryptionError> = start()

    /// Initialises the library on the first call, and returns its version.
    static func initialize() throws(DecryptionError) -> String {
        try outcome.get()
    }

    /// The corresponding C functions are `gcry_check_version` and `gcry_control`.
    private static func start() -> Result<String, DecryptionError> {
        do throws(DecryptionError) {
            // The library detects the CPU's features in its first function call.
            try disableFeatures()
        } catch {
            return .failure(error)
        }
        guard let version = gcry_check_version(GCRYPT_VERSION) else {
            let found = gcry_check_version(nil).map { String(cString: $0) } ?? "none"
            return .failure(
                .backend(
                    name: "libgcrypt", operation: "gcry_check_version",
                    reason: "version \(found), expected at least \(GCRYPT_VERSION)"))
        }
        // Other code in the process may have initialised it, and then it stays as it is.
        if chunkwise_gcrypt_is_initialized() == 0 {
            // `SecretKey` holds and erases keys; locked memory would only cost start-up time and privileges.
            _ = chunkwise_gcrypt_disable_secure_memory()
            _ = chunkwise_gcrypt_finish_initialization()
        }
        return .success(String(cString: version))
    }

    /// Disables the CPU features in an environment variable, separated by commas, such as `intel-aesni`, as
    /// `/etc/gcrypt/hwf.deny` does for the whole machine.
    ///
    /// The corresponding C function is `gcry_control` with `GCRYCTL_DISABLE_HWF`.
    private static func disableFeatures() throws(DecryptionError) {
        guard let names = getenv("CHUNKWISE_GCRYPT_DISABLE_HWF").map({ String(cString: $0) }) else { return }
        for name in names.split(separator: ",") {
            try checkGcrypt(
                chunkwise_gcrypt_disable_hardware_feature(String(name)),
                in: "gcry_control(GCRYCTL_DISABLE_HWF, \"\(name)\")")
        }
    }
}

/// Turns libgcrypt's return codes into errors. The corresponding C function is `gcry_strerror`.
func checkGcrypt(_ code: gcry_error_t, in function: String) throws(DecryptionError) {
    guard code == 0 else {
        let reason = gcry_strerror(code).map { String(cString: $0) } ?? "error \(code)"
        throw .backend(name: "libgcrypt", operation: function, reason: reason)
    }
}
