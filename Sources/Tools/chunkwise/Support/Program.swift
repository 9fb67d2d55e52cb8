import ByteSources
import Glibc
import Measurement
import Support
import SystemPackage
import Vectors

/// This program.
enum Program {
    /// The version that `--version` prints and results contain.
    static var version: String { programVersion }

    /// The path of the running program, to start other processes. The corresponding C function is `readlink`.
    static var path: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return CommandLine.arguments.first ?? "chunkwise" }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The command that starts a subject, without the reader's options. It is `chunkwise-subject` if that is beside
    /// this program, because its processes are smaller and start sooner; otherwise it is this program.
    ///
    /// - Parameter readsServers: True if the subject reads objects on servers. Only this program has a client for them.
    /// - Returns: The program and its first arguments.
    static func subjectCommand(readsServers: Bool = false) -> [String] {
        let small = FilePath(path).removingLastComponent().appending("chunkwise-subject").string
        return readsServers || access(small, X_OK) != 0 ? [path, "subject"] : [small]
    }

    /// The command line that repeats this run, without the program's path, keys, and the secrets in URLs.
    static var command: [String] {
        var command = ["chunkwise"]
        var hidesNext = false
        for argument in CommandLine.arguments.dropFirst() {
            if hidesNext {
                command.append("…")
                hidesNext = false
            } else if argument.hasPrefix("--key-hex=") {
                command.append("--key-hex=…")
            } else {
                hidesNext = argument == "--key-hex"
                command.append(redacted(argument))
            }
        }
        return command
    }

    /// An argument without the secrets in a URL.
    private static func redacted(_ argument: String) -> String {
        guard let start = argument.indices.first(where: { RemoteObject.isURL(String(argument[$0...])) }) else {
            return argument
        }
        return argument[..<start] + URLText.redacted(String(argument[start...]))
    }

    /// The current time in UTC, by default in the form of ISO 8601. The corresponding C function is `strftime`.
    static func time(_ format: String = "%Y-%m-%dT%H:%M:%SZ") -> String {
        var now = Glibc.time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The project's `data` and `Benchmarks` folders: in the current folder, or in a folder above the program's.
enum DataFolder {
    /// Finds a file of the project.
    ///
    /// - Parameter name: Its path inside the project, such as `data/vectors/sp800-38a.json`.
    /// - Returns: Its path, or `nil`.
    static func find(_ name: String) -> FilePath? {
        var candidates = [FilePath(name)]
        var folder = FilePath(Program.path)
        while folder.removeLastComponent(), !folder.components.isEmpty {
            candidates.append(folder.pushing(FilePath(name)))
        }
        return candidates.first { access($0.string, R_OK) == 0 }
    }
}

/// The vectors that run if the user names none.
enum DefaultVectors {
    /// The files of published known answers.
    static let knownAnswers = ["sp800-38a.json", "nist-cbc.json", "nist-ctr.json", "messages.json"]

    /// The paths of those that are found.
    static var files: [String] {
        knownAnswers.compactMap { DataFolder.find("data/vectors/" + $0)?.string }
    }

    /// The published known answers and the generated range reads. The other files in `data/vectors` hold the latter.
    static func groups() throws -> [VectorGroup] {
        try publishedGroups() + VectorSet.standard()
    }

    /// The published known answers.
    static func publishedGroups() throws -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for name in knownAnswers.map({ "data/vectors/" + $0 }) {
            let path = try require(
                DataFolder.find(name),
                .missingInput, "no file \(name): expected it in this folder or above the program's")
            groups += try attempt { try VectorFile(path: path.string) }.groups
        }
        return groups
    }
}

/// The project's player traces.
enum Traces {
    /// Returns whether a text is the path of a file instead of a name in `data/traces`.
    static func isPath(_ text: String) -> Bool { text.contains("/") || text.hasSuffix(".json") }

    /// Reads a trace file, such as one from `chunkwise serve --record`.
    ///
    /// - Throws: `TraceError`, `DecryptionError.io`.
    static func read(_ path: String) throws -> PlayerTrace {
        try PlayerTrace(JSONValue.parse(Array(try TextFile.read(path).utf8)), file: path)
    }

    /// Reads `data/traces/NAME.json`.
    ///
    /// - Parameter name: The trace's name, which has no slash.
    /// - Returns: The trace, or `nil` if there is no such file.
    /// - Throws: `TraceError`, `DecryptionError.io`.
    static func find(_ name: String) throws -> PlayerTrace? {
        guard let path = DataFolder.find("data/traces/\(name).json") else { return nil }
        return try PlayerTrace(JSONValue.parse(Array(try TextFile.read(path.string).utf8)), file: path.string)
    }
}
