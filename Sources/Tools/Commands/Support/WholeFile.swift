import ByteSources
import CommandOptions
import Glibc
import SystemPackage

/// Files of text that appear complete or not at all.
enum WholeFile {
    /// Checks that a file could be written, as far as its folder tells.
    ///
    /// - Throws: `CommandFailure`.
    static func requireFolder(of path: String) throws {
        let folder = FilePath(path).removingLastComponent()
        guard access(folder.isEmpty ? "." : folder.string, W_OK | X_OK) == 0 else {
            throw CommandFailure(
                .io,
                "no folder to write \(path) to: \(String(cString: strerror(errno))): expected one that can be written")
        }
    }

    /// Writes a file.
    static func write(_ text: String, to path: String) throws {
        try attempt {
            let sink = try FileSink(path: FilePath(path))
            try Array(text.utf8).withUnsafeBytes { try sink.write($0, at: 0) }
            try sink.commit()
        }
    }
}
