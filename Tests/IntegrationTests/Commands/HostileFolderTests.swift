import Foundation
import TestSupport
import Testing

/// Files and folders that are not what a program expects, that go while it runs, or that another one uses as well.
@Suite("hostile files and folders")
struct HostileFolderTests {
    private let folder: TemporaryFolder
    private let plain = Samples.bytes(100_000, seed: 21)

    init() throws {
        folder = try TemporaryFolder()
        try folder.file("plan", "rounds: 1\ntime: 1ms\nobject-size: 64KiB\ncells:\n- {backend: openssl}\n")
        try folder.file("key", Chunkwise.keyHex + "\n", isSecret: true)
        try folder.file("seal", Samples.bytes(32, seed: 5), isSecret: true)
        try folder.file("plain", plain)
        let run = try Chunkwise.convert("encrypt", folder, ["plain", "encrypted"])
        try #require(run.status == 0, "\(run.errorLines)")
    }

    private static let encrypt = "chunkwise encrypt --key-file key --iv \(Chunkwise.ivHex)"
    private static let decrypt = "chunkwise decrypt --key-file key --iv \(Chunkwise.ivHex)"

    private func shell(_ command: String) throws -> CommandRun { try Chunkwise.shell(command, in: folder) }

    private func expectError(_ run: CommandRun, _ statuses: Set<Int32>, _ what: String) {
        #expect(statuses.contains(run.status), "\(what) → \(run.status) \(run.errorLines)")
        let isNamed = run.errorLines.contains { $0.hasPrefix("chunkwise") }
        #expect(isNamed && !run.errorLines.contains { $0.contains("Fatal") }, "\(what): \(run.errorLines)")
    }

    /// Commands that read from a name.
    private static let readers = [
        "\(encrypt) NAME out", "\(decrypt) NAME out", "chunkwise sweep --plan NAME --output out",
        "chunkwise verify --vectors NAME", "chunkwise report NAME", "chunkwise report history NAME",
        "chunkwise gate --against NAME --candidate true", "chunkwise keys play NAME out",
        "chunkwise encrypt --key-file NAME --iv \(Chunkwise.ivHex) plain out",
        "chunkwise serve --key-file key --iv \(Chunkwise.ivHex) --port 0 NAME",
        "chunkwise key-server --keys NAME --port 0", "chunkwise key-server --keys . --clients NAME --port 0",
        "chunkwise measure --trace NAME/x.json --backend openssl",
    ]

    /// Commands that write to a name, which stands for a file or a folder.
    private static let writers = [
        "\(encrypt) plain NAME", "\(decrypt) encrypted NAME", "chunkwise sweep --plan plan --output NAME",
        "chunkwise verify --backend openssl --vectors vectors.json --evidence NAME",
        "chunkwise key-server --keys . --port 0 --audit NAME",
        "chunkwise serve --key-file key --iv \(Chunkwise.ivHex) --port 0 --record NAME encrypted",
        "chunkwise vectors objects --vectors vectors.json --output NAME",
    ]

    private func copyVectors() throws {
        try FileManager.default.copyItem(
            atPath: Project.path("data/vectors/nist-ctr.json"), toPath: folder.path("vectors.json"))
    }

