import Foundation
import Glibc
import TestSupport

/// A program in a folder of its own that may leave a core of any length, and whose output is not read.
final class HeldProcess {
    /// The folder that it runs in, with its temporary files.
    let folder: TemporaryFolder

    private let streams: TemporaryFolder
    private let process: Process
    private let pipe: Int32

    /// Its number.
    var number: Int32 { process.processIdentifier }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - arguments: Its arguments.
    ///   - prepare: Fills the folder before.
    /// - Throws: What Foundation throws, or `prepare`.
    init(_ program: String, _ arguments: [String], prepare: (TemporaryFolder) throws -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        streams = try TemporaryFolder()
        try prepare(folder)
        let name = streams.path("pipe")
        guard mkfifo(name, 0o600) == 0 else { throw PeerFailure("no pipe can be made") }
        // With both ends here it stays open, and the program's end waits for no other end.
        pipe = open(name, O_RDWR | O_CLOEXEC)
        let script = """
            ulimit -c unlimited; TMPDIR="$PWD"; export TMPDIR; pipe="$1"; shift; exec "$@" >"$pipe"
            """
        process = try CommandRun.start(
            "/bin/sh", ["-c", script, "sh", name, program] + arguments, in: folder.path, streams: streams)
    }

    deinit {
        if process.isRunning { kill(number, SIGKILL) }
        process.waitUntilExit()
        close(pipe)
    }

    /// The number of bytes of its output that wait to be taken.
    var pipedByteCount: Int {
        var count: Int32 = 0
        return ioctl(pipe, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    /// Its messages.
    var said: String { String(decoding: streams.bytes("err") ?? [], as: UTF8.self) }

    /// Waits until something is so.
    ///
    /// - Throws: ``PeerFailure`` if the process ends before, or it takes minutes.
    func wait(until isSo: () -> Bool) throws {
        for _ in 0..<12_000 where process.isRunning {
            if isSo() { return }
            usleep(10_000)
        }
        throw PeerFailure("\(process.isRunning ? "it goes on" : "it ended"): \(said)")
    }

    /// Waits until it can write nothing more.
    func waitForFullPipe() throws {
        // `F_GETPIPE_SZ`, which is a macro that Swift does not take.
        // Asked each time: the child has it made larger.
        try wait { pipedByteCount >= Int(fcntl(pipe, 1032)) }
    }

    /// The length of the longest file in a folder that it writes, which may have no name yet.
    func writtenByteCount(in folder: TemporaryFolder) -> Int {
        let descriptors = "/proc/\(number)/fd/"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []
        return names.reduce(0) { maximum, name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: descriptors + name)
            var status = stat()
            guard target?.hasPrefix(folder.path) == true, stat(descriptors + name, &status) == 0 else { return maximum }
            return max(maximum, Int(status.st_size))
        }
    }

    /// Ends it by a signal, and returns the one that it ended by.
    func end(_ signal: Int32) throws -> Int32 {
        kill(number, signal)
        // Whoever reports crashes may go on afterwards.
        for _ in 0..<12_000 where process.isRunning { usleep(10_000) }
        guard !process.isRunning else { throw PeerFailure("it goes on: \(said)") }
        guard process.terminationReason == .uncaughtSignal else { throw PeerFailure("it did not end by a signal") }
        return process.terminationStatus
    }

    /// The cores that it left where it ran.
    var cores: [String] { folder.names.filter { $0.contains("core") } }

    /// Finds those of some byte strings that are in its cores, temporary files and messages.
    func found(_ needles: [String: [UInt8]]) -> Set<String> {
        var found = CoreMemory.found(needles, in: streams.bytes("err") ?? [])
        for case let name as String in FileManager.default.enumerator(atPath: folder.path) ?? .init() {
            found.formUnion(CoreMemory.found(needles, in: folder.bytes(name) ?? []))
        }
        return found
    }
}
