import ByteSources
import SystemPackage
import Transfer

/// Files of text that appear complete or not at all.
enum WholeFile {
    /// Writes a file.
    static func write(_ text: String, to path: String) throws {
        try attempt {
            let sink = try FileSink(path: FilePath(path))
            try Array(text.utf8).withUnsafeBytes { try sink.write($0, at: 0) }
            try sink.commit()
        }
    }
}
