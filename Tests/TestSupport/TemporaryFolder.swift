import Foundation
import Glibc

/// A folder that goes when the test does.
package final class TemporaryFolder {
    /// The folder's path, without a slash at its end.
    package let path: String

    /// Makes an empty folder.
    package init() throws {
        // In memory where there is space for that: `fsync` on a disk would take most of the tests' time.
        let shared = "/dev/shm/"
        let parent =
            FileManager.default.isWritableFile(atPath: shared)
            ? shared : FileManager.default.temporaryDirectory.path(percentEncoded: false)
        path = parent + "chunkwise-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of something in the folder.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes a file, and returns its path. A secret one can be read by its owner only.
    @discardableResult
    package func file(_ name: String, _ bytes: [UInt8], isSecret: Bool = false) throws -> String {
        try Data(bytes).write(to: URL(filePath: path(name)))
        if isSecret {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(name))
        }
        return path(name)
    }

    /// Makes a file of text, and returns its path. A secret one can be read by its owner only.
    @discardableResult
    package func file(_ name: String, _ text: String, isSecret: Bool = false) throws -> String {
        try file(name, Array(text.utf8), isSecret: isSecret)
    }

    /// The bytes of a file, or `nil` if there is none.
    package func bytes(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path(name)).map(Array.init)
    }

    /// The length of a file, or 0 if there is none.
    package func byteCount(_ name: String) -> Int {
        var status = stat()
        return stat(path(name), &status) == 0 ? Int(status.st_size) : 0
    }

    /// Removes a file.
    package func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: path(name))
    }

    /// Waits until its files are older than a step of the clock that gives them their times: of younger ones a server
    /// does not say that they are of one version.
    package func settle() {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        for file in names.map(path(_:)) {
            var (status, now) = (stat(), timespec())
            guard stat(file, &status) == 0 else { continue }
            repeat {
                clock_gettime(CLOCK_REALTIME, &now)
                let age = (now.tv_sec - status.st_ctim.tv_sec) * 1_000_000_000 + now.tv_nsec - status.st_ctim.tv_nsec
                guard age < 25_000_000 else { break }
                usleep(UInt32(clamping: (25_000_000 - age) / 1000 + 1))
            } while true
        }
    }

    /// The names in the folder, hidden ones included, in order.
    package var names: [String] { names(in: ".") }

    /// The names in a folder of it, hidden ones included, in order; none where there is no such folder.
    package func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path(folder))) ?? []).sorted()
    }
}
