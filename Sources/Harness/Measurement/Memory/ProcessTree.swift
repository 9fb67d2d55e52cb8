/// A process and those that it started: a subject may be a shell that waits for the program.
enum ProcessTree {
    /// The numbers of a process and its descendants, each before those that it started.
    ///
    /// Only the first where the kernel does not tell: it needs `CONFIG_PROC_CHILDREN`. Source: proc_tid_children(5).
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
