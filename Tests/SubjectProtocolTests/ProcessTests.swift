import ByteSources
import Foundation
import RandomAccess
import SubjectProtocol
import Support
import TestSupport
import Testing

/// Starts a subject that is a shell script.
private func start(
    _ script: String, timeout: Duration = .seconds(20), grace: Duration? = nil
) throws -> SubjectProcess {
    Programs.ignoreBrokenPipes()
    return try SubjectProcess(command: ["/bin/sh", "-c", script], timeout: timeout, grace: grace)
}

private let hello: JSONValue = ["op": "hello", "protocol": 1]

/// Runs a request that must fail, and returns why.
private func failure(of process: SubjectProcess, serving source: (any ByteSource)? = nil) -> SubjectError? {
    #expect(throws: SubjectError.self) { try process.request(hello, serving: source) }
}

/// Bytes that do not matter.
private struct UnfilledSource: ByteSource {
    let byteCount: UInt64

    func read(at offset: UInt64, into buffers: FetchBuffers) -> Int { buffers.byteCount }
}

@Suite("the harness's side of the protocol")
struct ProcessTests {
    @Test("an answer with its payload comes as it was sent, in however many pieces")
    func pieces() throws {
        let subject = try start(
            #"read l; printf '{"ok":tr'; sleep 0.05; printf 'ue,"payload":6,"l":%s}\nab' "$l"; sleep 0.05; printf 'c\n\0f'; read l"#
        )
        let answer = try subject.request(hello)
        #expect(answer.payload == [0x61, 0x62, 0x63, 0x0A, 0, 0x66] && answer.members["l"] == hello)
    }

    @Test("an answer with an error has its name and message, and the subject goes on")
    func refusal() throws {
        let subject = try start(
            #"read l; echo '{"ok":false,"error":"io","message":"m","payload":2}'; printf xx; read l; echo '{"ok":true}'"#
        )
        #expect(failure(of: subject) == .refused(name: "io", message: "m"))
        #expect(try subject.request(hello).payload.isEmpty)
    }

    @Test("a subject that dies is quoted with its last lines", arguments: [("exit 3", 3 << 8), ("kill -9 $$", 9)])
    func death(end: String, status: Int32) throws {
        let subject = try start("for n in 1 2 3 4 5 6; do echo line $n >&2; done; read l; \(end)")
        #expect(failure(of: subject) == .died(status: status, log: "line 4 | line 5 | line 6"))
    }

    @Test(
        "a subject that a scheduler ends just before this process has not failed; one that is ended alone has",
        arguments: ["TERM", "INT", "HUP"])
    func preempted(signal: String) throws {
        for isStopped in [true, false] {
            var looks = 0
            let subject = try SubjectProcess(
                command: ["/bin/sh", "-c", "read l; kill -\(signal) $$"], timeout: .seconds(20),
                isInterrupted: {
                    looks += 1
                    return isStopped && looks > 3
                })
            let failure = failure(of: subject)
            switch failure {
            case .interrupted?: #expect(isStopped)
            case .died?: #expect(!isStopped)
            default: Issue.record("\(String(describing: failure)): expected that it was ended by a signal")
            }
        }
    }

    @Test("a subject that dies before it reads is dead, and not the end of this process")
    func earlyDeath() throws {
        let subject = try start("exec <&-; exit 5")
        var failure: SubjectError?
        for _ in 0..<100 where failure == nil {
            do throws(SubjectError) { _ = try subject.request(hello) } catch { failure = error }
        }
        #expect(failure == .died(status: 5 << 8, log: ""))
    }

    @Test(
        "a command that is not there cannot be started",
        arguments: [[], [""], ["/missing/subject"], ["missing-subject"]])
    func missing(command: [String]) {
        let error = #expect(throws: SubjectError.self) { try SubjectProcess(command: command, timeout: .seconds(1)) }
        guard case .notStarted = error else {
            Issue.record("\(String(describing: error)): expected that it was not started")
            return
        }
    }

    @Test(
        "a subject that does not answer, not all, or only logs, has no time without end",
        arguments: [
            "sleep 1000", "read l; printf '{'; sleep 1000",
            #"read l; echo '{"ok":true,"payload":5}'; printf abc; sleep 1000"#,
            "while :; do echo flood >&2; done", "yes flood >&2", "kill -STOP $$",
        ])
    func hanging(script: String) throws {
        let subject = try start(script, timeout: .milliseconds(150))
        #expect(failure(of: subject) == .timeout(seconds: 0.15))
    }

    @Test("a subject that closes its output and stays has no time without end either")
    func closedOutput() throws {
        let subject = try start("exec >&-; sleep 1000", grace: .milliseconds(50))
        guard case .framing = failure(of: subject) else {
            Issue.record("expected an error about the closed output")
            return
        }
    }

