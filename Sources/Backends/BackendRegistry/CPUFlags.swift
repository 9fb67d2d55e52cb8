import Glibc

/// The CPU's features by the kernel's names.
package enum CPUFlags {
    /// Returns the flags of the first CPU in `/proc/cpuinfo`; empty if that file does not exist.
    package static func ofThisMachine() -> [String] {
        guard let file = fopen("/proc/cpuinfo", "re") else { return [] }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let start = line {
            let text = String(cString: start)
            // The name is "flags" on x86 and "Features" on Arm.
            if text.hasPrefix("flags") || text.hasPrefix("Features") {
                return text.split(separator: ":").last?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
            }
        }
        return []
    }
}
