import Foundation
import Measurement
import SystemPackage
import TestSupport
import Testing

/// Careless starts of a program: closed streams, limits, streams that do not wait.
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
    private func shell(_ command: String) throws -> CommandRun { try Chunkwise.shell(command, in: folder) }

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

    @Test(
        "libcrypto frees nothing at the end, when threads may free the same",
        .enabled(if: FailingCalls.compiler != nil, "no C compiler"))
    func endOfLibraries() throws {
        let library = try FailingCalls.compile("exit-handlers", in: folder)
        let run = try CommandRun.run(Programs.chunkwise, ["backends"], environment: ["LD_PRELOAD": library])
        #expect(run.status == 0 && run.errorLines.contains { $0.hasPrefix("at exit: ") }, "\(run.errorLines)")
        #expect(!run.errorLines.contains { $0.contains("libcrypto") }, "\(run.errorLines)")
    }

    @Test("a sweep with closed streams keeps its results, and nothing else is in their file", arguments: 1..<8)
    func closedStreamsOfSweep(_ streams: Int) throws {
        let run = try shell("chunkwise sweep --plan plan --output run\(streams) \(closed(streams))")
        #expect(run.status == (streams & 2 != 0 ? 74 : 0), "\(closed(streams)): \(run.errorLines)")
        let lines = try #require(folder.bytes("run\(streams)/results.jsonl")).split(separator: 0x0A)
        #expect(lines.count > 3 && lines.allSatisfy { $0.first == UInt8(ascii: "{") && $0.last == UInt8(ascii: "}") })
        #expect(String(decoding: lines[lines.count - 1], as: UTF8.self).contains("end"))
    }

    @Test("files come out whole with closed streams, and none of them has a message in it", arguments: 1..<8)
    func closedStreamsOfFiles(_ streams: Int) throws {
        let plain = Samples.bytes(100_000, seed: 3)
        try folder.file("plain", plain)
        let encrypted = try Chunkwise.convert("encrypt", folder, ["plain", "encrypted"])
        #expect(encrypted.status == 0)
        let options = "--key-file key --iv \(Chunkwise.ivHex)"
        let isLost = streams & 2 != 0
        for (command, output, status) in [
            ("encrypt \(options) plain out", "out", 0), ("decrypt \(options) encrypted back", "back", 0),
            ("decrypt \(options) encrypted -", nil, isLost ? 74 : 0),
            ("encrypt \(options) - out", "out", streams & 1 != 0 ? 74 : 0),
            // Nobody could learn where they listen.
            ("serve \(options) --port 0 encrypted", nil, isLost ? 74 : 124),
            ("key-server --keys . --port 0", nil, isLost ? 74 : 124),
        ] {
            let isServer = command.contains("serve")
            guard !isServer || isLost else { continue }
            let run = try shell("timeout -s KILL 60 chunkwise \(command) < plain \(closed(streams))")
            #expect(run.status == status, "\(command) \(closed(streams)): \(run.status) \(run.errorLines)")
            #expect(run.status == 0 || streams & 4 != 0 || run.errorLines.count == 1, "\(run.errorLines)")
            if run.status == 0, !isServer {
                let bytes = output.map { folder.bytes($0) } ?? run.output
                #expect(bytes == plain || bytes == folder.bytes("encrypted"), "\(command) \(closed(streams))")
            }
            if let output { try? folder.remove(output) }
        }
    }

    @Test(
        "what a stream that is full does not take is an error, whatever is written to it",
        arguments: [
            "backends", "help decrypt", "--help", "decrypt --key-file key --iv \(Chunkwise.ivHex) encrypted -",
            "encrypt --key-file key --iv \(Chunkwise.ivHex) plain -", "report run --format markdown",
            "verify --backend openssl --vectors vectors.json",
            "vectors objects --output objects --vectors vectors.json",
            "serve --key-file key --iv \(Chunkwise.ivHex) --port 0 encrypted", "key-server --keys . --port 0",
        ])
    func fullStreams(_ command: String) throws {
        try folder.file("plain", Samples.bytes(100_000, seed: 3))
        #expect(try Chunkwise.convert("encrypt", folder, ["plain", "encrypted"]).status == 0)
        try FileManager.default.copyItem(
            atPath: Project.path("data/vectors/nist-ctr.json"), toPath: folder.path("vectors.json"))
        if command.contains("run") { #expect(try shell("chunkwise sweep --plan plan --output run").status == 0) }
        Chunkwise.expectFailure(
            try shell("timeout -s KILL 60 chunkwise \(command) > /dev/full"), 74, "No space left on device")
        // Without a word, but not without its status.
        #expect(try shell("timeout -s KILL 60 chunkwise \(command) > /dev/full 2> /dev/full").status == 74)
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

    @Test("a lack of memory is an error, at whatever limit", arguments: [100, 160, 300, 600, 1000, 2000])
    func memoryLimit(_ mebibytes: Int) throws {
        try folder.file("key", Chunkwise.keyHex + "\n", isSecret: true)
        try folder.file("plain", [UInt8](repeating: 7, count: 1 << 20))
        let cell = "--backend openssl --object-size 1MiB --rounds 1 --milliseconds 1"
        for command in [
            "encrypt --key-file key --iv \(Chunkwise.ivHex) plain encrypted", "backends",
            "sweep --plan plan --output run", "measure \(cell) --window 100MiB --access fresh-buffers",
            "measure \(cell) --strategy cbc-chunked:chunk=400MiB --access whole-chunk",
            "measure \(cell) --strategy tink-aes-gcm-hkdf:segment=256MiB",
        ] {
            let run = try shell("ulimit -v \(mebibytes << 10); exec chunkwise \(command)")
            let what = Comment("\(mebibytes) MiB, \(command) → \(run.status) \(run.errorLines)")
            switch run.status {
            case 0: #expect(try isWhole(command, run), what)
            // The process that is measured had too little.
            case 1:
                #expect(command.hasPrefix("measure") || command.hasPrefix("sweep"), what)
                #expect((run.errorLines + [run.text]).contains { $0.contains("memory") }, what)
            case 74: #expect(run.errorLines.last?.contains("memory") == true, what)
            // Not even the libraries could be loaded.
            case 127: #expect(run.errorLines.last?.contains("shared libraries") == true && run.text.isEmpty, what)
            default: Issue.record(what)
            }
            #expect(run.status == 0 || folder.bytes("encrypted") == nil || !command.hasPrefix("encrypt"), what)
            let needsLittle = command.hasPrefix("encrypt") || command == "backends"
            #expect(run.status == 0 || mebibytes < 2000 || !needsLittle, what)
        }
    }

    /// Tells if a command that succeeded has done all of what it was asked for.
    private func isWhole(_ command: String, _ run: CommandRun) throws -> Bool {
        guard run.errorLines.isEmpty else { return false }
        switch command.prefix(while: { $0 != " " }) {
        case "encrypt":
            let back = try Chunkwise.convert("decrypt", folder, ["encrypted", "back"])
            return back.status == 0 && folder.bytes("back") == folder.bytes("plain")
        case "backends": return run.text.contains("openssl")
        case "sweep": return try ResultLog.read(FilePath(folder.path("run/results.jsonl"))).results.isComplete
        default: return run.text.contains("iB/s")
        }
    }

    @Test(
        "a reader that has seen enough ends every command by SIGPIPE and without a message, also where that is ignored",
        .enabled(if: Programs.installed("python3") != nil),
        arguments: [
            ["backends"], ["backends", "--format", "json"], ["--help"], ["help", "decrypt"],
            ["decrypt", "--key-file", "key", "--iv", Chunkwise.ivHex, "encrypted", "-"],
            ["decrypt", "--key-file", "key", "--iv", Chunkwise.ivHex, "--threads", "3", "encrypted", "-"],
            ["encrypt", "--key-file", "key", "--iv", Chunkwise.ivHex, "plain", "-"],
            ["report", "run", "--format", "markdown"],
        ])
    func brokenPipe(_ arguments: [String]) throws {
        try folder.file("plain", [UInt8](repeating: 7, count: 1 << 20))
        #expect(try Chunkwise.convert("encrypt", folder, ["plain", "encrypted"]).status == 0)
        if arguments.contains("run") { #expect(try shell("chunkwise sweep --plan plan --output run").status == 0) }
        let script = """
            import os, subprocess, sys
            for restores in (True, False):
                read, write = os.pipe()
                os.close(read)
                # Python itself ignores SIGPIPE.
                print(subprocess.run(sys.argv[1:], stdout=write, restore_signals=restores).returncode)
                os.close(write)
            """
        let python = try #require(Programs.installed("python3"))
        let run = try CommandRun.run(python, ["-c", script, Programs.chunkwise] + arguments, in: folder.path)
        #expect(run.text == "-13\n-13\n" && run.errorLines == [], "\(run.text) \(run.errorLines)")
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
        "a reader that is slow gets all that is written to a pipe that does not wait, and a slow writer is waited for",
        .enabled(if: Programs.installed("python3") != nil),
        arguments: [
            ["help", "decrypt"], ["report", "run", "--format", "markdown"], ["report", "run", "--format", "html"],
            ["decrypt", "--key-file", "key", "--iv", Chunkwise.ivHex, "encrypted", "-"],
            ["encrypt", "--key-file", "key", "--iv", Chunkwise.ivHex, "-", "-"],
            ["--experimental-dump-help"],
        ])
    func slowPipes(_ arguments: [String]) throws {
        let plain = Samples.bytes(300_000, seed: 3)
        try folder.file("plain", plain)
        #expect(try Chunkwise.convert("encrypt", folder, ["plain", "encrypted"]).status == 0)
        if arguments.contains("run") { #expect(try shell("chunkwise sweep --plan plan --output run").status == 0) }
        let script = """
            import fcntl, os, subprocess, sys, threading
            source, request = os.pipe()
            answer, output = os.pipe()
            for end in (source, output):
                fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_NONBLOCK)
            # The least that a pipe can hold.
            fcntl.fcntl(output, 1031, 4096)
            process = subprocess.Popen(sys.argv[1:], stdin=source, stdout=output, stderr=output)
            os.close(source), os.close(output)
            def feed():
                with open('plain', 'rb') as file, os.fdopen(request, 'wb') as pipe:
                    try: pipe.write(file.read())
                    except BrokenPipeError: pass
            threading.Thread(target=feed).start()
            while part := os.read(answer, 1000):
                os.write(1, part)
            sys.exit(process.wait())
            """
        let python = try #require(Programs.installed("python3"))
        let whole = try Chunkwise.run(arguments, input: plain, in: folder.path)
        let run = try CommandRun.run(python, ["-c", script, Programs.chunkwise] + arguments, in: folder.path)
        #expect(run.status == 0 && run.output == whole.output, "\(run.output.count) of \(whole.output.count) bytes")
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
