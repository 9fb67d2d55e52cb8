import ByteSources
import Glibc
package import Results
import SubjectProtocol
import Synchronization
package import SystemPackage

/// A folder in which a cgroup is made for each process whose memory is measured.
///
/// A cgroup counts memory that `VmHWM` does not: the page cache that the process fills, and the kernel's memory for it.
/// The cgroups are children of a folder that the user names, or else of the first folder to which the user may write.
/// Root may write to all folders, even to those that belong to a service manager, and therefore must name one.
///
/// - Source: cgroups(7); cgroup-v2.rst, "Delegation" and "No Internal Process Constraint".
package struct MemoryCgroups: Sendable {
    let folder: FilePath
    let isVersion1: Bool

    /// Finds a folder in which this process may make cgroups. Removes cgroups there of processes that no longer exist.
    ///
    /// - Parameter named: The folder that the user named; `nil` to search for one.
    /// - Throws: `CgroupAbsence`.
    package init(named: FilePath?) throws(CgroupAbsence) {
        let folders = named.map { [$0] } ?? Self.ownFolders
        guard named != nil || geteuid() != 0 else {
            throw CgroupAbsence("root has to name the folder in which cgroups are made: expected --cgroup FOLDER")
        }
        guard !folders.isEmpty else { throw CgroupAbsence("this process is in no cgroup that counts memory") }
        var reason = CgroupAbsence("")
        for folder in folders {
            do throws(CgroupAbsence) {
                self = try Self(folder, isNamed: named != nil)
                return
            } catch {
                reason = error
            }
        }
        throw reason
    }

    private init(_ folder: FilePath, isNamed: Bool) throws(CgroupAbsence) {
        func exists(_ name: String) -> Bool { access(folder.appending(name).string, F_OK) == 0 }
        self.folder = folder
        self.isVersion1 = exists("memory.usage_in_bytes")
        guard isVersion1 || exists("cgroup.controllers") else {
            throw CgroupAbsence("\(folder) is no cgroup that counts memory")
        }
        if !isVersion1, !Self.countsMemoryOfChildren(folder) {
            // The controller is enabled only in a folder that --cgroup names. cgroup v2 refuses this while the group
            // has processes.
            if isNamed { try? MemoryCgroup.write("+memory", to: folder.appending("cgroup.subtree_control")) }
            guard Self.countsMemoryOfChildren(folder) else {
                throw CgroupAbsence("\(folder) does not count the memory of cgroups in it: expected +memory there")
            }
        }
        removeRemains()
        let trial = try MemoryCgroup(in: self)
        guard let ended = try? CapturedCommand(trial.command(["true"])), ended.status == 0 else {
            throw CgroupAbsence("no process may be put into a cgroup in \(folder)")
        }
        guard trial.charged != nil else { throw CgroupAbsence("the kernel keeps no peak of cgroups in \(folder)") }
    }

    private static func countsMemoryOfChildren(_ folder: FilePath) -> Bool {
        let enabled = ProcFile.line(folder.appending("cgroup.subtree_control").string) ?? ""
        return enabled.split(separator: " ").contains("memory")
    }

    /// The folders in which this process might make cgroups. In version 2, this is the parent of its own cgroup,
    /// because a cgroup with processes cannot have children that count memory. In version 1, it is its own cgroup.
    private static var ownFolders: [FilePath] {
        var mounts: [String: (root: FilePath, point: FilePath)] = [:]
        for line in ProcFile.lines("/proc/self/mountinfo") {
            // Source: proc_pid_mountinfo(5): … root, mount point, … " - " type, source, options of the file system.
            let fields = line.split(separator: " ").map(String.init)
            guard let dash = fields.firstIndex(of: "-"), dash > 4, fields.count > dash + 3 else { continue }
            let mount = (root: FilePath(fields[3]), point: FilePath(fields[4]))
            if fields[dash + 1] == "cgroup2" { mounts[""] = mount }
            if fields[dash + 1] == "cgroup", fields[dash + 3].split(separator: ",").contains("memory") {
                mounts["memory"] = mount
            }
        }
        return ProcFile.lines("/proc/self/cgroup").compactMap { line -> FilePath? in
            // Source: cgroups(7): number, controllers, path from the root.
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return nil }
            let isVersion2 = fields[1].isEmpty
            guard isVersion2 || fields[1].split(separator: ",").contains("memory"),
                let mount = mounts[isVersion2 ? "" : "memory"]
            else { return nil }
            var path = FilePath(String(fields[2]))
            guard path.removePrefix(mount.root) else { return nil }
            let own = mount.point.appending(path.components)
            return isVersion2 && !path.isEmpty ? own.removingLastComponent() : own
        }
    }

    /// Removes the cgroups of processes that were killed before they could remove them.
    private func removeRemains() {
        for entry in (try? Folder.entries(in: folder.string)) ?? [] where entry.name.hasPrefix(MemoryCgroup.prefix) {
            let number = entry.name.dropFirst(MemoryCgroup.prefix.count).prefix { $0 != "-" }
            guard let processID = Int32(number), kill(processID, 0) != 0, errno == ESRCH else { continue }
            rmdir(folder.appending(entry.name).string)
        }
    }
}

