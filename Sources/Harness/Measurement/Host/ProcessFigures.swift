import ByteSources
import Glibc
package import Results
import Support
import SystemPackage

/// The resident memory of a process, measured from outside. Source: proc(5).
///
/// This is never `ru_maxrss`, which inherits the peak of the parent process.
package enum ProcessMemory {
    /// Resets the high-water mark of a process to its current memory.
    ///
    /// - Returns: Whether the kernel did it. It needs `CONFIG_PROC_PAGE_MONITOR`, and a process of the same user.
    static func resetPeak(of processID: Int32) -> Bool {
        guard let file = fopen("/proc/\(processID)/clear_refs", "we") else { return false }
        let isWritten = fputs("5", file) >= 0
        return fclose(file) == 0 && isWritten
    }

    /// The current and peak memory of a process; `nil` if the kernel does not report it.
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

    /// Parses "VmHWM:	    6260 kB". The kernel's kB are KiB.
    private static func byteCount(_ line: String) -> UInt64? {
        let fields = line.split(whereSeparator: \.isWhitespace)
        return fields.count > 1 ? UInt64(fields[1]).map { $0 * 1024 } : nil
    }
}

/// Resident memory in bytes, from `status` in proc(5).
struct ResidentMemory: Hashable, Sendable {
    /// All resident memory, `VmRSS`.
    var byteCount: UInt64
    /// The maximum since the last reset, `VmHWM`.
    var peakByteCount: UInt64
    /// Memory without a file, `RssAnon`.
    var anonymousByteCount: UInt64
    /// Pages of files, including code, and shared memory, `RssFile` and `RssShmem`.
    var fileByteCount: UInt64
}

/// The resource usage of other processes, for subjects that do not report their own.
///
/// CPU time comes in clock ticks, usually 10 ms. Context switches are those of threads that still exist.
/// Source: proc_pid_stat(5), proc_pid_status(5).
package enum OutsideUsage {
    /// The usage of a process and its descendants since their start; `nil` if the process no longer exists.
    package static func now(of processID: Int32) -> ProcessUsage? {
        let members = ProcessTree.members(of: processID).map(one)
        guard let first = members.first else { return nil }
        return members.dropFirst().reduce(first) { sum, next in
            guard let sum, let next else { return nil }
            return sum + next
        }
    }

    private static func one(_ processID: Int32) -> ProcessUsage? {
        // The name in parentheses may have any characters. Field 3 comes after it.
        guard let line = ProcFile.line("/proc/\(processID)/stat"), let name = line.lastIndex(of: ")") else {
            return nil
        }
        let fields = line[line.index(after: name)...].split(separator: " ").map { UInt64($0) }
        let ticks = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        guard fields.count > 12, let minor = fields[7], let major = fields[9], let user = fields[11],
            let system = fields[12]
        else { return nil }
        let switches = switches(processID)
        return ProcessUsage(
            userNanoseconds: user &* (1_000_000_000 / ticks), systemNanoseconds: system &* (1_000_000_000 / ticks),
            minorFaults: minor, majorFaults: major, voluntarySwitches: switches?.voluntary,
            involuntarySwitches: switches?.involuntary)
    }

    private static func switches(_ processID: Int32) -> (voluntary: UInt64, involuntary: UInt64)? {
        var sums: (UInt64, UInt64) = (0, 0)
        for thread in ((try? Folder.entries(in: "/proc/\(processID)/task")) ?? []).map(\.name) {
            for line in ProcFile.lines("/proc/\(processID)/task/\(thread)/status") {
                let fields = line.split(whereSeparator: \.isWhitespace)
                guard fields.count == 2, let count = UInt64(fields[1]) else { continue }
                if fields[0] == "voluntary_ctxt_switches:" { sums.0 += count }
                if fields[0] == "nonvoluntary_ctxt_switches:" { sums.1 += count }
            }
        }
        return sums == (0, 0) ? nil : (sums.0, sums.1)
    }
}

extension ProcessUsage {
    /// Parses the member `usage` of an answer. Returns `nil` if it is not valid.
    init?(_ json: JSONValue?) {
        guard let user = json?["userNanoseconds"]?.integer, let system = json?["systemNanoseconds"]?.integer,
            let minor = json?["minorFaults"]?.integer, let major = json?["majorFaults"]?.integer
        else { return nil }
        self.init(
            userNanoseconds: user, systemNanoseconds: system, minorFaults: minor, majorFaults: major,
            voluntarySwitches: json?["voluntarySwitches"]?.integer,
            involuntarySwitches: json?["involuntarySwitches"]?.integer,
            instructions: json?["instructions"]?.integer, cycles: json?["cycles"]?.integer)
    }
}

/// A process with its descendants. A subject may be a shell that waits for the program.
enum ProcessTree {
    /// The process IDs of a process and its descendants, parents before children.
    ///
    /// Without `CONFIG_PROC_CHILDREN` in the kernel, these are only the process itself. Source: proc_tid_children(5).
    static func members(of processID: Int32) -> [Int32] {
        var members = [processID]
        var index = 0
        while index < members.count {
            let member = members[index]
            let children = ProcFile.line("/proc/\(member)/task/\(member)/children") ?? ""
            members += children.split(separator: " ").compactMap { Int32($0) }.filter { !members.contains($0) }
            index += 1
        }
        return members
    }
}
