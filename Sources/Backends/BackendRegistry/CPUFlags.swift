import Glibc

/// The CPU's features as the kernel names them.
package enum CPUFlags {
    /// The flags of the first CPU in `/proc/cpuinfo`; empty where that file is not there.
    package static func ofThisMachine() -> [String] {
        guard let file = fopen("/proc/cpuinfo", "re") else { return [] }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let start = line {
            let text = String(cString: start)
            // "flags" on x86, "Features" on Arm.
            if text.hasPrefix("flags") || text.hasPrefix("Features") {
                return text.split(separator: ":").last?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
            }
        }
        return []
    }
}
