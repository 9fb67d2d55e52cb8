import CLinux
import Glibc

/// CPUs by their numbers, as the kernel lists them: `0-3,8`.
package struct CPUSet: Hashable, Sendable, CustomStringConvertible {
    /// The numbers, in ascending order; at least one.
    package let cpus: [Int]

    /// Creates a set, or `nil` of no CPUs.
    package init?(_ cpus: some Sequence<Int>) {
        self.cpus = Set(cpus).sorted()
        if self.cpus.isEmpty { return nil }
    }

    /// Reads the kernel's form, or returns `nil` for anything else.
    package init?(_ text: String) {
        var cpus: [Int] = []
        for part in text.split(separator: ",") {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard let first = ends[0], let last = ends.count == 1 ? first : ends[1], ends.count < 3,
                (0...last).contains(first), last < 1 << 16
            else { return nil }
            cpus += first...last
        }
        self.init(cpus)
    }

    /// The kernel's form.
    package var description: String {
        var ranges: [ClosedRange<Int>] = []
        for cpu in cpus {
            if let last = ranges.last, last.upperBound == cpu - 1 {
                ranges[ranges.count - 1] = last.lowerBound...cpu
            } else {
                ranges.append(cpu...cpu)
            }
        }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }

    /// The CPUs that this thread may run on. The corresponding C function is `sched_getaffinity`.
    package static var own: CPUSet? {
        CPUSet((0..<Int(chunkwise_cpu_count())).filter { chunkwise_is_allowed(Int32($0)) })
    }

    /// The CPUs that a scheduler gave this process, of those that it may run on.
    ///
    /// Slurm may count CPUs without confining a job to them (`TaskPlugin=task/none`). The tasks of one node then take
    /// theirs one after the other, in the order of `SLURM_LOCALID`.
    /// - Parameters:
    ///   - allowed: The CPUs that the process may run on.
    ///   - variable: Looks up a variable of the environment.
    /// - Returns: As many of the CPUs as the scheduler says, or all that are allowed.
    package static func given(of allowed: CPUSet, _ variable: (String) -> String?) -> CPUSet {
        let texts = ["SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE"].compactMap(variable)
        // "72(x2),36" is a list of nodes, of which this is the first.
        guard let count = texts.first.flatMap({ text in Int(text.prefix { $0.isASCII && $0.isNumber }) }), count > 0,
            count < allowed.cpus.count
        else { return allowed }
        let task = variable("SLURM_LOCALID").flatMap { UInt32($0) }.map(Int.init) ?? 0
        let first = task % allowed.cpus.count * count
        return CPUSet((first..<first + count).map { allowed.cpus[$0 % allowed.cpus.count] }) ?? allowed
    }

    /// Confines this thread, and the processes that it starts, to the CPUs. The corresponding C functions are
    /// `sched_setaffinity` and `sched_getaffinity`.
    ///
    /// - Returns: Whether the kernel says that it is so.
    package func pin() -> Bool { chunkwise_pin(cpus.map { Int32($0) }, cpus.count) && Self.own == self }
}
