import COpenSSL
public import RandomAccess

/// AES and ChaCha20-Poly1305 from OpenSSL's libcrypto, through EVP.
public struct OpenSSL: CipherBackend {
    /// `openssl`; with a provider, `openssl:provider=` and the requested provider.
    public let name: String
    /// The ciphers offered; with a provider, those that it has.
    public let ciphers: [CipherSupport]

    /// The hash functions with HMAC; empty with a provider, since HMAC would not come from it.
    public let hmacFunctions: [HashFunction]

    private let handles: OpenSSLCiphers

    /// Fetches the ciphers once, for all contexts.
    ///
    /// - Throws: `DecryptionError.backend` if the library offers none of them.
    public init() throws(DecryptionError) {
        handles = try OpenSSLCiphers()
        (name, ciphers, providerVersion) = ("openssl", handles.offered, nil)
        hmacFunctions = HashFunction.allCases
    }

    /// The prefix of provider names.
    package static let providerPrefix = "openssl:provider="

    /// Loads a provider into its own library context, and fetches ciphers from this provider only.
    ///
    /// - Parameter text: The provider's name for `OSSL_PROVIDER_load`, and optional properties behind a colon, as in
    ///   `fips:fips=yes`.
    /// - Throws: `DecryptionError.unavailable` if it cannot be loaded, or has none of the ciphers.
    package init(provider text: String) throws(DecryptionError) {
        let provider = try OpenSSLProvider(text)
        handles = try OpenSSLCiphers(provider: provider)
        (name, ciphers, providerVersion) = (Self.providerPrefix + text, handles.offered, provider.version)
        hmacFunctions = []
    }

    private let providerVersion: String?

    /// The library's version, such as `3.0.19`. The corresponding C function is `OpenSSL_version`.
    public var version: String {
        let version = OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? "unknown"
        return providerVersion.map { "\(version), provider \($0)" } ?? version
    }

    /// The CPU features that the library's AES uses, subject to `OPENSSL_ia32cap`.
    ///
    /// The corresponding C function is `OPENSSL_info`.
    public var cpuFeatures: [String] {
        OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS).map { OpenSSLCPUSettings(String(cString: $0)).featuresForAES } ?? []
    }

    /// Returns a context for one cipher, direction and key.
    public func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        let support = try support(of: cipher, key: key)
        return try OpenSSLContext(
            handles.handle(cipher, keyByteCount: key.byteCount), support, direction, key: key)
    }

    /// Returns a context for HMAC with a hash function, under a key of any length.
    public func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        guard hmacFunctions.contains(function) else {
            throw .unsupported("hmac with \(function.rawValue) in \(nameAndVersion)")
        }
        return try OpenSSLMAC(function, key: key)
    }
}

/// Turns OpenSSL's return codes into errors.
package enum OpenSSLFailure {
    /// Checks the result of a function that returns 1 for success.
    package static func check(_ result: Int32, in function: String) throws(DecryptionError) {
        guard result == 1 else { throw error(in: function) }
    }

    /// Returns the newest error of this thread's queue, and empties the queue.
    ///
    /// The corresponding C functions are `ERR_peek_last_error`, `ERR_reason_error_string` and `ERR_clear_error`.
    package static func error(in function: String) -> DecryptionError {
        let code = ERR_peek_last_error()
        let reason = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
        ERR_clear_error()
        return .backend(name: "openssl", operation: function, reason: reason)
    }
}

/// The CPU features that OpenSSL reports, decoded.
///
/// - Source: OPENSSL_ia32cap(3): the first vector is CPUID.1, with EDX in its lower half and ECX in its upper one, so
///   that bit 41 is SSSE3 and bit 57 AES-NI.
struct OpenSSLCPUSettings {
    private let vectors: [UInt64]
    private let text: String

