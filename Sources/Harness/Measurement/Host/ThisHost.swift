import Glibc
package import Results
import Support

/// The machine that this process runs on.
package enum ThisHost {
    /// Describes the machine.
    package static func describe() -> RunHeader.Host {
        let cpu = ProcFile.lines("/proc/cpuinfo")
        var host = RunHeader.Host(
            name: name, cpuModel: field("model name", in: cpu) ?? field("CPU part", in: cpu) ?? "unknown",
            cpuCount: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))),
            cpuFlags: flags(in: cpu),
            memoryByteCount: UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES))))
                * UInt64(max(0, sysconf(Int32(_SC_PAGESIZE)))),
            kernel: kernel, cacheByteCounts: caches, transparentHugePages: hugePages,
            frequencyGovernor: ProcFile.line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            isTurboOn: isTurboOn)
        host.nodeName = variable("SLURMD_NODENAME") ?? variable("NODE_NAME")
        host.bootID = ProcFile.line("/proc/sys/kernel/random/boot_id")
        // machine-id(5): the identifier is confidential, but a keyed digest of it is not.
        host.machineID = ProcFile.line("/etc/machine-id").map {
            String(Hexadecimal.encode(SHAFunction.sha256.mac(key: Array("chunkwise".utf8), Array($0.utf8))).prefix(16))
        }
        host.microcode = field("microcode", in: cpu)
        let cpus = CPUSet.own
        (host.cpuset, host.cpusetCount, host.cpuKind) = (cpus?.description, cpus?.cpus.count, cpus?.kind())
        return host
    }

    /// The value of an environment variable; `nil` if it is not set or empty. The corresponding C function is `getenv`.
    package static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The host's name. The corresponding C function is `gethostname`.
    package static var name: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unknown" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static var kernel: String {
        let type = ProcFile.line("/proc/sys/kernel/ostype") ?? "unknown"
        return [type, ProcFile.line("/proc/sys/kernel/osrelease") ?? ""].joined(separator: " ")
    }

    private static func field(_ name: String, in cpu: [String]) -> String? {
        guard let line = cpu.first(where: { $0.hasPrefix(name) }), let colon = line.firstIndex(of: ":") else {
            return nil
        }
        let value = line[line.index(after: colon)...].split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return value.isEmpty ? nil : value
    }

    private static func flags(in cpu: [String]) -> [String] {
        let relevant = [
            "ssse3", "aes", "pclmulqdq", "avx", "avx2", "avx512f", "vaes", "vpclmulqdq", "gfni", "sha_ni", "asimd",
            "pmull",
            "sha2",
        ]
        let found = (field("flags", in: cpu) ?? field("Features", in: cpu) ?? "").split(separator: " ").map(String.init)
        return relevant.filter(found.contains)
    }

    /// The data caches of the first CPU, smallest first.
    static var caches: [UInt64] {
        (0..<8).compactMap { index -> UInt64? in
            let folder = "/sys/devices/system/cpu/cpu0/cache/index\(index)/"
            guard let type = ProcFile.line(folder + "type"), type != "Instruction",
                let size = ProcFile.line(folder + "size")
            else { return nil }
            // "48K", where K is 1024.
            return ByteSize(size.last?.isLetter == true ? size + "iB" : size)?.byteCount
        }.sorted()
    }

    /// The state from the CPU's frequency driver. The values of the two files have opposite meanings.
    private static var isTurboOn: Bool? {
        if let off = ProcFile.line("/sys/devices/system/cpu/intel_pstate/no_turbo") { return off == "0" }
        return ProcFile.line("/sys/devices/system/cpu/cpufreq/boost").map { $0 == "1" }
    }

    /// The choice in brackets of "always [madvise] never".
    private static var hugePages: String? {
        let line = ProcFile.line("/sys/kernel/mm/transparent_hugepage/enabled") ?? ""
        return line.split(separator: " ").first { $0.hasPrefix("[") }.map { String($0.dropFirst().dropLast()) }
    }
}

/// Small text files that the kernel generates when they are read.
enum ProcFile {
    /// The file's lines; empty if it cannot be read.
    static func lines(_ path: String) -> [String] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var text: [UInt8] = []
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
            while case let count = fread(buffer.baseAddress, 1, buffer.count, file), count > 0 {
                text.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The file's first line, or `nil`.
    static func line(_ path: String) -> String? {
        lines(path).first
    }
}
