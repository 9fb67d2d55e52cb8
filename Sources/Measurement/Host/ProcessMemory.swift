#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The resident memory of a process, seen from outside. Source: proc(5).
///
/// Never `ru_maxrss`: it inherits the peak of the process that started this one.
package enum ProcessMemory {
    /// Sets the high-water mark of a process to what it holds now.
    ///
    /// - Returns: Whether the kernel did it; it needs `CONFIG_PROC_PAGE_MONITOR`, and a process of the same user.
    static func resetPeak(of processID: Int32) -> Bool {
        guard let file = fopen("/proc/\(processID)/clear_refs", "we") else { return false }
        let isWritten = fputs("5", file) >= 0
        return fclose(file) == 0 && isWritten
    }

    /// The high-water mark of a process's resident memory in bytes, `VmHWM`.
    static func peakByteCount(of processID: Int32) -> UInt64? {
        value("VmHWM", of: "\(processID)")
    }

    /// A process's resident memory in bytes, `VmRSS`.
    static func residentByteCount(of processID: Int32) -> UInt64? {
        value("VmRSS", of: "\(processID)")
    }

    /// The high-water mark of this process's resident memory in bytes.
    package static var ownPeakByteCount: UInt64? { value("VmHWM", of: "self") }

    private static func value(_ name: String, of process: String) -> UInt64? {
        for line in ProcFile.lines("/proc/\(process)/status") where line.hasPrefix(name + ":") {
            // "VmHWM:	    6260 kB"; the kernel's kB are KiB.
            let fields = line.split(whereSeparator: \.isWhitespace)
            return fields.count > 1 ? UInt64(fields[1]).map { $0 * 1024 } : nil
        }
        return nil
    }
}
