import ByteSources
import Conformance
import Glibc
import Measurement
import RandomAccess
import Report
import Results
import Support
import SystemPackage
import Vectors

/// Small files of text: a token, or a list of clients.
enum SmallFile {
    private static let maxByteCount = 1 << 20

    /// Reads a file's text. Warns about a file that others can read.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - name: The kind of file, for messages.
    ///   - isStrict: True to refuse a file that others can read.
    /// - Returns: The whole text.
    /// - Throws: `CommandFailure`.
    static func text(_ path: String, _ name: String, isStrict: Bool) throws -> String {
        let text = try attemptInput {
            try KeyFile.withContents(
                of: path, name, maxByteCount: maxByteCount, isShared: sharing(path, name, isStrict: isStrict)
            ) { (bytes) throws(DecryptionError) in
                bytes.count > maxByteCount ? nil : String(validating: bytes, as: UTF8.self)
            }
        }
        return try require(text, .badData, "\(name) \(path): expected at most 1 MiB of text")
    }

    /// Returns the answer to the permissions of a file that others can read: a warning, or an error if `isStrict`.
    static func sharing(_ path: String, _ name: String, isStrict: Bool) -> (UInt32) throws(DecryptionError) -> Void {
        { (permissions) throws(DecryptionError) in
            guard !isStrict else {
                throw .openToOthers(path: "\(name) \(path)", permissions: permissions, expected: 0o600)
            }
            Terminal.warn(
                "\(name) \(path) can be read by others (permissions \(String(permissions, radix: 8))): expected 600")
        }
    }
}

/// Checks of the files that commands write.
enum OutputFile {
    /// Checks that the folder of a file is writable.
    ///
    /// - Throws: `CommandFailure`.
    static func requireFolder(of path: String) throws {
        let folder = FilePath(path).removingLastComponent()
        try require(
            access(folder.isEmpty ? "." : folder.string, W_OK | X_OK) == 0, .io,
            "no folder to write \(path) to: \(String(cString: strerror(errno))): expected one that can be written")
    }

    /// Refuses an output that is one of the files that are read, which would be lost.
    ///
    /// - Parameters:
    ///   - output: The output.
    ///   - files: The files that are read, after what they are. A path that is `nil` is none.
    /// - Throws: `CommandFailure`.
    static func requireOther(_ output: String, than files: [(what: String, path: String?)]) throws {
        guard let replaced = identity(of: output) else { return }
        for (what, path) in files {
            try require(
                path.flatMap(identity) != replaced,
                "output \(output) is \(what), which is read and would be lost: expected another file")
        }
    }

    /// The device and the inode of a regular file, which are the same for all its names; `nil` if there is none. The
    /// corresponding C function is `stat`.
    static func identity(of path: String) -> [UInt64]? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }
}

/// Writes reports to a disk or to standard output.
enum ReportWriting {
    /// Writes files into a folder, which is created if necessary. All new files are on the disk before the first one
    /// replaces an old one, so that the old report stays as it was if anything fails.
    static func write(_ files: [ReportFile], to folder: FilePath) throws {
        try attempt { try Folder.create(folder) }
        let paths = files.map { folder.pushing(FilePath($0.name)) }
        for path in paths { try attempt { try Folder.create(path.removingLastComponent()) } }
        try write(Array(zip(files, paths)))
    }

    /// Writes one file to a path that the user chose, completely or not at all.
    static func write(_ file: ReportFile, to path: FilePath) throws {
        try write([(file, path)])
    }

    /// Writes a file to standard output. It is an error if standard output does not take all of it.
    static func print(_ file: ReportFile) throws {
        Interruption.ignoreBrokenPipes()
        let sink = StreamSink(descriptor: .standardOutput, name: "standard output", closesAtEnd: false)
        try attempt { try file.write { try sink.write($0, at: 0) } }
    }

    private static func write(_ files: [(file: ReportFile, path: FilePath)]) throws {
        try attempt {
            for (_, path) in files { try requireFile(path) }
            // Writing a file also renders it, which is most of the work.
            let sinks = Parallel.map(files) { file, path in
                Result {
                    // A device, a pipe or a link stays what it is.
                    let sink = try Output.open(path.string)
                    var offset: UInt64 = 0
                    try file.write { bytes in
                        try sink.write(bytes, at: offset)
                        offset += UInt64(bytes.count)
                    }
                    return sink
                }
            }
            let prepared = try sinks.map { try ($0.get() as? FileSink)?.prepare() }
            for (sink, file) in zip(sinks, prepared) {
                if let file { try file.rename() } else { try sink.get().commit() }
            }
        }
    }

    /// Refuses the path of a folder. Without this check, the error would come after other files were replaced.
    private static func requireFile(_ path: FilePath) throws(DecryptionError) {
        var status = stat()
        guard stat(path.string, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
        throw .io(operation: "create \(path)", code: EISDIR, reason: "it is a directory, expected a file or nothing")
    }
}

/// Writes the evidence of a verification to a disk.
enum EvidenceWriting {
    /// Makes the folder, so that an error comes before the work.
    static func prepare(_ folder: String) throws {
        try attempt { try Folder.create(FilePath(folder)) }
    }

    /// Renders evidence into a folder, which is created if necessary.
    static func write(
        _ records: [ConformanceRecord], vectorFiles: [String], mutants: [Evidence.MutantOutcome]?,
        tampering: [TamperRecord]?, startedAt: String, seconds: Int, to folder: String
    ) throws {
        let backends = Backends.available { !$0.strategyNames.isEmpty }.map {
            RunHeader.Backend(name: $0.name, version: $0.version, cpuFeatures: $0.cpuFeatures)
        }
        let pins = try pins(vectorFiles)
        let evidence = Evidence(
            programVersion: Program.version, command: Program.command, startedAt: startedAt, seconds: seconds,
            host: ThisHost.describe(), backends: backends, vectorFiles: pins,
            flags: flags(of: records), requirements: Requirements.all, subjects: records, mutants: mutants,
            tampering: tampering)
        try ReportWriting.write(renderEvidence(evidence), to: FilePath(folder))
    }

    /// The classes of vectors. Classes that exist only for subjects in other processes are among them if they occur.
    private static func flags(of records: [ConformanceRecord]) -> [Evidence.FlagExplanation] {
        let known = Set(VectorFlag.allCases.map(\.rawValue))
        let met = Set(records.flatMap { ($0.flags ?? []).map(\.flag) })
        return VectorFlag.allCases.map { .init(flag: $0.rawValue, explanation: $0.explanation, source: $0.source) }
            + ExternalFlag.allCases.filter { met.contains($0.rawValue) && !known.contains($0.rawValue) }.map {
                .init(flag: $0.rawValue, explanation: $0.explanation, source: $0.source)
            }
    }

    /// The names and digests of the vector files: those that the user named, or else the known answers and the
    /// generated files.
    private static func pins(_ vectorFiles: [String]) throws -> [Evidence.VectorFilePin] {
        let files = vectorFiles.isEmpty ? DefaultVectors.files : vectorFiles
        var pins = try files.map { name in
            let path = FilePath(name)
            return Evidence.VectorFilePin(
                name: path.lastComponent?.string ?? path.string, sha256: try attempt { try FileDigest.sha256(path) })
        }
        guard vectorFiles.isEmpty else { return pins }
        for vectors in VectorSet.files {
            let digest = try attempt { try VectorWriter.sha256(of: vectors) }
            pins.append(.init(name: vectors.name + ".json", sha256: digest))
        }
        return pins
    }
}
