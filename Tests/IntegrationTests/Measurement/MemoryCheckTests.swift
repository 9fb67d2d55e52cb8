import Foundation
import Measurement
import SubjectProtocol
import SystemPackage
import TestSupport
import Testing

/// A subject in Python whose memory is known: it reads no ciphertext at all.
private let script = """
    import json, sys
    fault, kept = sys.argv[1], []
    size = {}
    def touch(count):
        return bytearray(b"x") * count
    for line in sys.stdin:
        request = json.loads(line)
        answer, payload = {"ok": True}, b""
        op, id = request["op"], request.get("id")
        if op == "hello":
            answer.update(protocol=1, name="fake", version="1", strategies=["ctr"], keyByteCounts=[16],
                          sources=["served"], granularity="block", measures=False)
        if op == "open":
            size[id] = request["source"]["byteCount"]
            answer["plaintextByteCount"] = size[id]
            if fault == "whole": kept.append(touch(size[id] // 1024))
        if op == "read":
            count = min(request["count"], size[id] - request["offset"])
            if fault == "once": touch(100 << 20)
            if fault == "leak": kept.append(touch(count))
            payload = bytes(count)
            answer["payload"] = count
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\\n" + payload)
        sys.stdout.buffer.flush()
        if op == "bye": break
    """

@Suite("memory", .enabled(if: Programs.installed("python3") != nil), .serialized)
struct MemoryCheckTests {
    private let folder: TemporaryFolder

    init() throws {
        Programs.ignoreBrokenPipes()
        folder = try TemporaryFolder()
        try folder.file("subject.py", Array(script.utf8))
    }

    private func command(_ fault: String) throws -> [String] {
        [try #require(Programs.installed("python3")), folder.path("subject.py"), fault]
    }

    /// The rise of a child's memory, in bytes, when it touches 100 MiB and frees them at once.
    private func rise() throws -> Int {
        let process = try SubjectProcess(command: try command("once"), timeout: .seconds(60))
        _ = try process.request(["op": "hello", "protocol": 1])
        _ = try process.request(["op": "open", "id": 1, "source": ["byteCount": 16]])
        let memory = try MemoryWatch.run(process.processID) {
            _ = try process.request(["op": "read", "id": 1, "offset": 0, "count": 16])
        }.memory
        try process.end()
        let watch = try #require(memory, "the kernel does not tell")
        #expect(watch.anonymous.byteCount + (1 << 20) >= watch.resident.byteCount)
        return Int(watch.resident.byteCount)
    }

    @Test("100 MiB that a child touches and frees at once are seen within 1 MiB, twenty times within 1 %")
    func freedAtOnce() throws {
        var rises: [Int] = []
        for _ in 0..<20 { rises.append(try rise()) }
        for rise in rises { #expect(abs(rise - 100 << 20) <= 1 << 20, "\(rises)") }
        let (low, high) = (try #require(rises.min()), try #require(rises.max()))
        #expect((high - low) * 100 <= low, "\(rises)")
    }

    @Test("what the parent holds is no part of its child")
    func largeParent() throws {
        let held = UnsafeMutableRawBufferPointer.allocate(byteCount: 500 << 20, alignment: 4096)
        defer { held.deallocate() }
        held.initializeMemory(as: UInt8.self, repeating: 1)
        #expect(abs(try rise() - 100 << 20) <= 1 << 20)
        #expect(held[held.count - 1] == 1)
    }

    private func examine(_ fault: String) throws -> [String: MemoryOutcome.Verdict] {
        let words = try command(fault).map { "'\($0)'" }.joined(separator: " ")
        let exam = MemoryCheck(subject: .external(command: words), folder: FilePath(folder.path))
        let outcome = try exam.run()
        #expect(outcome.subject == "fake")
        return Dictionary(uniqueKeysWithValues: outcome.checks.map { ($0.name, $0.verdict) })
    }

    @Test(
        "a subject fails the check that is for its fault, and no other",
        arguments: [("none", ""), ("leak", "files in a row"), ("whole", "same for any object")])
    func faults(fault: String, failing: String) throws {
        let verdicts = try examine(fault)
        #expect(verdicts["declared bound"] == .notRun)
        for name in ["same for any object", "files in a row"] {
            #expect(verdicts[name] == (name == failing ? .failed : .passed), "\(verdicts)")
        }
    }

    @Test("a command that is none is no subject")
    func noCommand() throws {
        #expect(throws: SubjectError.self) {
            try MemoryCheck(subject: .external(command: "/no/such/program"), folder: FilePath(folder.path)).run()
        }
    }
}
