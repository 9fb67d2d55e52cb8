import ByteSources
import Glibc
import Results
internal import Support
import SystemPackage

/// Whether there is space for the objects of a plan: better said before anything is measured than in the middle.
package enum SpaceCheck {
    /// What is missing.
    package struct Shortage: Hashable, Sendable {
        /// The cell whose object is the largest that is to be made.
        package let cell: PlannedCell
        /// What all objects that are to be made take, and what is free, in bytes.
        package let message: String
    }

    /// Compares what objects take with what is free.
    ///
    /// - Parameters:
    ///   - cells: The cells; those of generated objects take nothing.
    ///   - folder: Where the run's folder is or will be.
    /// - Returns: `nil` if there is room, or nobody can tell.
    package static func shortage(of cells: [PlannedCell], in folder: RunFolder) -> Shortage? {
        guard let free = freeByteCount(near: folder.path) else { return nil }
        return shortage(of: cells, freeByteCount: free) { name in
            access(folder.objectFolder.appending(name).string, F_OK) == 0
        }
    }

    /// Compares what objects take with what is free; `isMade` says which files are there already.
    static func shortage(
        of cells: [PlannedCell], freeByteCount free: UInt64, isMade: (String) -> Bool
    ) -> Shortage? {
        var known: Set<String> = []
        var sum: UInt64 = 0
        var largest: PlannedCell?
        for planned in cells where ObjectKind(of: planned.cell)?.isFile ?? true {
            let name = ObjectStore.name(of: planned.cell)
            guard known.insert(name).inserted, !isMade(name) else { continue }
            // Padding is a part in 16 at most, with the shortest chunks.
            let byteCount = planned.cell.objectByteCount
            sum = sum.addingReportingOverflow(byteCount).overflow ? .max : sum + byteCount
            if byteCount > largest?.cell.objectByteCount ?? 0 { largest = planned }
        }
        guard sum > free, let largest else { return nil }
        let size = ByteSize(largest.cell.objectByteCount)
        return Shortage(
            cell: largest,
            message: "object-size \(size): all objects take \(ByteSize((sum >> 20) << 20)): expected at most the "
                + "\(ByteSize((free >> 20) << 20)) that are free")
    }

    /// The free bytes of the file system that a folder is on, or will be. The corresponding C function is `statvfs`.
    private static func freeByteCount(near folder: FilePath) -> UInt64? {
        var folder = folder.isRelative ? FilePath(".").pushing(folder) : folder
        var status = statvfs()
        while statvfs(folder.string, &status) != 0 {
            guard errno == ENOENT, folder.removeLastComponent(), !folder.isEmpty else { return nil }
        }
        // What has no blocks at all, such as /proc, does not say what it takes.
        guard status.f_blocks > 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }
}
