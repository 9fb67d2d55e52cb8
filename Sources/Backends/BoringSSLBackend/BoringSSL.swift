#if BoringSSL
public import RandomAccess

/// AES from the BoringSSL that swift-crypto carries, through swift-crypto's public functions.
///
/// These take a whole message and return a new one: each call makes the key schedule anew and copies the result. That
/// is what a user of swift-crypto gets, and so it is what is measured.
public struct BoringSSL: CipherBackend {
    /// `boringssl`
    public let name = "boringssl"
    /// The AES key lengths in bytes.
    public let keyByteCounts = [16, 24, 32]
    /// The modes offered.
    public let modes: [CipherMode] = [.cbc, .ctr, .gcm]
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

    /// Makes a context for one key, mode and direction.
    public func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        guard mode != .gcm else { throw .unsupported("GCM without chunks") }
        return BoringSSLContext(mode: mode, direction: direction, key: key)
    }

    /// Makes a context that opens or seals chunks with AES-GCM.
    public func makeChunkContext(
        direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any ChunkContext {
        BoringSSLChunkContext(direction: direction, key: key)
    }
}
#endif
