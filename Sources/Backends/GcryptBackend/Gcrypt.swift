internal import CGcrypt
public import RandomAccess

/// AES from libgcrypt.
public struct Gcrypt: CipherBackend {
    /// `libgcrypt`
    public let name = "libgcrypt"
    /// The AES key lengths in bytes.
    public let keyByteCounts = [16, 24, 32]
    /// The modes offered.
    public let modes: [CipherMode] = [.cbc, .ctr, .gcm]
    /// The library's version, such as `1.10.1`.
    public let version: String

    /// Initialises the library, once for the process.
    ///
    /// - Throws: `DecryptionError.backend` if the installed library is older than the one this was built with.
    public init() throws(DecryptionError) {
        self.version = try GcryptLibrary.initialize()
    }

    /// The CPU features for AES that the library found and was not told to leave alone.
    ///
    /// The corresponding C function is `gcry_get_config` with `hwflist`.
    public var cpuFeatures: [String] {
        guard let text = gcry_get_config(0, "hwflist") else { return [] }
        defer { gcry_free(text) }
        // "hwflist:intel-cpu:intel-aesni:…:\n"
        let names = String(cString: text).split(whereSeparator: { ":\n".contains($0) }).dropFirst().map(String.init)
        let units = ["aesni", "vaes", "padlock", "arm-aes", "ppc-vcrypto", "s390x-msa"]
        let used = names.filter { name in units.contains { name.contains($0) } }
        // Without an AES unit: vector permutation.
        return used.isEmpty ? names.filter { $0.contains("ssse3") } : used
    }

    /// Makes a context for one key, mode and direction.
    public func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        guard mode != .gcm else { throw .unsupported("GCM without chunks") }
        return try GcryptContext(mode: mode, direction: direction, key: key)
    }

    /// Makes a context that opens or seals chunks with AES-GCM.
    public func makeChunkContext(
        direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any ChunkContext {
        try GcryptChunkContext(direction: direction, key: key)
    }
}