    /// Parses a setting such as `OPENSSL_ia32cap=0x7ffaf3ffffebffff:0x18405f5ef1bf27ab`.
    init(_ setting: String) {
        self.text = setting
        // The user's masks follow as " env:…"; the value before them is in force.
        let value = setting.split(separator: "=").last?.split(separator: " ").first ?? ""
        self.vectors = value.split(separator: ":").map { part in
            UInt64(part.hasPrefix("0x") ? part.dropFirst(2) : part, radix: 16) ?? 0
        }
    }

    /// The features that libcrypto's AES-CBC and AES-CTR code uses: AES-NI, or otherwise vector permutation with SSSE3.
    ///
    /// Newer features that libcrypto detects, such as VAES, are for other modes.
    var featuresForAES: [String] {
        guard text.contains("ia32cap"), let first = vectors.first else { return armFeatures }
        if first >> 57 & 1 == 1 { return ["aes"] }
        return first >> 41 & 1 == 1 ? ["ssse3"] : []
    }

    /// Source: arm_arch.h of OpenSSL (`ARMV7_NEON` 1 << 0, `ARMV8_AES` 1 << 2).
    private var armFeatures: [String] {
        guard text.contains("armcap"), let first = vectors.first else { return [] }
        if first >> 2 & 1 == 1 { return ["aes"] }
        return first & 1 == 1 ? ["neon"] : []
    }
}

/// The fetched `EVP_CIPHER` handles: fetching searches the providers, and is far too slow for every context.
final class OpenSSLCiphers: @unchecked Sendable {
    // Immutable after `init`; EVP_CIPHER objects are reference-counted and may be shared between threads.
    private let handles: [String: OpaquePointer]
    // Unloaded after its ciphers are freed.
    private let provider: OpenSSLProvider?

    init(provider: OpenSSLProvider? = nil) throws(DecryptionError) {
        var handles: [String: OpaquePointer] = [:]
        // SIV of empty messages is our own code here, so a provider's SIV would be a mixture.
        for cipher in Self.known where provider == nil || cipher != .aesSIV {
            for keyByteCount in cipher.keyByteCounts {
                let name = Self.name(cipher, keyByteCount: keyByteCount)
                guard let handle = EVP_CIPHER_fetch(provider?.context, name, provider?.query) else { continue }
                try provider?.requireOwn(handle)
                handles[name] = handle
            }
        }
        (self.handles, self.provider) = (handles, provider)
        if handles.isEmpty { throw provider?.noCiphers() ?? OpenSSLFailure.error(in: "EVP_CIPHER_fetch") }
    }

    deinit {
        for handle in handles.values { EVP_CIPHER_free(handle) }
    }

    /// The ciphers that were found. Source: `GCM_IV_MAX_SIZE` of OpenSSL's `ciphercommon_gcm.h`, 1024 bits.
    var offered: [CipherSupport] {
        Self.known.compactMap { cipher in
            let keyByteCounts = cipher.keyByteCounts.filter { handles[Self.name(cipher, keyByteCount: $0)] != nil }
            return keyByteCounts.isEmpty
                ? nil
                : CipherSupport(
                    cipher, keyByteCounts: keyByteCounts,
                    nonceByteCounts: cipher == .aesGCM ? 1...128 : cipher.nonceByteCounts)
        }
    }

    func handle(_ cipher: Cipher, keyByteCount: Int) throws(DecryptionError) -> OpaquePointer {
        let name = Self.name(cipher, keyByteCount: keyByteCount)
        guard let handle = handles[name] else { throw .unsupported("\(name) in this OpenSSL") }
        return handle
    }

    /// The ciphers to fetch.
    private static let known: [Cipher] = [
        .aesCBC, .aesCTR, .aesGCM, .chaCha20Poly1305, .aesXTS, .aesOCB, .aesSIV,
    ]

    private static func name(_ cipher: Cipher, keyByteCount: Int) -> String {
        switch cipher {
        case .chaCha20Poly1305: "ChaCha20-Poly1305"
        default: "AES-\(keyByteCount * (cipher.hasTwoKeys ? 4 : 8))-\(cipher.mode.uppercased())"
        }
    }
}
