import ByteSources
import CLinux

/// One CPU for processes that take turns.
///
/// Two CPUs of a machine may differ by more than what is looked for, where a neighbour keeps one of them busy. On one of
/// them, both sides are slowed down alike. Only processes of one thread are confined: others lose what they gain by
/// working side by side.
package struct SharedCPU {
    /// The processes, and those that they started.
    private let members: [[Int32]]

    /// Watches processes.
    package init(_ processIDs: [Int32]) {
        members = processIDs.map(ProcessTree.members)
    }

    /// The nanoseconds of CPU time that each process has had, with those that it started.
    package var cpuNanoseconds: [UInt64] {
        members.map { tree in tree.reduce(0) { $0 + UInt64(max(0, chunkwise_cpu_nanoseconds($1))) } }
    }

    /// Confines all of them to the CPU that the first one ran on last, if each has one thread.
    ///
    /// - Returns: Whether they are.
    @discardableResult
    package func confine() -> Bool {
        let all = members.joined()
        guard all.allSatisfy({ Self.threads(of: $0).count == 1 }), let working = members.first?.last,
            let cpu = Self.lastCPU(of: working), let one = CPUSet([cpu])
        else { return false }
        return all.allSatisfy { one.pin(thread: $0) }
    }

    /// Lets all of them run where this process may.
    package func release() {
        guard let own = CPUSet.own else { return }
        for thread in members.joined().flatMap(Self.threads) { _ = own.pin(thread: thread) }
    }

    /// - Source: proc_pid_task(5).
    private static func threads(of processID: Int32) -> [Int32] {
        ((try? Folder.entries(in: "/proc/\(processID)/task")) ?? []).compactMap { Int32($0.name) }
    }

    /// The CPU that a process ran on last: the 39th field. Source: proc_pid_stat(5).
    private static func lastCPU(of processID: Int32) -> Int? {
        // The second field is a name in parentheses, which may hold anything.
        guard let line = ProcFile.line("/proc/\(processID)/stat"), let end = line.lastIndex(of: ")") else { return nil }
        let fields = line[line.index(after: end)...].split(separator: " ")
        return fields.count > 36 ? Int(fields[36]) : nil
    }
}