    @Test("a disk that fails is neither a missing file nor one to be skipped")
    func failingDisk() throws {
        // Reading its start fails with EIO.
        for name in ["vectors.json", "results.jsonl"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path(name), withDestinationPath: "/proc/self/mem")
        }
        for command in [
            "verify --backend openssl --vectors vectors.json", "report history .", "report results.jsonl",
        ] {
            let run = try Chunkwise.shell("chunkwise \(command)", in: folder)
            #expect(run.status == 74, "\(command): \(run.status) \(run.errorLines)")
        }
    }

    @Test("a loop of links is an error by its name, as what is read and as what is written")
    func loops() throws {
        try copyVectors()
        try FileManager.default.createSymbolicLink(atPath: folder.path("loop"), withDestinationPath: "loop")
        for command in Self.readers {
            let command = "timeout -s KILL 60 " + command.replacing("NAME", with: "loop")
            expectError(try shell(command), [2, 64, 65, 66, 74], command)
        }
        for command in Self.writers {
            let command = "timeout -s KILL 60 " + command.replacing("NAME", with: "loop")
            expectError(try shell(command), [74], command)
        }
        let kept = try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("loop"))
        #expect(kept == "loop" && folder.bytes("out") == nil)
    }

    @Test("a device is written to as it is, and full it is an error; an empty one is an input without a byte")
    func devices() throws {
        try copyVectors()
        for command in ["\(Self.encrypt) plain /dev/null", "\(Self.decrypt) encrypted /dev/null"] {
            let run = try shell(command)
            #expect(run.status == 0 && run.errorLines.isEmpty, "\(command): \(run.errorLines)")
        }
        for command in Self.writers.prefix(2) {
            let run = try shell(command.replacing("NAME", with: "/dev/full"))
            Chunkwise.expectFailure(run, 74, "No space left on device", command)
        }
        for command in Self.writers.dropFirst(2) where !command.contains("key-server") {
            let command = "timeout -s KILL 60 " + command.replacing("NAME", with: "/dev/full")
            // A trace is no device.
            expectError(try shell(command), [64, 74], command)
        }
        for command in Self.readers where !command.contains("encrypt --key-file key") {
            let command = "timeout -s KILL 60 " + command.replacing("NAME", with: "/dev/null")
            expectError(try shell(command), [2, 64, 65, 66, 74], command)
        }
        let empty = try shell("\(Self.encrypt) /dev/null empty && \(Self.decrypt) empty -")
        #expect(empty.status == 0 && empty.output.isEmpty, "\(empty.errorLines)")
    }

    @Test("a FIFO is read to its end and written in order")
    func fifos() throws {
        let run = try shell(
            """
            mkfifo in out
            cat plain > in & cat out > back & \(Self.encrypt) in out; status=$?
            wait; \(Self.decrypt) back - && exit $status
            """)
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        #expect(Samples.difference(run.output, plain) == nil)
        let ciphertext = try shell(
            """
            cat back > in & writer=$!
            timeout -s KILL 60 \(Self.decrypt) in -; status=$?
            kill $writer 2>/dev/null; wait $writer 2>/dev/null; exit $status
            """)
        let reason = "a pipe or device: expected a file that can be read at any offset"
        #expect(
            ciphertext.status == 66 && ciphertext.errorLines.contains { $0.contains(reason) },
            "\(ciphertext.status) \(ciphertext.errorLines)")
        let key = try shell(
            "cat key > in & chunkwise decrypt --key-file in --iv \(Chunkwise.ivHex) encrypted back; wait; cmp plain back"
        )
        #expect(key.status == 0, "\(key.errorLines)")
    }

    @Test("a folder that goes while something is made in it is an error")
    func removedFolder() throws {
        let run = try shell(
            """
            mkdir gone; mkfifo in
            \(Self.encrypt) in gone/out & pid=$!
            exec 3> in; head -c 70000 plain >&3; rm -r gone; exec 3>&-
            wait $pid
            """)
        Chunkwise.expectFailure(run, 74, "gone/out")
        #expect(folder.names.filter { $0.contains("chunkwise") } == [])
    }

    @Test("a sweep whose folder goes ends with an error, and does not measure for nobody")
    func removedRun() throws {
        try folder.file(
            "plan", "rounds: 500\ntime: 20ms\nobject-size: 64KiB\ncells:\n- {backend: openssl}\n")
        let streams = try TemporaryFolder()
        let process = try CommandRun.start(
            "/usr/bin/timeout",
            ["-s", "KILL", "300", Programs.chunkwise, "sweep", "--plan", "plan", "--output", "run"],
            in: folder.path, streams: streams)
        for _ in 0..<60_000 where process.isRunning && (folder.bytes("run/results.jsonl") ?? []).count < 5000 {
            usleep(1000)
        }
        try folder.remove("run")
        process.waitUntilExit()
        expectError(CommandRun.finished(process, streams: streams), [74], "sweep")
        #expect(folder.bytes("run/results.jsonl") == nil)
    }

    /// True if this process may mount.
    private static let mayMount =
        (try? CommandRun.run("/bin/sh", ["-c", "unshare -m mount --bind /tmp /tmp"]))?.status == 0

    @Test("a folder that is read-only is read from and not written to", .enabled(if: Self.mayMount))
    func readOnlyFolder() throws {
        try copyVectors()
        try FileManager.default.createDirectory(atPath: folder.path("fixed"), withIntermediateDirectories: false)
        try folder.file("fixed/plain", plain)
        let mount = "mount --bind fixed fixed && mount -o remount,ro,bind fixed && "
        func fixed(_ command: String) throws -> CommandRun {
            try shell("unshare -m /bin/sh -c \"\(mount) timeout -s KILL 60 \(command)\"")
        }
        #expect(try fixed("\(Self.encrypt) fixed/plain out").status == 0)
        #expect(folder.bytes("out") == folder.bytes("encrypted"))
        for command in Self.writers + [
            "chunkwise gate --record NAME --candidate true", "chunkwise vectors generate --output NAME",
        ] {
            let isFolder = command.contains("vectors generate")
            let run = try fixed(command.replacing("NAME", with: isFolder ? "fixed" : "fixed/new"))
            expectError(run, [74], command)
            #expect(run.errorLines.contains { $0.contains("Read-only file system") }, "\(command): \(run.errorLines)")
        }
        #expect(folder.names(in: "fixed") == ["plain"])
    }

    @Test("two sweeps in one folder at once: one of them, or one behind the other")
    func twoSweeps() throws {
        let run = try shell(
            """
            for n in 1 2 3; do chunkwise sweep --plan plan --output run > out$n 2> err$n || echo $? & done; wait
            """)
        #expect(run.text.split(separator: "\n").allSatisfy { $0 == "74" } && run.text.count < 9, "\(run.text)")
        let results = try #require(folder.bytes("run/results.jsonl"))
        #expect(ResultLines.mismatch([], results, planned: results) == nil)
        #expect(ResultLines(results)?.names.contains { $0.hasPrefix("end") } == true)
    }

    @Test("files that several processes write at once are one's or another's, and whole")
    func manyWriters() throws {
        let encrypted = try shell(
            "for n in 1 2 3 4; do \(Self.encrypt) plain out || echo $? & done; wait; cmp out encrypted")
        #expect(encrypted.status == 0 && encrypted.output.isEmpty, "\(encrypted.text) \(encrypted.errorLines)")
        #expect(try shell("chunkwise sweep --plan plan --output run").status == 0)
        let pages = try shell(
            "cp run/index.html .; for n in 1 2 3; do chunkwise report run > out$n || echo $? & done; wait; "
                + "cmp index.html run/index.html")
        #expect(pages.status == 0 && pages.output.isEmpty, "\(pages.text) \(pages.errorLines)")
        #expect(!(folder.names + folder.names(in: "run")).contains { $0.hasSuffix(".partial") })
    }

    @Test("several processes of a device use one folder of stored keys at once, and make it at once")
    func manyDevices() throws {
        try FaultedCommand.preparePlaylist(folder)
        let play = "chunkwise keys play --store stored --device device --sealing-key seal"
        let run = try shell(
            """
            for n in 1 2 3 4; do \(play) playlist.m3u8 out$n || echo $? & done; wait
            for n in 1 2 3 4; do cmp out1 out$n; done
            """)
        #expect(run.output.isEmpty && run.status == 0, "\(run.text) \(run.errorLines)")
        let again = try shell("\(play) --keys nothing playlist.m3u8 again && cmp out1 again")
        #expect(again.status == 0, "\(again.errorLines)")
    }

    @Test(
        "a stored key does not live longer because the clock was set back", .enabled(if: FailingCalls.compiler != nil))
    func clockSetBack() throws {
        try FaultedCommand.preparePlaylist(folder)
        let calls = try FailingCalls()
        func play(_ output: String, isBack: Bool) throws -> CommandRun {
            try CommandRun.run(
                Programs.chunkwise,
                [
                    "keys", "play", "--store", "stored", "--device", "device", "--sealing-key", "seal",
                    "--playback", "1d", "--keys", isBack ? "nothing" : ".", "playlist.m3u8", output,
                ],
                in: folder.path, environment: isBack ? try calls.environment(.clock, at: 1) : [:])
        }
        #expect(try play("out", isBack: false).status == 0)
        let run = try play("back", isBack: true)
        #expect(run.status == 66 && folder.bytes("back") == nil, "\(run.status) \(run.errorLines)")
        #expect(run.errorLines.contains { $0.contains("the clock is") && $0.contains("ask for an online key") })
        // Nothing is lost by it.
        #expect(try play("again", isBack: false).status == 0)
    }

    @Test(
        "without HOME, and without a folder for temporary files, commands do without or say so",
        arguments: ["env -i", "env -i TMPDIR=/nonexistent HOME=/nonexistent"])
    func noHome(_ environment: String) throws {
        let measure = "measure --backend openssl --object-size 64KiB --rounds 1 --milliseconds 1"
        for command in [
            "backends", "sweep --plan plan --output run",
            "decrypt --key-file key --iv "
                + "\(Chunkwise.ivHex) encrypted back", measure,
        ] {
            // Swift's libraries may be found by a variable only.
            let run = try shell("\(environment) LD_LIBRARY_PATH=\"$LD_LIBRARY_PATH\" chunkwise \(command)")
            let isRefused = environment.contains("TMPDIR") && command == measure
            #expect(run.status == 0 || isRefused && run.status == 74, "\(command): \(run.errorLines)")
            #expect(run.status == 0 || run.errorLines.contains { $0.contains("/nonexistent") }, "\(run.errorLines)")
        }
        #expect(folder.bytes("back") == plain)
    }
}
