import Glibc

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

    /// What a process holds now, and has held; `nil` where the kernel does not tell.
    static func resident(of processID: Int32) -> ResidentMemory? {
        var members: [Substring: UInt64] = [:]
        for line in ProcFile.lines("/proc/\(processID)/status") {
            guard line.hasSuffix(" kB"), let colon = line.firstIndex(of: ":") else { continue }
            members[line[..<colon]] = byteCount(line)
        }
        guard let resident = members["VmRSS"], let peak = members["VmHWM"], let anonymous = members["RssAnon"] else {
            return nil
        }
        return ResidentMemory(
            byteCount: resident, peakByteCount: peak, anonymousByteCount: anonymous,
            fileByteCount: (members["RssFile"] ?? 0) + (members["RssShmem"] ?? 0))
    }

    private static func value(_ name: String, of process: String) -> UInt64? {
        ProcFile.lines("/proc/\(process)/status").first { $0.hasPrefix(name + ":") }.flatMap(byteCount)
    }

    /// Reads "VmHWM:	    6260 kB"; the kernel's kB are KiB.
    private static func byteCount(_ line: String) -> UInt64? {
        let fields = line.split(whereSeparator: \.isWhitespace)
        return fields.count > 1 ? UInt64(fields[1]).map { $0 * 1024 } : nil
    }
}

/// Resident memory in bytes, as proc(5) has it in `status`.
struct ResidentMemory: Hashable, Sendable {
    /// All of it, `VmRSS`.
    var byteCount: UInt64
    /// The most of it since the mark was reset, `VmHWM`.
    var peakByteCount: UInt64
    /// What belongs to no file, `RssAnon`.
    var anonymousByteCount: UInt64
    /// Pages of files, code among them, and shared memory, `RssFile` and `RssShmem`.
    var fileByteCount: UInt64
}
