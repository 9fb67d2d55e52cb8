import ByteSources
import Glibc
package import Results
import SubjectProtocol
import Synchronization
package import SystemPackage

/// Where a cgroup can be made for each process whose memory is measured.
///
/// A cgroup counts what `VmHWM` does not: the page cache that the process fills, and what the kernel keeps for it. Made are
/// children of a folder that the user names, or else of the first that the user, not being root, may write to. Root may
/// write to all of them, also to those that a service manager takes for its own: root has to name one.
///
/// - Source: cgroups(7); cgroup-v2.rst, "Delegation" and "No Internal Process Constraint".
package struct MemoryCgroups: Sendable {
    let folder: FilePath
    let isVersion1: Bool

    /// Looks for a folder whose children can be had; what is left there of processes that are gone is removed.
    ///
    /// - Parameter named: The folder that the user named; `nil` to look for one.
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
            // Nobody else's to change unless the user says so; refused while there are processes in it.
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

    /// The folders in which this process might make cgroups: of version 2 the one around its own, since a cgroup with
    /// processes counts none apart; of version 1 its own.
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

    /// Removes the cgroups of processes that were killed before they could do so.
    private func removeRemains() {
        for entry in (try? Folder.entries(in: folder.string)) ?? [] where entry.name.hasPrefix(MemoryCgroup.prefix) {
            let number = entry.name.dropFirst(MemoryCgroup.prefix.count).prefix { $0 != "-" }
            guard let processID = Int32(number), kill(processID, 0) != 0, errno == ESRCH else { continue }
            rmdir(folder.appending(entry.name).string)
        }
    }
}

/// Why there is no cgroup to be had.
package struct CgroupAbsence: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// A cgroup for one process, which is removed with this object; the process must have ended by then.
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
        // A process that has ended may be counted for some milliseconds more.
        for _ in 0..<200 where rmdir(path.string) != 0 && errno == EBUSY { usleep(5000) }
    }

    /// A command that runs another one in the cgroup: all that is charged to it from its first page on.
    package func command(_ command: [String]) -> [String] {
        // 0 is the process that writes it.
        ["/bin/sh", "-c", "echo 0 > \"$0\" && exec \"$@\"", path.appending("cgroup.procs").string] + command
    }

    /// What was charged until now; `nil` where the kernel does not tell.
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
