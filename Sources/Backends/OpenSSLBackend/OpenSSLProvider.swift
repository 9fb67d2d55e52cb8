import COpenSSL
import RandomAccess

/// A provider in its own library context, so that no other provider answers.
///
/// - Source: OSSL_PROVIDER(3), property(7).
final class OpenSSLProvider: @unchecked Sendable {
    // Immutable after `init`; threads may share both.
    let context: OpaquePointer
    private let handle: OpaquePointer
    private let name: String
    /// The properties for fetching a cipher.
    let query: String

    /// Loads a provider.
    ///
    /// - Throws: `DecryptionError.unavailable` if it cannot be loaded.
    init(_ text: String) throws(DecryptionError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        name = parts[0]
        query = (["provider=\(name)"] + parts.dropFirst().filter { !$0.isEmpty }).joined(separator: ",")
        guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) })
        else {
            throw .unsupported("provider \"\(text)\": expected NAME or NAME:PROPERTIES, of letters, digits, - _ and .")
        }
        guard let context = OSSL_LIB_CTX_new() else { throw OpenSSLFailure.error(in: "OSSL_LIB_CTX_new") }
        guard let handle = OSSL_PROVIDER_load(context, name) else {
            let reason = "\(OpenSSLFailure.error(in: "OSSL_PROVIDER_load"))"
            OSSL_LIB_CTX_free(context)
            throw .unavailable(
                backend: OpenSSL.providerPrefix + text, reason: reason,
                expected: "\(name).so in OpenSSL's folder for modules, or in $OPENSSL_MODULES")
        }
        (self.context, self.handle) = (context, handle)
    }

    deinit {
        OSSL_PROVIDER_unload(handle)
        OSSL_LIB_CTX_free(context)
    }

    /// The version that the provider reports, behind its name.
    var version: String {
        // OSSL_PROV_PARAM_VERSION of openssl/core_names.h.
        var text: UnsafeMutablePointer<CChar>?
        var parameters = [OSSL_PARAM_construct_utf8_ptr("version", &text, 0), OSSL_PARAM_construct_end()]
        guard OSSL_PROVIDER_get_params(handle, &parameters) == 1, let text else { return name }
        return "\(name) \(String(cString: text))"
    }

    /// Refuses a cipher of another provider.
    func requireOwn(_ cipher: OpaquePointer) throws(DecryptionError) {
        let own = EVP_CIPHER_get0_provider(cipher).flatMap(OSSL_PROVIDER_get0_name).map { String(cString: $0) }
        guard own == name else {
            throw .unavailable(
                backend: OpenSSL.providerPrefix + name, reason: "provider \(own ?? "unknown") answers instead",
                expected: "ciphers of \(name)")
        }
    }

    /// Returns the error of a provider without ciphers.
    func noCiphers() -> DecryptionError {
        .unavailable(
            backend: OpenSSL.providerPrefix + name,
            reason:
                "it has none of AES-CBC, AES-CTR, AES-GCM, AES-OCB, ChaCha20-Poly1305 and AES-XTS with \(query)",
            expected: "one of them")
    }
}
