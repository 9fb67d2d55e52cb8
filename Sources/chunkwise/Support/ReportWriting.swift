import ByteSources
import Measurement
import Report
import Results
import SystemPackage
import Transfer

/// Puts reports on disk.
enum ReportWriting {
    /// Renders results into their folder; each file appears complete or not at all.
    static func write(_ results: RunResults, to folder: RunFolder) throws {
        for file in renderReport(results) {
            try attempt {
                let sink = try FileSink(path: folder.path.appending(file.name))
                try file.bytes.withUnsafeBytes { try sink.write($0, at: 0) }
                try sink.commit()
            }
        }
    }
}
