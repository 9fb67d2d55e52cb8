import ByteSources
import Glibc
import RandomAccess
import Results
import Support
import Synchronization
package import SystemPackage

/// The folder of one run. It has the result file, and during the run the measured objects.
package struct RunFolder: Sendable {
    /// The folder.
    package let path: FilePath

    /// Does not create the folder yet.
    package init(path: FilePath) {
        self.path = path
    }

    /// The result file.
    package var resultFile: FilePath { path.appending("results.jsonl") }

    /// The folder of the objects.
    package var objectFolder: FilePath { path.appending(".chunkwise-objects") }

    /// True if the folder has the results of a finished run.
    package var isFinished: Bool {
        (try? ResultLog.read(resultFile).results.isComplete) ?? false
    }

    /// Makes the folder if it does not exist.
    ///
    /// - Throws: `SweepError.io`.
    package func create() throws(SweepError) { try rethrowing(as: SweepError.io, try Folder.create(path)) }

    /// Makes the folder for objects. The caller must hold the lock of the results.
    ///
    /// - Throws: `SweepError.io`.
    package func createObjects() throws(SweepError) {
        try rethrowing(as: SweepError.io, try Folder.create(objectFolder))
    }

    /// Removes the objects, but no other files.
    package func removeObjects() {
        for name in ((try? Folder.entries(in: objectFolder.string)) ?? []).map(\.name)
        where name.hasSuffix(ObjectStore.fileSuffix) {
            unlink(objectFolder.appending(name).string)
        }
        rmdir(objectFolder.string)
    }

    /// Removes a folder that ``temporary()`` made, with the results in it.
    package func removeTemporary() {
        _ = Self.temporaryFolders.withLock { $0.remove(path.string) }
        removeFiles()
    }

    /// Removes all remaining folders of ``temporary()``, for a process that ends at once.
    package static func removeAllTemporary() {
        for path in temporaryFolders.withLock({ $0 }) { RunFolder(path: FilePath(path)).removeFiles() }
    }

    private static let temporaryFolders = Mutex<Set<String>>([])

    private func removeFiles() {
        removeObjects()
        unlink(resultFile.string)
        rmdir(path.string)
    }

    /// Makes a temporary folder for a run whose results are not kept.
    ///
    /// - Throws: `SweepError.io`.
    package static func temporary() throws(SweepError) -> RunFolder {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/chunkwise-XXXXXX".utf8CString)
        _ = try rethrowing(
            as: SweepError.io,
            try SystemCall.retrying("create a folder in \(parent)") { mkdtemp(&template) == nil ? -1 : 0 })
        let name = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        _ = temporaryFolders.withLock { $0.insert(name) }
        return RunFolder(path: FilePath(name))
    }
}
