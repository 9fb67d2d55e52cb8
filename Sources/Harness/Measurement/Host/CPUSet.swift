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

    /// What is special about these CPUs, such as `2 NUMA nodes, capacity 400 and 1000`; `nil` for CPUs of one node that are as
    /// fast as the machine's fastest, and where the kernel does not say. Which ones of a kind a job gets is chance.
    ///
    /// - Source: Linux, `Documentation/ABI`: `sysfs-devices-node`, and `cpu_capacity` in `sysfs-devices-system-cpu`, whose
    ///   1024 is the machine's fastest.
    package func kind(_ read: (_ path: String) -> String? = ProcFile.line) -> String? {
        let folder = "/sys/devices/system"
        let nodes = (read("\(folder)/node/online").flatMap { CPUSet($0) }?.cpus ?? []).filter { node in
            let its = read("\(folder)/node/node\(node)/cpulist").flatMap { CPUSet($0) }
            return its.map { !Set($0.cpus).isDisjoint(with: cpus) } ?? false
        }
        // Cores of one type differ by a few percent in what they may reach.
        let capacities = Set(
            cpus.compactMap { read("\(folder)/cpu/cpu\($0)/cpu_capacity").flatMap { Int($0) } }.map {
                ($0 + 50) / 100 * 100
            }
        ).sorted()
        let parts = [
            nodes.count > 1 ? "\(nodes.count) NUMA nodes" : nil,
            capacities.isEmpty || capacities == [1000]
                ? nil : "capacity \(capacities.map(String.init).joined(separator: " and "))",
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The CPUs that a scheduler gave this process, of those that it may run on.
    ///
    /// Slurm may count CPUs without confining a job to them (`TaskPlugin=task/none`). Which they are it does not say then, so
    /// that each process takes some that no other one has taken.
    /// - Parameters:
    ///   - allowed: The CPUs that the process may run on.
    ///   - variable: Looks up a variable of the environment.
    ///   - take: Takes a CPU, and returns whether nobody else has it.
    /// - Returns: As many of the CPUs as the scheduler says; all that are allowed if it says nothing, or if fewer are left.
    package static func given(
        of allowed: CPUSet, _ variable: (String) -> String?, take: (Int) -> Bool = { chunkwise_take_cpu(Int32($0)) }
    ) -> CPUSet {
        let texts = ["SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE"].compactMap(variable)
        // "72(x2),36" is a list of nodes, of which this is the first.
        guard let count = texts.first.flatMap({ text in Int(text.prefix { $0.isASCII && $0.isNumber }) }), count > 0,
            count < allowed.cpus.count
        else { return allowed }
        var taken: [Int] = []
        for cpu in allowed.cpus where taken.count < count && take(cpu) { taken.append(cpu) }
        return taken.count == count ? CPUSet(taken) ?? allowed : allowed
    }

    /// Confines this thread, and the processes that it starts, to the CPUs. The corresponding C functions are
    /// `sched_setaffinity` and `sched_getaffinity`.
    ///
    /// - Returns: Whether the kernel says that it is so.
    package func pin() -> Bool { pin(thread: 0) && Self.own == self }

    /// Confines a thread of any process of this user, and what it starts; whether the kernel did.
    func pin(thread: Int32) -> Bool { chunkwise_pin(thread, cpus.map { Int32($0) }, cpus.count) }
}
