import ByteSources
import Measurement
import Report
import Results
import SystemPackage
import Transfer

/// Puts reports on disk.
enum ReportWriting {
    /// Writes files into a folder, which is created if need be; each appears complete or not at all.
    static func write(_ files: [ReportFile], to folder: FilePath) throws {
        try attempt { try Folder.create(folder) }
        for file in files {
            try attempt {
                let sink = try FileSink(path: folder.appending(file.name))
                try file.bytes.withUnsafeBytes { try sink.write($0, at: 0) }
                try sink.commit()
            }
        }
    }
}
