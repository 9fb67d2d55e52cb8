import Foundation
import Support
import TestSupport
import Testing

/// Runs of the program as a user runs it.
enum Chunkwise {
    static let keyHex = "5ec2e7000102030405060708090a0b0c"
    static let ivHex = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"

    static func run(_ arguments: [String], input: [UInt8] = [], in folder: String? = nil) throws -> CommandRun {
        try CommandRun.run(Programs.chunkwise, arguments, input: input, in: folder)
    }

    /// Runs a line of a shell, in which the program is `chunkwise`.
    static func shell(_ command: String, in folder: TemporaryFolder) throws -> CommandRun {
        try CommandRun.run(
            "/bin/sh", ["-c", command.replacing("chunkwise ", with: "'\(Programs.chunkwise)' ")], in: folder.path)
    }

    /// `encrypt` or `decrypt` with the key file of a folder.
    static func convert(
        _ command: String, _ folder: TemporaryFolder, _ files: [String], _ options: [String] = [], input: [UInt8] = []
    ) throws -> CommandRun {
        if folder.bytes("key") == nil { try folder.file("key", keyHex + "\n", isSecret: true) }
        return try run(
            [command, "--key-file", folder.path("key"), "--iv", ivHex] + options + files, input: input, in: folder.path)
    }

    /// The exit status that goes with the verdict of a gate's JSON, its cells' or its record's; `nil` if it has none.
    static func status(ofGate json: [UInt8]?) -> Int32? {
        let result = json.flatMap(JSONValue.parse)
        if result?["memory"]?["verdict"]?.string == "grew" { return 1 }
        return switch result?["verdict"]?.string {
        case "faster", "same": 0
        case "slower", "wrong": 1
        case "inconclusive", "noisyHost": 2
        default: nil
        }
    }

    /// Expects an error as the README promises it: an exit code, one line that says what was expected, and no key.
    static func expectFailure(_ run: CommandRun, _ status: Int32, _ word: String = "", _ what: String = "") {
        let message = "\(what) → \(run.status) \(run.errorLines)"
        #expect(run.status == status, "\(message)")
        #expect(run.errorLines.count == 1, "\(message)")
        let line = run.errorLines.first ?? ""
        #expect(line.hasPrefix("chunkwise: ") && line.contains("expected"), "\(message)")
        #expect(word.isEmpty || line.contains(word), "\(message): no \"\(word)\"")
        #expect(!line.lowercased().contains("5ec2e7"), "the message shows the key: \(message)")
        #expect(run.output.isEmpty, "\(message)")
    }
}

/// The strategies' options.
let strategyOptions: [[String]] = [
    [], ["--strategy", "ctr"], ["--strategy", "cbc-chunked:chunk=1KiB"],
    ["--strategy", "cbc-chunked:chunk=16B,iv-rule=fixed"],
    ["--strategy", "cbc-chunked:chunk=1008,padding=none"], ["--strategy", "cbc-continuous:padding=none"],
]
