import ByteSources
import CommandOptions
import Glibc
import Support

/// This program.
enum Program {
    /// The version, as `--version` prints it and results keep it.
    static var version: String { programVersion }

    /// The path of the running program, for subjects in processes of their own.
    static var path: String { RunningProgram.path }

    /// The command that starts a subject, to which the reader's options are added.
    static var subjectCommand: [String] { [path, "subject"] }

    /// The command line that repeats this run, without keys, URLs' queries and this machine's folders.
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
                command.append(shown(argument))
            }
        }
        return command
    }

    /// An argument without what only a server may know of a URL.
    private static func shown(_ argument: String) -> String {
        guard let start = argument.indices.first(where: { RemoteObject.isURL(String(argument[$0...])) }) else {
            return argument
        }
        return argument[..<start] + URLText.shown(String(argument[start...]))
    }

    /// The time, as ISO 8601 in UTC. The corresponding C function is `strftime`.
    static func time(_ format: String = "%Y-%m-%dT%H:%M:%SZ") -> String {
        var now = Glibc.time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
