import Foundation
import TestSupport
import Testing

/// What a program meets when it is started carelessly: closed streams, limits, streams that do not wait.
@Suite("a hostile environment")
struct EnvironmentTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.file(
            "plan",
            """
            rounds: 1
            time: 1ms
            object-size: 64KiB
            cells:
            - {backend: openssl}
            """)
    }

    /// Runs the program by a shell, which closes streams or sets limits.
    private func shell(_ command: String) throws -> CommandRun {
        try CommandRun.run(
            "/bin/sh", ["-c", command.replacing("chunkwise", with: "'\(Programs.chunkwise)'")], in: folder.path)
    }

    private func closed(_ streams: Int) -> String {
        ["<&-", ">&-", "2>&-"].enumerated().filter { streams & 1 << $0.offset != 0 }.map(\.element).joined(
            separator: " ")
    }

    @Test("an answer into a closed stream is an error, and closed streams harm nothing else", arguments: 0..<8)
    func closedStreams(_ streams: Int) throws {
        let run = try shell("chunkwise backends --format json \(closed(streams))")
        let isLost = streams & 2 != 0
        #expect(run.status == (isLost ? 74 : 0), "\(closed(streams)): \(run.errorLines)")
        #expect(isLost || run.text.hasPrefix("{"))
        #expect(!isLost || streams & 4 != 0 || run.errorLines.count == 1)
    }

    @Test("a sweep with closed streams keeps its results, and nothing else is in their file", arguments: 1..<8)
    func closedStreamsOfSweep(_ streams: Int) throws {
        let run = try shell("chunkwise sweep --plan plan --output run\(streams) \(closed(streams))")
        #expect(run.status == (streams & 2 != 0 ? 74 : 0), "\(closed(streams)): \(run.errorLines)")
        let lines = try #require(folder.bytes("run\(streams)/results.jsonl")).split(separator: 0x0A)
        #expect(lines.count > 3 && lines.allSatisfy { $0.first == UInt8(ascii: "{") && $0.last == UInt8(ascii: "}") })
        #expect(String(decoding: lines[lines.count - 1], as: UTF8.self).contains("end"))
    }

    @Test("a file that may not grow is an error, and nothing stands under its name")
    func fileSizeLimit() throws {
        try folder.file("plain", [UInt8](repeating: 7, count: 1 << 20))
        let encrypted = try Chunkwise.convert("encrypt", folder, ["plain", "encrypted"])
        #expect(encrypted.status == 0)
        let run = try shell(
            "ulimit -f 64; chunkwise decrypt --key-file key --iv \(Chunkwise.ivHex) encrypted decrypted")
        Chunkwise.expectFailure(run, 74, "File too large")
        #expect(folder.bytes("decrypted") == nil)
    }

    @Test("a reader that has seen enough ends the program as any other, without a message")
    func brokenPipe() throws {
        let run = try shell("{ chunkwise backends; echo $? >status; } | :; cat status")
        #expect(["0", "141"].contains(run.text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(run.errorLines == [])
    }

    @Test(
        "a subject whose streams do not wait answers all the same", .enabled(if: Programs.installed("python3") != nil))
    func nonBlocking() throws {
        let script = """
            import fcntl, json, os, subprocess, sys
            input, request = os.pipe()
            answer, output = os.pipe()
            for end in (input, output):
                fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_NONBLOCK)
            subject = subprocess.Popen([sys.argv[1], 'subject'], stdin=input, stdout=output)
            os.close(output)
            lines = os.fdopen(answer, 'rb')
            for operation in ('hello', 'bye'):
                os.write(request, json.dumps({'op': operation, 'protocol': 1}).encode() + b'\\n')
                print(json.loads(lines.readline())['ok'])
            print(subject.wait())
            """
        let python = try #require(Programs.installed("python3"))
        let run = try CommandRun.run(python, ["-c", script, Programs.chunkwise], in: folder.path)
        #expect(run.text.split(separator: "\n") == ["True", "True", "0"], "\(run.errorLines)")
    }

    @Test(
        "a sweep into a folder where another one runs leaves it alone", .enabled(if: Programs.installed("flock") != nil)
    )
    func lockedFolder() throws {
        try FileManager.default.createDirectory(
            atPath: folder.path("run/.chunkwise-objects"), withIntermediateDirectories: true)
        try folder.file("run/results.jsonl", "")
        let object = try folder.file("run/.chunkwise-objects/1.chunkwise.bin", "an object of the other one")
        let run = try shell("flock run/results.jsonl chunkwise sweep --plan plan --output run")
        Chunkwise.expectFailure(run, 74, "another run writes to it")
        #expect(FileManager.default.fileExists(atPath: object))
    }
}
