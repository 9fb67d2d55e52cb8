import Glibc
public import RandomAccess

/// AES from the Linux kernel, through sockets of the family AF_ALG.
///
/// Every call copies its input into the kernel, and the kernel writes the output back. Users of AF_ALG get exactly
/// this, so the backend measures it.
///
/// - Source: userspace-if.rst of the Linux kernel (Documentation/crypto).
public struct KernelCrypto: CipherBackend {
    /// `af-alg`
    public let name = "af-alg"
    /// The ciphers that the kernel has and this backend uses.
    public let ciphers: [CipherSupport]
    /// The kernel's release, such as `6.1.0-9-amd64`. The corresponding C function is `uname`.
    public let version: String
    /// The CPU features of the kernel's preferred drivers for the ciphers.
    public let cpuFeatures: [String]

    /// Looks up the ciphers. The kernel loads their modules, if it has them.
    ///
    /// - Throws: `DecryptionError.unavailable` if the kernel has no such sockets, or none of the ciphers.
    public init() throws(DecryptionError) {
        var found: [Cipher] = []
        var reason = "none"
        for cipher in Cipher.streaming {
            do throws(DecryptionError) {
                _ = try AlgorithmSocket(cipher: Self.name(of: cipher))
                found.append(cipher)
            } catch {
                reason = "\(error)"
            }
        }
        guard !found.isEmpty else {
            throw .unavailable(
                backend: name, reason: reason,
                expected: "a Linux kernel with CONFIG_CRYPTO_USER_API_SKCIPHER, and permission to use it")
        }
        self.ciphers = found.map { CipherSupport($0) }
        self.version = Self.kernelRelease()
        self.cpuFeatures = KernelDrivers.ofThisMachine().features(for: found.map(Self.name(of:)))
    }

    /// Returns a context for one cipher, direction and key. It owns two file descriptors.
    public func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        let support = try support(of: cipher, key: key)
        let algorithm = try AlgorithmSocket(cipher: Self.name(of: cipher))
        try algorithm.setKey(key)
        return KernelContext(support, direction, socket: try OperationSocket(of: algorithm))
    }

    /// Returns the kernel's name for a cipher.
    static func name(of cipher: Cipher) -> String { "\(cipher.mode)(aes)" }

    private static func kernelRelease() -> String {
        var names = utsname()
        guard uname(&names) == 0 else { return "unknown" }
        return withUnsafeBytes(of: &names.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// The cipher drivers that the kernel lists; for each cipher, it uses the one with the highest priority.
///
/// - Source: proc(5), `/proc/crypto`.
struct KernelDrivers {
    private struct Driver {
        var cipher = ""
        var name = ""
        var priority = 0
    }

    private let drivers: [Driver]

    /// Parses a list such as `/proc/crypto`: lines `name : value` for each entry, and an empty line after it.
    init(lines: [String]) {
        var drivers: [Driver] = []
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1).map { part in
                part.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            guard parts.count == 2 else { continue }
            if parts[0] == "name" { drivers.append(Driver(cipher: parts[1])) }
            guard let last = drivers.indices.last else { continue }
            if parts[0] == "driver" { drivers[last].name = parts[1] }
            if parts[0] == "priority" { drivers[last].priority = Int(parts[1]) ?? 0 }
        }
        self.drivers = drivers
    }

    /// Returns the list of this machine; empty if it cannot be read.
    static func ofThisMachine() -> KernelDrivers {
        guard let file = fopen("/proc/crypto", "re") else { return KernelDrivers(lines: []) }
        defer { fclose(file) }
        var lines: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let start = line { lines.append(String(cString: start)) }
        return KernelDrivers(lines: lines)
    }

    /// Returns the CPU features in the names of the preferred drivers of some ciphers, such as `aes` for
    /// `cbc-aes-aesni`.
    func features(for ciphers: [String]) -> [String] {
        var features: [String] = []
        for cipher in ciphers {
            let preferred = drivers.filter { $0.cipher == cipher }.max { $0.priority < $1.priority }
            for (part, feature) in [("vaes", "vaes"), ("aesni", "aes"), ("aes-ce", "aes"), ("neon", "asimd")]
            where preferred?.name.contains(part) == true && !features.contains(feature) {
                features.append(feature)
            }
        }
        return features
    }
}
