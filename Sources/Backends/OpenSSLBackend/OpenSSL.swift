internal import COpenSSL
public import RandomAccess

/// AES from OpenSSL's libcrypto, through EVP.
public struct OpenSSL: CipherBackend {
    /// `openssl`
    public let name = "openssl"
    /// The AES key lengths in bytes.
    public let keyByteCounts = [16, 24, 32]
    /// The modes offered.
    public let modes: [CipherMode] = [.cbc, .ctr, .gcm]

    private let ciphers: OpenSSLCiphers

    /// Fetches the ciphers, once for all contexts.
    ///
    /// - Throws: `DecryptionError.backend` if the library offers none of them.
    public init() throws(DecryptionError) {
        self.ciphers = try OpenSSLCiphers()
    }

    /// The library's version, such as `3.0.19`. The corresponding C function is `OpenSSL_version`.
    public var version: String {
        OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? "unknown"
    }

    /// The CPU features that the library's AES uses, as left over by `OPENSSL_ia32cap`.
    ///
    /// The corresponding C function is `OPENSSL_info`.
    public var cpuFeatures: [String] {
        OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS).map { OpenSSLCPUSettings(String(cString: $0)).featuresForAES } ?? []
    }

    /// Makes a context for one key, mode and direction.
    public func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        guard mode != .gcm else { throw .unsupported("GCM without chunks") }
        let cipher = try ciphers.cipher(mode: mode, keyByteCount: key.byteCount)
        return try OpenSSLContext(cipher: cipher, mode: mode, direction: direction, key: key)
    }

    /// Makes a context that opens or seals chunks with AES-GCM.
    public func makeChunkContext(
        direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any ChunkContext {
        let cipher = try ciphers.cipher(mode: .gcm, keyByteCount: key.byteCount)
        return try OpenSSLChunkContext(cipher: cipher, direction: direction, key: key)
    }
}
