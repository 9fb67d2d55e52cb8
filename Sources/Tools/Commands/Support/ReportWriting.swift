import ByteSources
import CommandOptions
import Glibc
import Measurement
import RandomAccess
import Report
import SystemPackage

/// Puts reports on disk, or on standard output.
enum ReportWriting {
    /// Writes files into a folder, which is created if need be. All are there, on the disk, before the first one replaces
    /// what has its name: if anything fails, the old report is left as it was.
    static func write(_ files: [ReportFile], to folder: FilePath) throws {
        try attempt { try Folder.create(folder) }
        try write(files.map { ($0, folder.appending($0.name)) })
    }

    /// Writes one file under a name of the user's, complete or not at all.
    static func write(_ file: ReportFile, to path: FilePath) throws {
        try write([(file, path)])
    }

    /// Writes a file to standard output; what it does not take is an error.
    static func print(_ file: ReportFile) throws {
        Interruption.ignoreBrokenPipes()
        let sink = StreamSink(descriptor: .standardOutput, name: "standard output", closesAtEnd: false)
        try attempt { try file.write { try sink.write($0, at: 0) } }
    }

    private static func write(_ files: [(file: ReportFile, path: FilePath)]) throws {
        // A limit on the size of files is an error like a full disk, and not the process's end.
        signal(SIGXFSZ, SIG_IGN)
        try attempt {
            for (_, path) in files { try requireFile(path) }
            let sinks = try files.map { file, path in
                let sink = try FileSink(path: path)
                var offset: UInt64 = 0
                try file.write { bytes in
                    try sink.write(bytes, at: offset)
                    offset += UInt64(bytes.count)
                }
                return sink
            }
            let prepared = try sinks.map { try $0.prepare() }
            for file in prepared { try file.rename() }
        }
    }

    /// A folder in the place of a file would be noticed only when others are replaced already.
    private static func requireFile(_ path: FilePath) throws(DecryptionError) {
        var status = stat()
        guard stat(path.string, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
        throw .io(operation: "create \(path)", code: EISDIR, reason: "it is a directory, expected a file or nothing")
    }
}
