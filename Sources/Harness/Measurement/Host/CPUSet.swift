import CLinux
import Glibc

/// A set of CPU numbers. Its text is that of the kernel: `0-3,8`.
package struct CPUSet: Hashable, Sendable, CustomStringConvertible {
    /// The numbers, in ascending order; at least one.
    package let cpus: [Int]

    /// - Returns: `nil` for no CPUs.
    package init?(_ cpus: some Sequence<Int>) {
        self.cpus = Set(cpus).sorted()
        if self.cpus.isEmpty { return nil }
    }

    /// Parses the kernel's form. Returns `nil` for anything else.
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

    /// The special properties of these CPUs, such as `2 NUMA nodes, capacity 400 and 1000`. Returns `nil` for CPUs of
    /// one node that are as fast as the machine's fastest, and if the kernel does not report it. Among CPUs of the same
    /// kind, a job gets random ones.
    ///
    /// - Source: Linux, `Documentation/ABI`: `sysfs-devices-node`, and `cpu_capacity` in `sysfs-devices-system-cpu`,
    ///   whose 1024 is the machine's fastest.
    package func kind(_ read: (_ path: String) -> String? = ProcFile.line) -> String? {
        let folder = "/sys/devices/system"
        let nodes = (read("\(folder)/node/online").flatMap { CPUSet($0) }?.cpus ?? []).filter { node in
            let its = read("\(folder)/node/node\(node)/cpulist").flatMap { CPUSet($0) }
            return its.map { !Set($0.cpus).isDisjoint(with: cpus) } ?? false
        }
        // Cores of one type differ in capacity by a few percent.
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

    /// The CPUs that a scheduler gave this process, among those that it may run on.
    ///
    /// Slurm may count CPUs without confining a job to them (`TaskPlugin=task/none`). It then does not say which CPUs
    /// these are, so that each process takes CPUs that no other process has taken.
    /// - Parameters:
    ///   - allowed: The CPUs that the process may run on.
    ///   - variable: Returns a variable of the environment.
    ///   - take: Takes a CPU, and returns whether no other process has it.
    /// - Returns: The number of CPUs that the scheduler gives. All allowed CPUs if it gives no number, or if fewer are
    ///   left.
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
    /// - Returns: Whether the kernel confirms it.
    package func pin() -> Bool { pin(thread: 0) && Self.own == self }

    /// Confines a thread of any process of this user, and the threads that it starts. Returns whether the kernel did
    /// it.
    func pin(thread: Int32) -> Bool { chunkwise_pin(thread, cpus.map { Int32($0) }, cpus.count) }
}