/// The reason for which no cgroup can be made.
package struct CgroupAbsence: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// A cgroup for one process. It is removed with this object, after the process has ended.
package final class MemoryCgroup: Sendable {
    static let prefix = "chunkwise-"
    private static let count = Atomic<Int>(0)

    private let path: FilePath
    private let isVersion1: Bool

    /// Makes a cgroup. The corresponding C function is `mkdir`.
    ///
    /// - Throws: `CgroupAbsence`.
    package init(in cgroups: MemoryCgroups) throws(CgroupAbsence) {
        let number = Self.count.wrappingAdd(1, ordering: .relaxed).oldValue
        path = cgroups.folder.appending("\(Self.prefix)\(getpid())-\(number)")
        isVersion1 = cgroups.isVersion1
        guard mkdir(path.string, 0o755) == 0 else {
            throw CgroupAbsence("no cgroup may be made in \(cgroups.folder): \(String(cString: strerror(errno)))")
        }
    }

    deinit {
        // The kernel may count an ended process for some more milliseconds.
        for _ in 0..<200 where rmdir(path.string) != 0 && errno == EBUSY { usleep(5000) }
    }

    /// Returns a command that runs another one in the cgroup, so that its memory is charged from the first page on.
    package func command(_ command: [String]) -> [String] {
        // 0 stands for the writing process.
        ["/bin/sh", "-c", "echo 0 > \"$0\" && exec \"$@\"", path.appending("cgroup.procs").string] + command
    }

    /// The memory that was charged so far; `nil` if the kernel does not report it.
    package var charged: MemoryRecord.Memory.Cgroup? {
        func number(_ name: String) -> UInt64? { ProcFile.line(path.appending(name).string).flatMap { UInt64($0) } }
        guard let peak = number(isVersion1 ? "memory.max_usage_in_bytes" : "memory.peak") else { return nil }
        var figures: [Substring: UInt64] = [:]
        for line in ProcFile.lines(path.appending("memory.stat").string) {
            let fields = line.split(separator: " ")
            if fields.count == 2 { figures[fields[0]] = UInt64(fields[1]) }
        }
        if isVersion1 {
            return .init(
                peakByteCount: peak, anonymousByteCount: figures["rss"], pageCacheByteCount: figures["cache"],
                kernelByteCount: number("memory.kmem.usage_in_bytes").map {
                    $0 + (number("memory.kmem.tcp.usage_in_bytes") ?? 0)
                })
        }
        return .init(
            peakByteCount: peak, anonymousByteCount: figures["anon"], pageCacheByteCount: figures["file"],
            kernelByteCount: figures["kernel"].map { $0 + (figures["sock"] ?? 0) })
    }

    static func write(_ text: String, to path: FilePath) throws {
        let file = try FileDescriptor.open(path, .writeOnly, options: .closeOnExec)
        try file.closeAfter { _ = try file.writeAll(text.utf8) }
    }
}
