import ByteSources
import CLinux

/// One CPU for processes that take turns.
///
/// If another process keeps a CPU busy, two CPUs of a machine may differ by more than the effect to measure. On a
/// single CPU, both sides slow down alike. Only processes with one thread are confined, because others would lose their
/// parallelism.
package struct SharedCPU {
    /// The processes with their descendants.
    private let members: [[Int32]]

    package init(_ processIDs: [Int32]) {
        members = processIDs.map(ProcessTree.members)
    }

    /// The CPU time of each process with its descendants, in nanoseconds.
    package var cpuNanoseconds: [UInt64] {
        members.map { tree in tree.reduce(0) { $0 + UInt64(max(0, chunkwise_cpu_nanoseconds($1))) } }
    }

    /// Confines all processes to the last CPU of the first process, if each has one thread.
    ///
    /// - Returns: Whether all are confined.
    @discardableResult
    package func confine() -> Bool {
        let all = members.joined()
        guard all.allSatisfy({ Self.threads(of: $0).count == 1 }), let working = members.first?.last,
            let cpu = Self.lastCPU(of: working), let one = CPUSet([cpu])
        else { return false }
        return all.allSatisfy { one.pin(thread: $0) }
    }

    /// Allows all processes to run on the CPUs of this process.
    package func release() {
        guard let own = CPUSet.own else { return }
        for thread in members.joined().flatMap(Self.threads) { _ = own.pin(thread: thread) }
    }

    /// - Source: proc_pid_task(5).
    private static func threads(of processID: Int32) -> [Int32] {
        ((try? Folder.entries(in: "/proc/\(processID)/task")) ?? []).compactMap { Int32($0.name) }
    }

    /// The last CPU of a process: the 39th field. Source: proc_pid_stat(5).
    private static func lastCPU(of processID: Int32) -> Int? {
        // The second field is a name in parentheses, which may have any characters.
        guard let line = ProcFile.line("/proc/\(processID)/stat"), let end = line.lastIndex(of: ")") else { return nil }
        let fields = line[line.index(after: end)...].split(separator: " ")
        return fields.count > 36 ? Int(fields[36]) : nil
    }
}
