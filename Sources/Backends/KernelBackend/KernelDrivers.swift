import Glibc

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
