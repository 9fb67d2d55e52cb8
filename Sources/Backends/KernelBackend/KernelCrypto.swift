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

/// The cipher drivers that the kernel lists; for each cipher it takes the one with the highest priority.
///
/// - Source: proc(5), `/proc/crypto`.
struct KernelDrivers {
    private struct Driver {
        var cipher = ""
        var name = ""
        var priority = 0
    }

    private let drivers: [Driver]

    /// Reads a list such as `/proc/crypto`: an entry's lines `name : value`, and an empty line after each entry.
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

    /// The list of this machine; empty where it cannot be read.
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

    /// The CPU features by which the preferred drivers of some ciphers are named, such as `aes` for `cbc-aes-aesni`.
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
