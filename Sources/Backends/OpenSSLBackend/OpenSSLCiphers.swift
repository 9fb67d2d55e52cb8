internal import COpenSSL
internal import RandomAccess

/// The fetched `EVP_CIPHER` handles: fetching looks through providers and is far too slow for every context.
final class OpenSSLCiphers: @unchecked Sendable {
    // Immutable after `init`; EVP_CIPHER objects are reference-counted and may be shared between threads.
    private let handles: [String: OpaquePointer]

    init() throws(DecryptionError) {
        var handles: [String: OpaquePointer] = [:]
        for keyByteCount in [16, 24, 32] {
            for mode in CipherMode.allCases {
                let name = Self.name(mode: mode, keyByteCount: keyByteCount)
                handles[name] = EVP_CIPHER_fetch(nil, name, nil)
            }
        }
        self.handles = handles
        if handles.isEmpty { throw OpenSSLFailure.error(in: "EVP_CIPHER_fetch") }
    }

    deinit {
        for handle in handles.values { EVP_CIPHER_free(handle) }
    }

    func cipher(mode: CipherMode, keyByteCount: Int) throws(DecryptionError) -> OpaquePointer {
        let name = Self.name(mode: mode, keyByteCount: keyByteCount)
        guard let handle = handles[name] else { throw .unsupported("\(name) in this OpenSSL") }
        return handle
    }

    private static func name(mode: CipherMode, keyByteCount: Int) -> String {
        "AES-\(keyByteCount * 8)-\(mode.rawValue.uppercased())"
    }
}
