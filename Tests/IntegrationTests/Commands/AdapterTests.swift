import Support
import Testing

@Suite("findings on adapters")
struct AdapterTests {
    private static func verify(_ more: [String], strict: Bool = false) throws -> (status: Int32, subject: JSONValue?) {
        let command = (["python3", Project.path("Tests/Subjects/unchecked_adapter.py")] + more).joined(separator: " ")
        let run = try Chunkwise.run(
            ["verify", "--subject", command, "--format", "json"] + (strict ? ["--strict-protocol"] : []))
        return (run.status, JSONValue.parse(run.output)?["subjects"]?.array?.first)
    }

    @Test("a healthy adapter that checks no types passes, and what is wrong with it stands apart")
    func unchecked() throws {
        let (status, subject) = try Self.verify([])
        #expect(status == 0 && subject?["failed"]?.integer == 0 && subject?["passed"]?.integer ?? 0 > 500)
        let findings = subject?["adapter"]?.array ?? []
        #expect(findings.count > 10)
        let flags = Set(findings.flatMap { $0["flags"]?.array?.compactMap(\.string) ?? [] })
        #expect(flags.isSubset(of: ["Protocol", "ErrorOrder", "Ending"]), "\(flags)")
        #expect(try Self.verify([], strict: true).status == 1)
    }

    @Test("a real fault behind such an adapter is what is listed")
    func fault() throws {
        let (status, subject) = try Self.verify(["cut32"])
        let failures = subject?["failures"]?.array ?? []
        let reasons = failures.compactMap { $0["reason"]?.string }
        #expect(status == 1 && reasons.contains { $0.contains("the sum without a carry past 32 bits") }, "\(reasons)")
        #expect(!failures.contains { $0["id"]?.string?.hasPrefix("protocol/") == true })
    }

    @Test("a program that does not greet has answered nothing", arguments: ["exit 0", "exit 2", "echo {}"])
    func noGreeting(command: String) throws {
        let run = try Chunkwise.run(["verify", "--subject", command])
        #expect(run.status == 2 && run.text.contains("protocol/hello"), "\(run.text) \(run.errorLines)")
        #expect(run.errorLines.last?.contains("no vector was executed") == true)
    }
}
