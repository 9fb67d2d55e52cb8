import Results
import Testing
import Vectors

@testable import Conformance

/// An error of a program, and the finding that is expected.
struct Misdeed: CustomTestStringConvertible, Sendable {
    var mode: String
    var reason: String
    var testDescription: String { mode }
}

@Suite(
    "hostile subjects", .serialized,
    .enabled(if: SubjectPrograms.hasPython, "python3 with cryptography is not installed"))
struct HostileSubjectTests {
    static let misdeeds = [
        Misdeed(mode: "hangs", reason: "no answer within"),
        Misdeed(mode: "exits", reason: "exited with status 3: something is wrong here"),
        // A shell in between says it in words of its own.
        Misdeed(mode: "is-killed", reason: ""),
        Misdeed(mode: "floods-stdout", reason: ""),
        Misdeed(mode: "floods-answers", reason: ""),
        Misdeed(mode: "floods-stderr", reason: "no answer within"),
        Misdeed(mode: "no-json", reason: "no JSON object"),
        Misdeed(mode: "half-a-line", reason: "exited with status 0"),
        Misdeed(mode: "huge", reason: "a payload of 9223372036854775808 bytes"),
        Misdeed(mode: "negative", reason: "a payload of -1"),
        Misdeed(mode: "short-payload", reason: "no answer within"),
        Misdeed(mode: "need-outside", reason: "outside of what is served"),
        Misdeed(mode: "need-forever", reason: ""),
        // The time may end before the wait for the process does.
        Misdeed(mode: "closes-stdout", reason: ""),
        Misdeed(mode: "leaves-a-child", reason: "no answer within"),
        Misdeed(mode: "wrong-error", reason: "the error EINVAL"),
        Misdeed(mode: "unsupported", reason: "the error unsupported"),
    ]

    static func record(_ mode: String, seconds: Double = 5) throws -> ConformanceRecord {
        try ExternalVerification(
            command: SubjectPrograms.hostile(mode), timeout: .seconds(seconds), runsEverything: true
        ).run(SubjectPrograms.groups).record
    }

    @Test("a bad answer costs its check and no more", arguments: misdeeds)
    func misdeed(_ misdeed: Misdeed) throws {
        let record = try Self.record(misdeed.mode)
        #expect(record.failed > 0 && record.passed > 200, "\(record.passed) passed, \(record.failed) failed")
        for failure in record.failures {
            #expect(failure.id.contains(" 5+7"), "\(failure.id): \(failure.reason)")
            let isSaid = misdeed.reason.isEmpty || failure.reason.contains(misdeed.reason)
            #expect(isSaid, "\(failure.id): \(failure.reason)")
        }
    }

    @Test("an answer that comes twice fails that request or the next one, and no more")
    func twice() throws {
        let record = try Self.record("twice")
        #expect(record.failed > 0 && record.failed < 20 && record.passed > 200)
        let reasons = record.failures.map(\.reason)
        // Answers have no numbers: one that comes when the next request has been sent is taken for that one's.
        let said = ["though nothing was asked", "7 bytes delivered: expected 8"]
        #expect(reasons.contains { reason in said.contains { reason.contains($0) } }, "\(reasons)")
    }

    @Test("answers that come one request late fail, and the run ends")
    func oneBehind() throws {
        let record = try Self.record("one-behind")
        #expect(record.failed > 100)
    }

    @Test("much logging is no harm")
    func logsMuch() throws {
        let record = try Self.record("logs-much", seconds: 10)
        #expect(record.failed == 0, "\(record.failures.first?.id ?? ""): \(record.failures.first?.reason ?? "")")
    }

    @Test("a subject that reads files passes, with its fetches not graded")
    func path() throws {
        let record = try Self.record("path-only", seconds: 10)
        #expect(record.failed == 0, "\(record.failures.first?.id ?? ""): \(record.failures.first?.reason ?? "")")
        #expect(record.flags?.first { $0.flag == "Fetches" }.map { $0.passed == 0 && $0.notRun > 0 } == true)
    }

    @Test("a subject that does not end, or ends badly, has failed that", arguments: ["stays", "exits-5"])
    func endings(mode: String) throws {
        let record = try Self.record(mode)
        #expect(record.failures.contains { $0.id == "protocol/bye" })
        #expect(record.failures.allSatisfy { $0.flags == ["Ending"] })
    }

    @Test(
        "unsupported to everything, an empty list and no hello do not pass",
        arguments: ["unsupported-to-all", "lists-nothing", "mute"])
    func nothing(mode: String) throws {
        let record = try Self.record(mode, seconds: 5)
        #expect(record.failed > 0)
        #expect(record.passed < 40)
    }

    @Test("a command that is none does not start")
    func notStarted() {
        #expect(throws: ExternalVerification.Failure.self) {
            try ExternalVerification(command: "/nonexistent/subject --now").run(SubjectPrograms.groups)
        }
    }
}
