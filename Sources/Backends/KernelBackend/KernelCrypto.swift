import Glibc
public import RandomAccess

/// AES from the Linux kernel, through sockets of the family AF_ALG.
///
/// Every call copies its input into the kernel, which writes the output back: that is what a user of AF_ALG gets, and so
/// it is what is measured.
///
/// - Source: userspace-if.rst of the Linux kernel (Documentation/crypto).
public struct KernelCrypto: CipherBackend {
    /// `af-alg`
    public let name = "af-alg"
    /// The AES key lengths in bytes.
    public let keyByteCounts = [16, 24, 32]
    /// The modes that the kernel has.
    public let modes: [CipherMode]
    /// The kernel's release, such as `6.1.0-9-amd64`. The corresponding C function is `uname`.
    public let version: String
    /// The CPU features of the drivers that the kernel prefers for the modes.
    public let cpuFeatures: [String]

    /// Asks the kernel for the ciphers; it loads the modules they are in, if it has them.
    ///
    /// - Throws: `DecryptionError.unavailable` if the kernel has no such sockets or neither cipher.
    public init() throws(DecryptionError) {
        var found: [CipherMode] = []
        var reason = "none"
        for mode in CipherMode.streaming {
            do throws(DecryptionError) {
                _ = try AlgorithmSocket(cipher: Self.cipher(mode))
                found.append(mode)
            } catch {
                reason = "\(error)"
            }
        }
        guard !found.isEmpty else {
            throw .unavailable(
                backend: name, reason: reason,
                expected: "a Linux kernel with CONFIG_CRYPTO_USER_API_SKCIPHER, and permission to use it")
        }
        self.modes = found
        self.version = Self.kernelRelease()
        self.cpuFeatures = KernelDrivers.ofThisMachine().features(for: found.map(Self.cipher))
    }

    /// Makes a context for one key, mode and direction. It owns two file descriptors.
    public func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        guard modes.contains(mode) else { throw .unsupported("\(Self.cipher(mode)) in this kernel") }
        let algorithm = try AlgorithmSocket(cipher: Self.cipher(mode))
        try algorithm.setKey(key)
        return KernelContext(mode: mode, direction: direction, socket: try OperationSocket(of: algorithm))
    }

    /// The kernel's name for AES in a mode.
    static func cipher(_ mode: CipherMode) -> String { "\(mode.rawValue)(aes)" }

    private static func kernelRelease() -> String {
        var names = utsname()
        guard uname(&names) == 0 else { return "unknown" }
        return withUnsafeBytes(of: &names.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
