import ByteSources
import Foundation
import HLS
import Results
import Support
import SwiftAESBackend
import SystemPackage
import TestSupport
import Testing

/// A command that is run again and again, each time with another call to the system that fails.
struct FaultedCommand: Sendable, CustomTestStringConvertible {
    /// The end of a run, and the fault of the answers to its clients, if it had any.
    typealias Outcome = (run: CommandRun, mismatch: String?)
    /// Runs it in a folder, with an environment.
    typealias Runner = @Sendable (TemporaryFolder, [String: String]) throws -> Outcome

    /// The name in messages.
    let name: String
    /// The command line; none for what is run in another way.
    var arguments: [String] = []
    /// The exit statuses without a failure.
    var untouched: Set<Int32> = [0]
    /// The exit statuses that a failure may have.
    var statuses: Set<Int32> = [74]
    /// Its time in those of other commands: the longer, the fewer runs.
    var cost = 1
    /// True if it takes so long that it is only run where many runs are asked for.
    var isLong = false
    /// True of a server: it is run with clients, and calls on its files count alone.
    var isServer = false
    /// True if it reads the time of day, and may refuse what is before its time.
    var knowsClock = false
    /// Makes what it reads.
    let prepare: @Sendable (TemporaryFolder) throws -> Void
    /// Runs it in another way than by its arguments.
    var runner: Runner?
    /// Tells if a file that it wrote is whole, given the bytes that a run without failures wrote; by default, if they
    /// are the same.
    var isWhole: @Sendable (_ name: String, _ bytes: [UInt8], _ untouched: [UInt8]?) -> Bool = { $1 == $2 }
    /// The fault of a second run, which went on with the files that a failure had left, given the files after both and
    /// of a run without failures, or `nil`.
    var goesOn:
        @Sendable (
            _ kind: FailingCalls.Failure, _ left: [String: [UInt8]], _ after: [String: [UInt8]],
            _ untouched: [String: [UInt8]]
        ) -> String? = { _, _, _, _ in nil }
    /// True if it prints the same each time.
    var printsTheSame = true

    var testDescription: String { name }

    /// Runs the command in a folder.
    func outcome(in folder: TemporaryFolder, environment: [String: String]) throws -> Outcome {
        if let runner { return try runner(folder, environment) }
        let run = try CommandRun.run(
            "/usr/bin/timeout", ["-s", "KILL", "600", Programs.chunkwise] + arguments, in: folder.path,
            environment: environment)
        return (run, nil)
    }
}

extension FaultedCommand {
    private static let plain = Samples.bytes(300_000, seed: 11)
    private static let options = ["--key-file", "key", "--iv", Chunkwise.ivHex]

    private static func prepareKey(_ folder: TemporaryFolder) throws {
        try folder.file("key", Chunkwise.keyHex + "\n", isSecret: true)
        try folder.file("plain", plain)
    }

    private static func prepareEncrypted(_ folder: TemporaryFolder) throws {
        try prepareKey(folder)
        let run = try Chunkwise.convert("encrypt", folder, ["plain", "encrypted"])
        try #require(run.status == 0, "\(run.errorLines)")
    }

    private static func preparePlan(_ folder: TemporaryFolder) throws {
        try folder.file(
            "plan",
            """
            rounds: 1
            time: 1ms
            object-size: 64KiB
            cells:
            - {backend: openssl, window: [4KiB, 64KiB]}
            """)
    }

    private static func prepareRun(_ folder: TemporaryFolder) throws {
        try preparePlan(folder)
        let run = try Chunkwise.run(["sweep", "--plan", "plan", "--output", "run"], in: folder.path)
        try #require(run.status == 0, "\(run.errorLines)")
    }

    /// A sweep goes on with what is there.
    @Sendable private static func sweepGoesOn(
        _ kind: FailingCalls.Failure, _ left: [String: [UInt8]], _ after: [String: [UInt8]],
        _ untouched: [String: [UInt8]]
    ) -> String? {
        let file = "run/results.jsonl"
        guard let results = after[file] else { return "no results" }
        // A cell that failed stays failed.
        return ResultLines.mismatch(left[file] ?? [], results, planned: kind == .kill ? untouched[file] : nil)
    }

