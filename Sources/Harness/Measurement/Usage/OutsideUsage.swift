import Glibc
import Results
import SystemPackage

/// What other processes used, for subjects that do not report on themselves.
///
/// CPU time comes in ticks of the clock, mostly 10 ms. Context switches are those of threads that are still there.
/// Source: proc_pid_stat(5), proc_pid_status(5).
enum OutsideUsage {
    /// What a process and those that it started have used since they began; `nil` if it is gone.
    static func now(of processID: Int32) -> ProcessUsage? {
        let members = ProcessTree.members(of: processID).map(one)
        guard let first = members.first else { return nil }
        return members.dropFirst().reduce(first) { sum, next in
            guard let sum, let next else { return nil }
            return sum + next
        }
    }

    private static func one(_ processID: Int32) -> ProcessUsage? {
        // The name, in parentheses, may hold anything; after it comes field 3.
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
        for thread in RunFolder.names(in: FilePath("/proc/\(processID)/task")) where Int32(thread) != nil {
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