    @Test("a subject that says goodbye and stays is ended")
    func stayer() throws {
        let subject = try start(#"read l; echo '{"ok":true}'; exec sleep 1000"#, grace: .milliseconds(50))
        #expect(throws: SubjectError.timeout(seconds: 0.05)) { try subject.end() }
        #expect(kill(subject.processID, 0) != 0)
    }

    @Test("goodbye with another exit status than 0 is an error")
    func badGoodbye() throws {
        let subject = try start(#"read l; echo '{"ok":true}'; exit 4"#)
        #expect(throws: SubjectError.died(status: 4 << 8, log: "")) { try subject.end() }
        try start(#"read l; echo '{"ok":true}'"#).end()
    }

    @Test("a subject that logs more than a pipe holds is answered all the same")
    func flood() throws {
        let subject = try start(
            #"head -c 3000000 /dev/zero | tr '\0' x >&2; read l; echo '{"ok":true}'; head -c 300000 /dev/zero >&2"#)
        #expect(try subject.request(hello).members["ok"] == true)
        try? subject.end()
    }

    @Test("a process that is no longer waited for ends, with what it started", arguments: [true, false])
    func abandoned(isTrapping: Bool) throws {
        let folder = try TemporaryFolder()
        let script =
            "\(isTrapping ? "trap '' INT TERM HUP;" : "") sleep 1000 & echo $! >'\(folder.path)/pid'; read l; echo '{\"ok\":true}'; wait"
        var subject: SubjectProcess? = try start(script)
        _ = try subject?.request(hello)
        let child = try #require(folder.bytes("pid").flatMap { Int32(String(decoding: $0, as: UTF8.self).dropLast()) })
        subject = nil
        // The child is this process's no more; whoever inherits it may take a moment.
        for _ in 0..<200 where isRunning(child) { usleep(10_000) }
        #expect(!isRunning(child))
    }

    private func isRunning(_ processID: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8) else { return false }
        return !status.contains(") Z ")
    }

    @Test(
        "what is no message breaks the framing",
        arguments: [
            "", "x", "[]", "1", "null", "{}", "{\"ok\":1}", "{\"ok\":true", "{\"ok\":true}}", "\\377\\376",
            "{\"ok\":true,\"payload\":268435457}", "{\"ok\":true,\"payload\":18446744073709551615}", "{\"need\":1}",
            "{\"need\":{}}", "{\"need\":{\"offset\":0}}", "{\"need\":{\"offset\":0,\"count\":1}}",
        ])
    func garbage(line: String) throws {
        let subject = try start("read l; printf '\(line)\\n'; read l")
        guard case .framing = failure(of: subject) else {
            Issue.record("\(line): expected that the framing is broken")
            return
        }
    }

    @Test(
        "a payload that is no count of bytes breaks the framing",
        arguments: ["-1", "1.5", "\"1\"", "true", "null", "99999999999999999999999", "[1]"])
    func badPayload(payload: String) throws {
        let subject = try start("read l; echo '{\"ok\":true,\"payload\":\(payload)}'; read l")
        guard case .framing = failure(of: subject) else {
            Issue.record("\(payload): expected that the framing is broken")
            return
        }
    }

    @Test("a need of more than 256 MiB gets a part")
    func longNeed() throws {
        let script =
            "read l; echo '{\"need\":{\"offset\":1,\"count\":268435457}}'; read l; echo \"$l\" >&2; "
            + "head -c 268435456 | wc -c >&2; echo '{\"ok\":true}'"
        let folder = try TemporaryFolder()
        let subject = try start("{ \(script); } 2>'\(folder.path)/log'")
        #expect(try subject.request(hello, serving: UnfilledSource(byteCount: 1 << 30)).isGood)
        let log = String(decoding: folder.bytes("log") ?? [], as: UTF8.self)
        #expect(log == "{\"ok\":true,\"payload\":268435456}\n268435456\n")
    }

    @Test(
        "a need outside of what is served breaks the framing",
        arguments: [(17, 0), (0, 17), (16, 1), (1, 16), (UInt64.max, 1), (1, UInt64.max), (1 << 63, 1 << 63)]
            as [(UInt64, UInt64)])
    func badNeed(offset: UInt64, count: UInt64) throws {
        let subject = try start("read l; echo '{\"need\":{\"offset\":\(offset),\"count\":\(count)}}'; read l")
        guard case .framing = failure(of: subject, serving: MemorySource(Samples.bytes(16))) else {
            Issue.record("expected that the framing is broken")
            return
        }
    }
}