    /// Makes the files of a run that was killed when its vectors were done, which take minutes.
    private static func prepareVerifiedRun(_ folder: TemporaryFolder) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("data"), withDestinationPath: Project.path("data"))
        try prepareRun(folder)
        let bytes = try #require(folder.bytes("run/results.jsonl"))
        let header = try #require(bytes.split(separator: 0x0A).first)
        guard case .header(let run) = try JSONDecoder().decode(ResultRecord.self, from: Data(header)) else { return }
        var lines = [Array(header)]
        for backend in run.backends {
            let record = ConformanceRecord(
                subject: backend.name, passed: 1, failed: 0, unsupported: 0, notRun: 0, failures: [])
            lines.append(Array(try JSONEncoder().encode(ResultRecord.conformance(record))))
        }
        for name in folder.names(in: "run") { try folder.remove("run/" + name) }
        try folder.file("run/results.jsonl", Array(lines.map { $0 + [0x0A] }.joined()))
    }

    private static let gate = ["gate", "--candidate", "'\(Programs.built("chunkwise-subject"))'", "--seconds", "0.1"]

    private static func prepareRatios(_ folder: TemporaryFolder) throws {
        try prepareGatePlan(folder)
        let run = try Chunkwise.run(gate + ["--plan", "plan", "--record", "ratios.json"], in: folder.path)
        try #require(run.status == 0, "\(run.errorLines)")
    }

    private static func prepareGatePlan(_ folder: TemporaryFolder) throws {
        try folder.file(
            "plan",
            """
            object-size: 64KiB
            cells:
            - {backend: openssl, window: 64KiB}
            """)
    }

    /// Makes an encrypted playlist with its keys, and a key to seal them.
    static func preparePlaylist(_ folder: TemporaryFolder) throws {
        try HLSEncryptor(
            options: HLSOptions(segmentByteCounts: [4000], segmentsPerKey: 1), backend: SwiftBitsliced()
        ).run(MemorySource(Samples.bytes(8000)), to: FolderOutput(folder: FilePath(folder.path)))
        for name in folder.names where name.contains("key") {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path(name))
        }
        try folder.file("seal", Samples.bytes(32, seed: 5), isSecret: true)
    }

    private static let play = [
        "keys", "play", "playlist.m3u8", "out", "--store", "stored", "--device", "device", "--sealing-key", "seal",
        "--strict",
    ]

    /// Tells if a file of a folder with stored keys is whole: a device's name, a sealed key of one length or another.
    @Sendable private static func isWholeStore(_ name: String, _ bytes: [UInt8], _ untouched: [UInt8]?) -> Bool {
        guard name != "out" else { return bytes == untouched }
        // One generation may be there beside the next.
        let isKey = name.hasPrefix("stored/") && name.hasSuffix(".key") && !name.hasPrefix("stored/.")
        if isKey { return bytes.starts(with: Array("CWKEY".utf8)) || bytes.allSatisfy { $0 == 0 } }
        return name == "device" ? bytes.count == untouched?.count : false
    }

    /// Makes the files of a sweep that was killed in the middle of a line.
    private static func prepareCutRun(_ folder: TemporaryFolder) throws {
        try prepareRun(folder)
        let bytes = try #require(folder.bytes("run/results.jsonl"))
        let ends = bytes.indices.filter { bytes[$0] == 0x0A }
        for name in folder.names(in: "run") { try folder.remove("run/" + name) }
        try folder.file("run/results.jsonl", Array(bytes[..<(ends[2] + 9)]))
    }

    /// Tells if a file of a run's folder is whole, where figures differ each time.
    @Sendable private static func isWholeResult(_ name: String, _ bytes: [UInt8], _ untouched: [UInt8]?) -> Bool {
        guard untouched != nil else { return false }
        let text = String(decoding: bytes, as: UTF8.self)
        switch name.split(separator: ".").last {
        // A log grows line by line, and its last one may be cut.
        case "jsonl":
            return bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().allSatisfy {
                JSONValue.parse(Array($0)) != nil
            }
        case "json": return JSONValue.parse(bytes) != nil
        case "html": return text.hasSuffix("</html>\n")
        case "svg": return text.hasSuffix("</svg>\n")
        case "xml": return text.hasSuffix("</testsuites>\n")
        default: return bytes.last == 0x0A
        }
    }

    static let all: [FaultedCommand] = [
        FaultedCommand(
            name: "encrypt", arguments: ["encrypt"] + options + ["plain", "encrypted"], prepare: prepareKey),
        FaultedCommand(
            name: "decrypt", arguments: ["decrypt"] + options + ["encrypted", "decrypted"], prepare: prepareEncrypted),
        FaultedCommand(
            name: "decrypt a range", arguments: ["decrypt"] + options + ["--range", "4099-99000", "encrypted", "-"],
            prepare: prepareEncrypted),
        FaultedCommand(
            name: "measure",
            arguments: [
                "measure", "--backend", "openssl", "--object-size", "64KiB", "--rounds", "1", "--milliseconds", "1",
            ],
            statuses: [1, 74], prepare: { _ in }, printsTheSame: false),
        FaultedCommand(
            name: "sweep", arguments: ["sweep", "--plan", "plan", "--output", "run"], untouched: [0, 1], cost: 2,
            prepare: preparePlan, isWhole: isWholeResult, goesOn: sweepGoesOn, printsTheSame: false),
        FaultedCommand(
            name: "sweep, going on", arguments: ["sweep", "--plan", "plan", "--output", "run"], untouched: [0, 1],
            prepare: prepareCutRun, isWhole: isWholeResult, goesOn: sweepGoesOn, printsTheSame: false),
        FaultedCommand(
            name: "run, going on", arguments: ["run", "--plan", "plan", "--output", "run"], untouched: [0, 1],
            statuses: [66, 74], cost: 2, prepare: prepareVerifiedRun, isWhole: isWholeResult, goesOn: sweepGoesOn,
            printsTheSame: false),
        FaultedCommand(
            name: "gate --record",
            arguments: gate + ["--plan", "plan", "--record", "ratios.json", "--output", "gate.json"],
            untouched: [0, 1, 2], cost: 8, isLong: true, prepare: prepareGatePlan, isWhole: isWholeResult,
            printsTheSame: false),
        FaultedCommand(
            name: "gate --against",
            arguments: gate + ["--against", "ratios.json", "--write", "junit=gate.xml", "--output", "gate.json"],
            untouched: [0, 1, 2], cost: 2, prepare: prepareRatios, isWhole: isWholeResult, printsTheSame: false),
        FaultedCommand(
            name: "vectors generate", arguments: ["vectors", "generate", "--output", "."], cost: 12, isLong: true,
            prepare: { _ in }),
        FaultedCommand(
            name: "keys play", arguments: play, statuses: [66, 74], knowsClock: true, prepare: preparePlaylist,
            isWhole: isWholeStore),
        // 66: what cannot be looked at is no folder of results.
        FaultedCommand(name: "report", arguments: ["report", "run"], statuses: [66, 74], prepare: prepareRun),
        FaultedCommand(
            name: "report compare", arguments: ["report", "compare", "run", "run", "--output", "comparison"],
            statuses: [66, 74], prepare: prepareRun),
        FaultedCommand(
            name: "report history", arguments: ["report", "history", ".", "--output", "history"],
            statuses: [66, 74], prepare: prepareRun),
        FaultedCommand(
            name: "verify",
            arguments: ["verify", "--backend", "openssl", "--vectors", "vectors.json", "--evidence", "evidence"],
            statuses: [1, 74],
            prepare: { folder in
                try FileManager.default.copyItem(
                    atPath: Project.path("data/vectors/nist-ctr.json"), toPath: folder.path("vectors.json"))
            },
            isWhole: isWholeResult),
    ]
}
